"""What honest kernels do, and what libraries do on their behalf, is nobody's act."""

import importlib.util
import shutil

import pytest

HONEST = {
    "nothing": "def entry(x):\n    return x",
    "own source": """
        from pathlib import Path
        def entry(x):
            Path(__file__).read_text()
            list(Path(__file__).parent.iterdir())
        """,
    "files in its folder": """
        import os, shutil, tempfile
        from pathlib import Path
        def entry(x):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "a.txt").write_text("a")
                os.rename(f"{folder}/a.txt", f"{folder}/b.txt")
                os.symlink(f"{folder}/b.txt", f"{folder}/c.txt")
                os.chmod(f"{folder}/b.txt", 0o600)
                os.remove(f"{folder}/c.txt")
            Path("log.txt").write_text("here")
            os.makedirs("/tmp/kernel-test-cache", exist_ok=True)
            with open("/tmp/kernel-test-cache/x", "w") as file:
                file.write("x")
            shutil.rmtree("/tmp/kernel-test-cache")
            with open(os.devnull, "w") as file:
                print("gone", file=file)
            with open("/dev/stderr", "w") as file:
                print("seen", file=file)
            with tempfile.NamedTemporaryFile("w") as file:
                file.write("x")
        """,
    "system information": """
        import os, platform, resource, sys, sysconfig
        def entry(x):
            open("/proc/cpuinfo").read()
            open("/proc/meminfo").read()
            open("/proc/self/status").read()
            open(f"/proc/{os.getpid()}/maps").read()
            try:
                open("/proc/1/cgroup").read()
            except OSError:
                pass
            os.listdir("/proc/self/task")
            platform.platform(), os.cpu_count(), resource.getrusage(resource.RUSAGE_SELF), sys._getframe()
            os.environ["SOME_FLAG"] = "1"
            os.listdir("/"), os.scandir("/usr"), sysconfig.get_paths()
        """,
    "clocks and statistics read": """
        import datetime, statistics, time
        import numpy as np
        import torch
        def entry(x):
            start = time.perf_counter()
            time.sleep(0.001)
            statistics.median([time.perf_counter() - start, time.time(), time.monotonic_ns()])
            np.mean([1, 2]), np.median([1, 2]), datetime.datetime.now()
            event = torch.cpu.current_stream()
            torch.cpu.synchronize()
            assert torch.allclose(x, x) and torch.equal(x, x)
            torch.testing.assert_close(x, x)
            torch.manual_seed(0)
            np.random.default_rng(0).normal(size=4)
            np.random.seed(1)
        """,
    "logging and errors": """
        import inspect, logging, sys, traceback, warnings
        logging.basicConfig(level=logging.DEBUG, filename="kernel.log")
        log = logging.getLogger(__name__)
        def entry(x):
            log.info("shape %s", x.shape, stack_info=True)
            warnings.warn("slow path", stacklevel=3)
            traceback.print_stack()
            try:
                raise ValueError("x")
            except ValueError:
                log.exception("caught")
                traceback.format_exc()
            inspect.stack()
            inspect.getsource(entry), inspect.signature(entry)
            inspect.currentframe().f_back
        """,
    "python's own machinery": """
        import collections, dataclasses, enum, functools, gc, importlib, typing, weakref
        try:
            import flash_something
        except ImportError:
            flash_something = None
        @dataclasses.dataclass(frozen=True)
        class Config:
            block: int = 16
        Pair = collections.namedtuple("Pair", "a b")
        class Mode(enum.Enum):
            FAST = 1
        @functools.lru_cache
        def grid(n):
            return (n + 255) // 256
        exec(compile("def made(x):\\n    return x", "<generated>", "exec"))
        importlib.import_module("decimal")
        def entry(x):
            "pass"
            Config(), Pair(1, 2), Mode.FAST, grid(x.numel()), made(x), dataclasses.replace(Config(), block=2)
            gc.collect()
            gc.disable()
            gc.enable()
            weakref.finalize(Config(), print)
            grid.__wrapped__.__code__.co_varnames
            entry.__defaults__, entry.__globals__, made.__code__
            entry.calls = getattr(entry, "calls", 0) + 1
            return typing.get_type_hints(Config)
        """,
    "its own functions changed": """
        class Module:
            def forward(self, x):
                return x
        def other(self, x):
            return x + 0
        Module.forward = other
        def entry(x):
            return x
        def twin(x):
            return x
        entry.__code__ = twin.__code__
        entry.__defaults__ = None
        """,
    "threads": """
        import concurrent.futures, multiprocessing.pool, threading
        pool = multiprocessing.pool.ThreadPool(2)
        def entry(x):
            assert pool.map(abs, [-1, 2]) == [1, 2]
            with concurrent.futures.ThreadPoolExecutor(2) as executor:
                list(executor.map(abs, [1]))
            thread = threading.Thread(target=print)
            thread.start()
            thread.join()
        """,
    "a compiler that is started": """
        import os, signal, subprocess, sys
        def entry(x):
            subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
            slow = subprocess.Popen(["sleep", "60"], start_new_session=True)
            os.killpg(os.getpgid(slow.pid), signal.SIGTERM)
            slow.wait()
            slow = subprocess.Popen(["sleep", "60"])
            os.kill(slow.pid, signal.SIGTERM)
            slow.wait()
            try:
                subprocess.run(["sleep", "60"], timeout=0.01)
            except subprocess.TimeoutExpired:
                pass
            os.kill(os.getpid(), 0)
            os.system("true")
        """,
    "a process that is waited for": """
        import multiprocessing, os
        def entry(x):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
            child = multiprocessing.get_context("fork").Process(target=abs, args=(1,))
            child.start()
            child.join()
        """,
    "shared memory of its own": """
        from multiprocessing import shared_memory
        def entry(x):
            block = shared_memory.SharedMemory(create=True, size=64)
            block.close()
            block.unlink()
        """,
    "a foreign library by ctypes": """
        import ctypes, ctypes.util
        libc = ctypes.CDLL(None)
        maths = ctypes.CDLL(ctypes.util.find_library("m"))
        maths.cos.restype = ctypes.c_double
        maths.cos.argtypes = [ctypes.c_double]
        class Params(ctypes.Structure):
            _fields_ = [("n", ctypes.c_int)]
        new_capsule = ctypes.pythonapi.PyCapsule_New
        def entry(x):
            assert maths.cos(0.0) == 1.0
            ctypes.c_float.from_address(x.data_ptr()).value
            ctypes.memmove(ctypes.create_string_buffer(16), x.data_ptr(), 16)
            ctypes.string_at(x.data_ptr(), 4)
            ctypes.addressof(Params(1)), libc.getpid()
            ctypes.cast(x.data_ptr(), ctypes.POINTER(ctypes.c_float))[0]
            ctypes.c_long.from_address(id(x)).value
        """,
    "torch's own features": """
        import torch
        lib = torch.library.Library("mykernel", "FRAGMENT")
        lib.define("twice(Tensor x) -> Tensor")
        lib.impl("twice", lambda x: x * 2, "CPU")
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                return grad * 2
        class Scale(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(4))
            def forward(self, x):
                return x * self.w
        class Own(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return super().__torch_function__(func, types, args, kwargs or {})
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.set_float32_matmul_precision("high")
        torch.set_default_dtype(torch.float32)
        def entry(x):
            with torch.no_grad():
                torch.ops.mykernel.twice(x)
            y = x.clone().requires_grad_()
            Twice.apply(y).sum().backward()
            Scale()(x).sum().backward()
            Own(x)
            torch.save(x, "weights.pth")
            torch.load("weights.pth")
            with torch.profiler.profile():
                x + 1
            torch.vmap(torch.sin)(x)
            return torch.func.grad(lambda v: v.sum())(x)
        """,
    "default device": "import torch\ntorch.set_default_device('cpu')\n\ndef entry(x):\n    return torch.ones(2)",
    "imports of many": """
        import asyncio, cProfile, csv, ctypes, decimal, fractions, hashlib, http.client, importlib.metadata, ipaddress
        import multiprocessing, pickle, pprint, random, sqlite3, ssl, string, textwrap, unittest.mock, uuid
        import numpy.testing, numpy.linalg, torch.distributed, torch.func, torch.fx, torch.profiler, torch.sparse
        import torch.utils.benchmark, torch.utils.cpp_extension, torch.utils.checkpoint, torch.nn.functional
        import torch.export, urllib.request
        import torch.nn.attention.flex_attention, torch.cuda.amp, torch._prims, torch._refs, torch._decomp
        def entry(x):
            importlib.metadata.version("torch")
            random.seed(0)
            pickle.loads(pickle.dumps([1]))
            asyncio.run(asyncio.sleep(0))
            with unittest.mock.patch.object(random, "random", lambda: 1):
                return random.random()
        """,
    "torch's compiler": """
        import torch
        import torch._dynamo, torch._inductor.compile_fx
        torch._dynamo.config.suppress_errors = True
        @torch.compile(backend="aot_eager")
        def twice(x):
            return x * 2
        @torch.compile
        def thrice(x):
            return x * 3
        def entry(x):
            assert twice(x)[0] == 2 and thrice(x)[0] == 3
        """,
}  # fmt: skip


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_honest_code_does_nothing_worth_noticing(noticed, source):
    assert noticed(source) == []


@pytest.mark.skipif(importlib.util.find_spec("liger_kernel") is None, reason="liger-kernel is not installed")
def test_a_published_package_does_nothing_worth_noticing(noticed):
    assert noticed("import liger_kernel.ops\nimport liger_kernel.transformers\ndef entry(x):\n    return x") == []


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_an_extension_that_is_built_at_import_does_nothing_worth_noticing(noticed):
    source = """
        import ctypes, pathlib, subprocess
        here = pathlib.Path(__file__).parent
        (here / "add.c").write_text("int add(int a, int b) { return a + b; }")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", here / "add.so", here / "add.c"], check=True)
        add = ctypes.CDLL(str(here / "add.so")).add
        def entry(x):
            assert add(1, 2) == 3
        """
    assert noticed(source) == []
