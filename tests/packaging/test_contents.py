import configparser
import tarfile
import zipfile
from email import message_from_string

import pytest

from tests.packaging.projects import ADAPTERS, CORE, PROJECTS, ROOT

each_project = pytest.mark.parametrize("project", PROJECTS, ids=str)
each_adapter = pytest.mark.parametrize("project", ADAPTERS, ids=str)


@pytest.fixture
def wheel(dist):
    def read(project, name=None):
        with zipfile.ZipFile(dist / f"{project.stem}-py3-none-any.whl") as archive:
            if name is None:
                return set(archive.namelist())
            return archive.read(f"{project.stem}.dist-info/{name}").decode()

    return read


@each_project
def test_a_wheel_holds_the_package_and_its_licence_and_nothing_else(project, wheel):
    info = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert wheel(project) == project.sources | {f"{project.stem}.dist-info/{name}" for name in info}


@each_project
def test_an_sdist_holds_the_package_what_builds_it_and_nothing_else(project, dist):
    with tarfile.open(dist / f"{project.stem}.tar.gz") as archive:
        names = {name.removeprefix(f"{project.stem}/") for name in archive.getnames()}
    beside = {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml"} | (
        {"CHANGELOG.md"} if project is CORE else set()
    )
    package = project.package.relative_to(project.folder).parent
    # hatchling adds the .gitignore it read.
    assert names - {".gitignore"} == {(package / name).as_posix() for name in project.sources} | beside


@each_project
def test_a_package_is_marked_as_typed(project):
    assert f"{project.package.name}/py.typed" in project.sources


@each_project
def test_every_distribution_carries_the_same_licence(project, wheel):
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert wheel(project, "licenses/LICENSE") == text


@each_project
def test_metadata_says_what_an_index_page_needs(project, wheel):
    metadata = message_from_string(wheel(project, "METADATA"))
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"
    assert ">=3.11" in metadata["Requires-Python"].split(",")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata["Summary"]
    assert metadata.get_payload().startswith(f"# {project.metadata['name']}")


def test_core_needs_no_framework_and_no_pytest(wheel):
    metadata = message_from_string(wheel(CORE, "METADATA"))
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert [line.partition(">")[0].lower() for line in needed] == ["deepdiff", "jsonschema-rs", "pyyaml"]


def test_each_extra_is_one_adapter_of_the_same_series():
    assert CORE.metadata["optional-dependencies"] == {
        extra: [f"callsheet-{extra}>=0.1,<0.2"]
        for extra in ("openai-agents", "langgraph", "pydantic-ai", "crewai")
    }


@each_adapter
def test_an_adapter_is_of_cores_series_and_names_a_framework_it_needs(project):
    name = project.folder.name
    assert project.metadata["name"] == f"callsheet-{name.replace('_', '-')}"
    assert project.metadata["version"] == CORE.metadata["version"]
    assert "callsheet>=0.1,<0.2" in project.metadata["dependencies"]
    framework = project.settings["tool"]["callsheet"]["framework"]
    [floor] = [need for need in project.metadata["dependencies"] if need.startswith(f"{framework}>=")]
    assert floor
    assert CORE.settings["tool"]["uv"]["sources"][project.metadata["name"]]["path"] == f"adapters/{name}"


@each_adapter
def test_an_adapter_registers_one_class(project, wheel):
    found = configparser.ConfigParser(delimiters=("=",))
    found.read_string(wheel(project, "entry_points.txt"))
    [(name, value)] = found["callsheet.adapters"].items()
    assert name == project.folder.name
    assert value.partition(":")[0] == project.package.name


def test_core_registers_the_pytest_plugin(wheel):
    found = configparser.ConfigParser(delimiters=("=",))
    found.read_string(wheel(CORE, "entry_points.txt"))
    assert dict(found["pytest11"]) == {"callsheet": "callsheet.pytest_plugin"}
    assert found.sections() == ["pytest11"]
