import os
import signal

import pytest

from kernelarena.cli.interrupts import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_noted_and_the_second_insists(number):
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert not interrupts()
        os.kill(os.getpid(), number)
        assert interrupts()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_signals_that_a_library_took_are_taken_back():
    with Interrupts() as interrupts:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        interrupts.install()
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts()


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as below nohup
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupts()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
