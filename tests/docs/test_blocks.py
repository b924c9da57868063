import pytest

from tests.docs.blocks import Block, appears_in_order, blocks_of, module_of
from tests.docs.pages import pages_of

PAGE = """\
# Title

```python
def test_one():
    assert True
```

- a list

  ```python title="x"
  number = 1
  ```

<!-- fails -->
```python
def test_two():
    assert number == 2
```

```text
assert 1 == 2
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_blocks_know_their_language_line_and_mark(page):
    assert [(block.language, block.line, block.fails) for block in blocks_of(page)] == [
        ("python", 4, False),
        ("python", 11, False),
        ("python", 16, True),
        ("text", 21, False),
    ]


def test_a_module_keeps_the_pages_line_numbers(page):
    lines = module_of(blocks_of(page)[:3]).splitlines()
    assert lines[3] == "def test_one():"
    assert lines[10] == "number = 1"
    assert lines[16] == "    assert number == 2"


def test_two_tests_of_one_name_are_refused():
    block = Block("python", "def test_a(): ...\n", 3, fails=False)
    with pytest.raises(ValueError, match="'test_a' in line 9 hides the one of line 3"):
        module_of([block, Block("python", block.source, 9, fails=False)])


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("a\nb", True),
        ("a\n...\nc", True),
        ("E   b", True),
        ("b\na", False),
        ("a\nmissing", False),
        ("", True),
    ],
)
def test_expected_lines_are_looked_for_in_order(expected, found):
    assert appears_in_order(expected, "x\n  a\nE  b\n\nc\n") is found


def test_a_page_runs_where_the_framework_it_is_about_is_installed(tmp_path):
    for name in (
        "README.md",
        "docs/start.md",
        "docs/frameworks/pydantic-ai.md",
        "adapters/pydantic_ai/README.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert pages_of(["openai_agents"], tmp_path) == [tmp_path / "README.md", tmp_path / "docs/start.md"]
    assert pages_of(["pydantic_ai"], tmp_path) == [
        tmp_path / "docs/frameworks/pydantic-ai.md",
        tmp_path / "adapters/pydantic_ai/README.md",
    ]
    assert pages_of([], tmp_path) == []
