"""What holds for every test."""

import signal

from hypothesis import HealthCheck, settings

# A machine that is busy with other things is slow, and that is nothing that a test is about.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Whoever runs tests in the background has them ignore interrupts, and every process that they start inherits that.
for _number, _default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _default)
