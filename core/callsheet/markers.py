"""Marks that sort tests of agents, for `pytest -m`.

`agent_offline` also closes the network to its test; `agent_offline(allow=[...])` lets hosts through.
"""

from __future__ import annotations

import pytest

agent_behavior = pytest.mark.agent_behavior
agent_error = pytest.mark.agent_error
agent_multi_turn = pytest.mark.agent_multi_turn
agent_offline = pytest.mark.agent_offline
