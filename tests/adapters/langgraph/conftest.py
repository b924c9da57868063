import pytest


def pytest_configure(config: pytest.Config) -> None:
    # LangGraph 1.0 warns of its own prebuilt agents while it is imported.
    config.addinivalue_line("filterwarnings", "ignore:.*has been moved to:DeprecationWarning")
    config.addinivalue_line("filterwarnings", "ignore:.*is deprecated:DeprecationWarning:langgraph")
