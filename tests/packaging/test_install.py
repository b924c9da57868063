import pytest

from tests.packaging.projects import ADAPTERS, CORE, ROOT

USE_CORE = """
import sys, callsheet
assert sys.prefix in callsheet.__file__, callsheet.__file__
for name in callsheet.__all__:
    getattr(callsheet, name)
assert "pytest" not in sys.modules
"""
USE_ADAPTER = """
import sys
from importlib.metadata import entry_points
[entry] = entry_points(group="callsheet.adapters")
adapter = entry.load()
assert sys.prefix in sys.modules[entry.module].__file__
import callsheet.adapters
assert getattr(callsheet.adapters, adapter.__name__) is adapter
assert isinstance(adapter.framework_name, str)
"""

each_adapter = pytest.mark.parametrize("project", ADAPTERS, ids=str)


def test_core_installs_from_its_wheel_and_works_without_pytest(dist, environment):
    environment.quick_install(dist / f"{CORE.stem}-py3-none-any.whl")
    environment.python_run(USE_CORE)


@each_adapter
def test_an_extra_pulls_its_adapter_from_built_wheels(project, dist, environment):
    extra = project.folder.name.replace("_", "-")
    wheel = dist / f"{CORE.stem}-py3-none-any.whl"
    environment.quick_install("--find-links", dist, f"callsheet[{extra}] @ {wheel.as_uri()}")
    environment.python_run(USE_CORE + USE_ADAPTER)


@each_adapter
def test_plain_pip_installs_core_and_an_adapter_from_a_checkout(project, environment):
    environment.pip_install(".", f"./{project.folder.relative_to(ROOT).as_posix()}", cwd=ROOT)
    environment.python_run(USE_CORE + USE_ADAPTER)
