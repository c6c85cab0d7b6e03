"""What the doctor says of the layers that kernels are enclosed by."""

from __future__ import annotations

import pytest

from kernelarena.errors import InputError
from kernelarena.judge.enclosure import SWITCH, Layer
from kernelarena.judge.enclosure.diagnosis import isolation
from kernelarena.judge.enclosure.probe import probe
from kernelarena.platforms.doctor import State


def test_it_says_what_candidates_have() -> None:
    missing = probe().isolation.missing
    findings = list(isolation())
    assert (findings[0].state is State.OK) == (not missing)
    for layer in missing:
        assert layer in findings[0].found or "bubblewrap" in findings[0].found


def test_a_layer_that_somebody_left_out_is_named_with_the_way_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "network,bubblewrap")
    finding = next(finding for finding in isolation() if finding.found.startswith("left out"))
    assert finding.state is State.WARNING
    assert finding.found == f"left out: {Layer.NETWORK}"
    assert finding.remedy == f"unset {SWITCH}"


def test_a_layer_that_the_host_refuses_is_named_with_what_to_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernelarena.judge.enclosure import probe as probing

    refused = dict.fromkeys(probing._ATTEMPTS, lambda plan: "Operation not permitted")
    monkeypatch.setattr(probing, "_ATTEMPTS", refused)
    monkeypatch.setenv(SWITCH, "bubblewrap")
    (finding,) = isolation()
    assert finding.state is State.WARNING
    assert "user namespace (Operation not permitted)" in finding.found
    assert "seccomp=unconfined" in finding.remedy


def test_a_layer_that_is_none_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "netwrok")
    with pytest.raises(InputError, match="is no layer of isolation"):
        list(isolation())
