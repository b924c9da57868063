import json
import tomllib
from importlib.metadata import entry_points

import pytest
import yaml

from tests.docs.blocks import appears_in_order, blocks_of, module_of
from tests.docs.pages import ROOT, pages_of

PAGES = [page for page in pages_of(entry_points(group="callsheet.adapters").names) if blocks_of(page)]
# Commands are run by .ci/run and the packaging tests; text is checked against the failure before it.
LANGUAGES = {"python", "console", "text", "json", "toml", "yaml"}
WARNINGS = [
    "-Werror",
    # As in pyproject.toml, which pages run without.
    '-Wignore:The configuration option "asyncio_default_fixture_loop_scope" is unset',
    # CrewAI reads its own deprecated fields for every agent.
    "-Wignore:function_calling_llm is deprecated:DeprecationWarning",
    "-Wignore:deprecated:DeprecationWarning",
]


@pytest.fixture(params=PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def page(request):
    return request.param


@pytest.fixture
def run(pytester, monkeypatch, page):
    """Run blocks of the page as one test module, as a user's pytest would."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run_blocks(blocks):
        module = pytester.path / "test_page.py"
        module.write_text(module_of(blocks), encoding="utf-8")
        return pytester.runpytest_subprocess(*WARNINGS, module)

    return run_blocks


def test_every_python_block_runs_and_its_tests_pass(page, run):
    result = run([block for block in blocks_of(page) if block.language == "python" and not block.fails])
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED), result.stdout.str()
    assert not {"skipped", "xfailed", "xpassed"} & result.parseoutcomes().keys()


def test_every_failure_on_the_page_is_the_failure_a_user_sees(page, run):
    blocks = blocks_of(page)
    for block, shown in zip(blocks, [*blocks, None][1:], strict=True):
        if not block.fails:
            continue
        before = [b for b in blocks if b.language == "python" and not b.fails and b.line < block.line]
        result = run([*before, block])
        assert result.ret == pytest.ExitCode.TESTS_FAILED, f"line {block.line}: {result.stdout.str()}"
        if shown is not None and shown.language == "text":
            assert appears_in_order(shown.source, result.stdout.str()), (
                f"line {shown.line} shows something else"
            )


def test_every_block_says_its_language_and_parses(page):
    readers = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
    for block in blocks_of(page):
        assert block.language in LANGUAGES, f"line {block.line} of {page.name}: {block.language!r}"
        readers.get(block.language, str)(block.source)
