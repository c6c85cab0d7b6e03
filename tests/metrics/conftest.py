"""Cells written by hand, one call each."""

from __future__ import annotations

import pytest

from kernelarena.spec import Evidence, Gate, Language, Reason, Status, Verdict


def cell(
    kernel: str,
    platform: str,
    outcome: Status | Reason = Status.PASS,
    *,
    evidence: Evidence | None = Evidence.COMPILED,
    **fields: object,
) -> Verdict:
    """``outcome`` is PASS, or the reason that the cell did not."""
    if isinstance(outcome, Reason):
        status = Status.INFRA if outcome.group.value == "infra" else Status.FAIL
        fields = {"reason": outcome, "status": status, "gate": Gate.COMPILE, **fields}
    else:
        fields = {"status": outcome, **fields}
    if fields["status"] in (Status.SKIPPED, Status.INFRA):
        evidence = None
    return Verdict.model_validate(
        {
            "task": "softmax",
            "kernel": kernel,
            "language": Language.TRITON,
            "platform": platform,
            "evidence": evidence,
            **fields,
        }
    )


@pytest.fixture(name="cell", scope="session")
def _cell():
    return cell
