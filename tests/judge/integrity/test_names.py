"""Names that a kernel replaces, by every way there is to replace one."""

import sys

import pytest

from kernelarena.spec import Reason

TIMER, JUDGE = Reason.TIMER_TAMPERING, Reason.JUDGE_TAMPERING

REPLACED = {
    "a clock, at import": ("import time\ntime.perf_counter = lambda: 0.0", TIMER, "time.perf_counter"),
    "a clock, in the call": ("def entry(x):\n    import time\n    time.time_ns = lambda: 0", TIMER, "time.time_ns"),
    "a clock, by the module's namespace": (
        "import time\ntime.__dict__.update(monotonic=time.time)", TIMER, "time.monotonic",
    ),
    "a clock, by sys.modules": (
        "import sys, types\nsys.modules['time'] = types.ModuleType('time')", TIMER, "sys.modules['time']",
    ),
    "a clock, by its module in sys.modules": (
        "import sys\nsetattr(sys.modules['time'], 'sleep', print)", TIMER, "time.sleep",
    ),
    "a clock, by ctypes": (
        """
        import ctypes, time
        namespace = ctypes.cast(id(time.__dict__), ctypes.py_object).value
        namespace["perf_counter_ns"] = lambda: 0
        """, TIMER, "time.perf_counter_ns",
    ),
    "the definition of a clock in C": (
        """
        import ctypes, time
        header = object.__basicsize__
        other = ctypes.string_at(id(time.process_time) + header, 8)
        ctypes.memmove(id(time.perf_counter) + header, other, 8)
        """, TIMER, "time.perf_counter",
    ),
    "a clock of datetime": ("import datetime\nclass Fake: pass\ndatetime.datetime = Fake", TIMER, "datetime"),
    "statistics": ("import statistics\nstatistics.median = min", TIMER, "statistics.median"),
    "statistics of numpy": ("import numpy\nnumpy.percentile = lambda *a: 0", TIMER, "numpy.percentile"),
    "the code of statistics": (
        "import statistics\nstatistics.mean.__code__ = (lambda data: 0).__code__", TIMER, "statistics.mean",
    ),
    "the defaults of a benchmark": (
        "import triton.testing\ntriton.testing.do_bench.__defaults__ = (0,) * 5", TIMER, "do_bench",
    ),
    "the code of a benchmark, by memory": (
        """
        import ctypes, triton.testing
        word, size = object.__basicsize__, ctypes.sizeof(ctypes.c_void_p)
        def fake(*args, **kwargs):
            return 1e-3
        ctypes.memmove(id(triton.testing.do_bench) + word, id(fake) + word, 5 * size)
        """, TIMER, "do_bench",
    ),
    "triton's benchmark": (
        "import triton.testing\ntriton.testing.do_bench = lambda fn, **kw: 1e-3", TIMER, "do_bench",
    ),
    "events": ("import torch\ntorch.cpu.Stream = object\ntorch.xpu.Event = object", TIMER, "torch.xpu.Event"),
    "synchronisation": (
        "import torch\ntorch.accelerator.synchronize = lambda *a: None", TIMER, "synchronize",
    ),
    "a method of an event": (
        "import torch\ntorch.xpu.Event.elapsed_time = lambda self, end: 1e-3", TIMER, "elapsed_time",
    ),
    "the current stream": ("import torch\ntorch.cpu.current_stream = print", TIMER, "current_stream"),
    "a comparison": ("import torch\ntorch.allclose = lambda *a, **k: True", JUDGE, "torch.allclose"),
    "a comparison of tests": (
        "import torch\ntorch.testing.assert_close = print", JUDGE, "torch.testing.assert_close",
    ),
    "an operator of tensors": (
        "import torch\ntorch.Tensor.__eq__ = lambda a, b: True", JUDGE, "torch.Tensor.__eq__",
    ),
    "a method of tensors": (
        "import torch\nreal = torch.Tensor.detach\ntorch.Tensor.detach = lambda t: real(t)", JUDGE, "detach",
    ),
    "a method that tensors inherit, in C": (
        """
        import ctypes, torch
        proxy = torch._C.TensorBase.__dict__
        namespace = ctypes.cast(id(proxy) + object.__basicsize__, ctypes.POINTER(ctypes.py_object))
        namespace[0]["numel"] = lambda self: 0
        """, JUDGE, "numel",
    ),
    "an allocator": ("import torch\ntorch.empty = torch.zeros", JUDGE, "torch.empty"),
    "memory of a device": ("import torch\ntorch.cuda.empty_cache = print", JUDGE, "empty_cache"),
    "json": ("import json\nreal = json.dumps\njson.dumps = lambda *a, **k: real(*a, **k)", JUDGE, "json.dumps"),
    "sockets": ("import socket\nsocket.socket.sendall = print", JUDGE, "socket.socket.sendall"),
    "a socket's inherited method": (
        "import socket\nsocket.socket.recvmsg = lambda *a: b''", JUDGE, "socket.socket.recvmsg",
    ),
    "the system's calls": ("import os\nos.getpid = lambda: 1", JUDGE, "os.getpid"),
    "waiting for the wire": ("import select\nselect.select = lambda *a: ([], [], [])", JUDGE, "select.select"),
    "builtins": ("import builtins\nbuiltins.abs = lambda v: 0", JUDGE, "builtins.abs"),
    "builtins that a look at names would need": (
        "def entry(x):\n    import builtins as b\n    b.all = lambda values: True\n    b.map = b.dict = list",
        JUDGE, "builtins.all",
    ),
    "importing": (
        "import builtins\nreal = builtins.__import__\nbuiltins.__import__ = lambda *a, **k: real(*a, **k)",
        JUDGE, "builtins.__import__",
    ),
    "a module that is gone": ("import sys\ndel sys.modules['torch.testing']", JUDGE, "torch.testing"),
    "a function of the harness": (
        "import kernelarena.judge.arena as arena\narena.extent = lambda *a: 0", JUDGE, "arena.extent",
    ),
    "a method of the harness": (
        "from kernelarena.judge.arena import Allocator\nAllocator.allocate = None", JUDGE, "Allocator.allocate",
    ),
    "a method that the harness's class has not": (
        """
        from kernelarena.judge.arena import Allocator
        Allocator.__getattribute__ = lambda self, name: object.__getattribute__(self, name)
        """, JUDGE, "Allocator",
    ),
    "a constant of the harness": ("import kernelarena.judge.arena as a\na.POISONS = (0, 0)", JUDGE, "POISONS"),
    "the code of the harness": (
        "import kernelarena.judge.arena as a\na.extent.__code__ = (lambda size, stride: 0).__code__", JUDGE,
        "extent",
    ),
    "a module of the harness that nobody had imported": (
        "import kernelarena.judge.judge as j\nj.availability = lambda *a: None", JUDGE, "judge.availability",
    ),
    "the guard itself": (
        "from kernelarena.judge.integrity import Guard\nGuard.note = Guard._note = lambda *a, **k: None", JUDGE,
        "Guard",
    ),
    "an operator of torch": (
        """
        import torch, warnings
        warnings.simplefilter("ignore")
        library = torch.library.Library("aten", "IMPL")
        library.impl("equal", lambda a, b: True, "CPU")
        """, JUDGE, "aten::equal",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "reason", "word"), REPLACED.values(), ids=REPLACED)
def test_a_name_that_was_replaced_is_noticed(noticed, source, reason, word):
    acts = noticed(source)
    named = [act for act in acts if word in act.detail]
    assert named, acts
    assert named[0].reason is reason
    assert {act.reason for act in acts} == {reason}


def test_it_is_said_where_and_what_to_do(noticed):
    (act,) = noticed("import time\n\n\ndef fake():\n    return 0.0\n\n\ntime.perf_counter = fake\n")
    assert (act.file, act.line) == ("kernel.py", 4)
    assert act.detail.startswith("it replaces time.perf_counter (kernel.py:4); ")
    assert act.detail.endswith("leave them alone")


def test_what_is_noticed_once_stays_noticed(noticed):
    source = """
        import time
        real, calls = time.perf_counter, 0
        def entry(x):
            global calls
            calls += 1
            time.perf_counter = (lambda: 0.0) if calls == 1 else real
        """
    assert [act.reason for act in noticed(source)] == [TIMER]


def test_what_the_harness_replaced_before_may_be_put_back(noticed):
    """A platform's face is taken off before the last look."""
    before = "import time\ntime.real = time.perf_counter\ntime.perf_counter = lambda: 1.0"
    assert noticed("import time\ntime.perf_counter = time.real", before=before) == []
    assert noticed("import time\ntime.perf_counter = time.time", before=before) != []


def test_hostile_objects_do_not_get_in_the_way(noticed):
    source = """
        import builtins, time
        class Hostile:
            def __getattribute__(self, name):
                raise SystemExit(name)
            def __eq__(self, other):
                raise SystemExit
            __hash__ = None
        time.perf_counter = Hostile()
        """
    assert [act.reason for act in noticed(source)] == [TIMER]


def test_not_everything_is_reported(noticed):
    source = "import time\nfor name in dir(time):\n    setattr(time, name, print)\n"
    assert len(noticed(source)) == 20
    assert sys.modules["time"].perf_counter is not print
