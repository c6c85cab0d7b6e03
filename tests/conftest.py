"""What holds for every test."""

import signal

# Whoever runs tests in the background has them ignore interrupts, and every process that they start inherits that.
for _number, _default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _default)
