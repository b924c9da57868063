"""The assertion about a whole trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from callsheet._arg_policy import ArgPolicy, apply_policies
from callsheet._checks import check_mentioned_tools, report_vacuous, warn_if_vacuous
from callsheet._errors import ExpectationError
from callsheet._expected import expected_steps
from callsheet._failures import steps_failure
from callsheet._matching import match_in_order, match_one_to_one, match_subsequence
from callsheet._steps import steps_of
from callsheet._subject import Subject, trace_of
from callsheet._suggest import did_you_mean, listed

Mode = Literal["exact", "subset", "ordered_subset", "superset", "unordered"]


def assert_trajectory(
    result: Subject,
    expected: Iterable[Any],
    mode: Mode = "exact",
    *,
    policies: Mapping[str, ArgPolicy] | None = None,
    strict: bool = False,
) -> None:
    """Assert the steps of a run: messages, tool calls, handoffs.

    Args:
        result: An `AgentResult`, a session, or a list of `ToolCall`.
        expected: Dicts of role, content, name, args and agent, of which those given are compared;
            `ToolCall`s, or matchers. System messages are left out unless one is expected.
        mode: "exact": these steps in this order and no others. "subset": all of these happened, whatever
            else did. "ordered_subset": the same, in this order. "superset": nothing but these happened.
            "unordered": exactly these, in any order. A step expected twice has to happen twice.
        policies: Tool name -> `callsheet.match.ArgPolicy`: arguments to ignore, to fill in, or to compare
            in another way.
        strict: Whether an empty trajectory, in which nothing happened at all, fails instead of warning
            where the assertion can only say what did not happen, as does a subset of no steps, which
            nothing could fail.

    Raises:
        AssertionError: The trajectory differs.
        ExpectationError: An expectation is malformed, or names a tool the agent does not have.
    """
    __tracebackhide__ = True
    if mode not in get_args(Mode):
        raise ExpectationError(
            f"Unknown trajectory mode {mode!r}; modes: {listed(get_args(Mode))}."
            f"{did_you_mean(str(mode), get_args(Mode))}"
        )
    wanted = expected_steps(expected)
    steps = steps_of(trace_of(result))
    if not any(item.role == "system" for item in wanted):
        steps = [step for step in steps if step.role != "system"]
    check_mentioned_tools(result, (item for item in wanted if item.role in (None, "tool")))
    wanted, steps = apply_policies(policies, wanted, steps)
    if not wanted and mode in ("subset", "ordered_subset"):
        report_vacuous(
            f"assert_trajectory() with a {mode} of no steps passes whatever happens.", strict=strict
        )
    elif not wanted or mode == "superset":
        warn_if_vacuous(result, f"assert_trajectory(result, ..., mode={mode!r})", strict=strict)
    matching = None
    if mode == "exact":
        passed = match_in_order(wanted, steps)
    elif mode == "ordered_subset":
        passed = not match_subsequence(wanted, steps).missing
    else:
        matching = match_one_to_one(wanted, steps)
        passed = (mode == "superset" or not matching.missing) and (mode == "subset" or not matching.extra)
    if not passed:
        raise AssertionError(steps_failure(wanted, steps, mode, matching))
