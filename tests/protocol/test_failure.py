"""What an emulator finds has a name in a verdict."""

import pytest

from kernelarena.platforms.emulator import FaultKind
from kernelarena.protocol.failure import Failure, classify_call
from kernelarena.spec import Reason, ReasonGroup


@pytest.mark.parametrize("kind", list(FaultKind))
def test_every_fault_has_a_reason_of_its_own_and_not_that_of_its_exception(kind):
    found = Failure(types=("Fault",), message="what happened", frames=(), fault=kind.value)
    reason, detail = classify_call(found)
    assert reason.group is ReasonGroup.RUN or reason is Reason.EMULATOR_UNSUPPORTED
    assert detail == "what happened"


def test_what_calls_itself_a_fault_is_an_exception_like_any():
    assert classify_call(Failure(types=("Fault",), message="m", frames=(), fault="made up"))[0] is Reason.LAUNCH_ERROR
