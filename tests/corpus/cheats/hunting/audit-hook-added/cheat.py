import sys

import work

_opened = []
sys.addaudithook(lambda event, args: _opened.append(args[0]) if event == "open" else None)


def softmax(x):
    return work.softmax(x)
