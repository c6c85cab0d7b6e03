"""What a kernel finds when it looks around: real candidates tell, and the rules behind it are tried one by one."""

import json
import os
import platform
import re
import socket
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from kernelarena.errors import InputError
from kernelarena.judge.enclosure import SWITCH, Isolation, Layer, filter, probe, visible
from kernelarena.judge.enclosure.layers import substitute_allowed, switched_off
from kernelarena.judge.enclosure.plan import Plan
from kernelarena.judge.enclosure.privileges import Quota
from kernelarena.judge.enclosure.visible import view
from kernelarena.judge.session import Session
from tests.judge.hostile import SMALL

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def within(interpreting, kernel, platforms):
    """Evaluates an expression in a candidate, where every layer is to be had; skips where not."""
    if interpreting.isolation.missing:
        pytest.skip(f"this host lacks layers: {', '.join(interpreting.isolation.words)}")

    def look(expression, setup=""):
        source = f"import json, os\n{setup}\nprint('\\nfound', json.dumps({expression}))\ndef entry(x): ...\n"
        with Session(interpreting, kernel(source), SMALL) as session:
            platform = platforms["h100"].model_dump(mode="json")
            answer = session.ask({"do": "load", "file": "kernel.py", "function": "entry", "platform": platform}, 30)
            assert "loaded" in answer, answer
            return json.loads(re.findall(r"^found (.*)$", session.log(), re.MULTILINE)[-1])

    return look


OPENS = """
def opens(*paths):
    found = []
    for path in paths:
        try:
            open(path, "rb").close()
            found.append(path)
        except OSError:
            pass
    return found
"""


def test_nothing_of_the_host_is_there_but_what_a_kernel_needs(within, tmp_path, monkeypatch):
    secret = tmp_path / "run.yaml"
    secret.write_text("hidden_seed: 1\n")
    home = Path.home() / ".local" / "state"
    found = within(
        f"dict(opened=opens({str(secret)!r}, '/etc/shadow', '/etc/hostname', '/tmp/ray', '/var/run/docker.sock'), "
        f"root=sorted(os.listdir('/')), tmp=os.listdir('/tmp'), state=os.path.exists({str(home)!r}), "
        "shm=os.listdir('/dev/shm'), dev=sorted(os.listdir('/dev')))",
        OPENS,
    )
    assert found["opened"] == []
    assert not found["state"]
    assert found["shm"] == []
    shown = (Path(path) for path in (ROOT, sys.prefix, sys.base_prefix))  # an installation may lie there
    assert set(found["tmp"]) <= {path.parts[2] for path in shown if path.is_relative_to("/tmp")}
    assert found["dev"] == ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    assert not {"home", "run", "mnt", "boot", "sys", "srv"} & set(found["root"])
    for folder in ("tasks", "reports", "configs"):
        assert not within(f"os.path.exists({str(ROOT / folder)!r})")


def test_what_is_there_cannot_be_written(within):
    package = str(ROOT / "kernelarena" / "__init__.py")
    written = within(
        "[path for path in places if writes(path)]",
        f"""
import sysconfig, tempfile
places = ["/planted", "/usr/planted", "/etc/planted", "/dev/planted", {package!r}, sysconfig.get_paths()["purelib"] +
          "/planted.pth", os.path.dirname(os.__file__) + "/planted.py", "/proc/sys/kernel/hostname"]
def writes(path):
    try:
        open(path, "ab").close()
        return True
    except OSError:
        return False
assert writes(tempfile.gettempdir() + "/mine") and writes("mine") and writes("/dev/shm/mine")
""",
    )
    assert written == []


def test_it_is_nobody_and_can_become_nobody_else(within):
    status = within("dict(line.split(':', 1) for line in open('/proc/self/status').read().splitlines())")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"1000"}
    assert within("__import__('getpass').getuser()") == "kernel"


def test_no_process_but_its_own_is_there(within):
    found = within(
        "dict(pids=[int(name) for name in os.listdir('/proc') if name.isdigit()], own=os.getpid(), "
        "parent=os.getppid(), read=opens('/proc/1/environ', '/proc/1/mem', '/proc/1/maps'))",
        OPENS,
    )
    assert found == {"pids": [1, 2], "own": 2, "parent": 1, "read": []}


def test_there_is_no_network(within):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        setup = f"""
import socket
def reach(family, address):
    try:
        socket.socket(family).connect(address)
        return "connected"
    except OSError as error:
        return type(error).__name__
names = [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
reached = [reach(socket.AF_INET, ("127.0.0.1", {port})), reach(socket.AF_INET, ("192.0.2.1", 80))]
"""
        found = within("dict(names=names, reached=reached)", setup)
    assert found["names"] == ["lo"]
    assert "connected" not in found["reached"]


CALLS = {
    "ptrace": (101, 117), "unshare": (272, 97), "mount": (165, 40), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "keyctl": (250, 219), "io_uring_setup": (425, 425), "process_vm_readv": (310, 270),
    "pidfd_getfd": (438, 438), "memfd_create": (319, 279), "shmget": (29, 194), "setns": (308, 268),
}  # fmt: skip


def test_system_calls_that_no_kernel_needs_are_refused(within):
    column = ["x86_64", "aarch64"].index(platform.machine())
    numbers = {name: each[column] for name, each in CALLS.items()}
    setup = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def refused(number, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) == -1 and ctypes.get_errno() == 1
allowed = [name for name, number in {numbers!r}.items() if not refused(number, 0, 0, 0, 0, 0, 0)]
"""
    assert within("allowed", setup) == []


def test_new_namespaces_are_refused_and_threads_are_not(within):
    found = within(
        "dict(clone=errno, thread=done)",
        f"""
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(ctypes.c_long({56 if platform.machine() == "x86_64" else 220}), ctypes.c_long(0x10000000 | 17), 0, 0, 0, 0)
errno, done = ctypes.get_errno(), []
thread = threading.Thread(target=done.append, args=(1,)); thread.start(); thread.join()
""",
    )
    assert found == {"clone": 1, "thread": [1]}


def test_compilers_and_programs_work(within):
    said = within(
        "dict(code=made.returncode, home=os.environ['HOME'], where=os.getcwd())",
        "import subprocess, sys\n"
        "made = subprocess.run([sys.executable, '-c', 'import numpy; print(1)'], capture_output=True)\n",
    )
    assert said == {"code": 0, "home": "~", "where": "~"}, "as a log shows the scratch folder"


class TestView:
    def test_an_interpreter_is_shown_whole_and_each_path_once(self):
        shown = view(private=[str(Path.home()), str(Path.cwd())]).read_only
        assert any(sys.base_prefix.startswith(path) for path in shown)
        for path in shown:
            assert not any(path != other and path.startswith(other.rstrip("/") + "/") for other in shown), path

    def test_of_a_folder_with_other_things_in_it_only_modules_are_shown(self, tmp_path, monkeypatch):
        for name in ("library/__init__.py", "alone.py", "reports/run.yaml", "notes.txt"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).touch()
        monkeypatch.syspath_prepend(str(tmp_path))
        shown = {path for path in view().read_only if path.startswith(str(tmp_path))}
        assert shown == {f"{tmp_path}/library", f"{tmp_path}/alone.py"}

    def test_an_installation_that_is_also_someones_home_is_shown_in_parts(self, tmp_path, monkeypatch):
        for name in ("bin", "lib", "projects"):
            (tmp_path / name).mkdir()
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        shown = {path for path in view(private=[str(tmp_path)]).read_only if path.startswith(str(tmp_path))}
        assert shown == {f"{tmp_path}/bin", f"{tmp_path}/lib"}

    def test_a_private_folder_within_what_is_shown_appears_empty_but_for_what_is_needed(self, tmp_path):
        shown, hidden = visible._outermost(
            {"/opt", "/opt/kab/venv", "/usr/lib", "/usr"}, {"/opt/kab", "/opt/kab/venv/x", "/home/me", "/opt/kab/runs"}
        )
        assert shown == ("/opt", "/opt/kab/venv", "/usr")
        assert hidden == {"/opt/kab", "/opt/kab/venv/x"}

    def test_devices_and_what_they_need_are_shown_where_they_are(self, tmp_path):
        found = view(extra=["/dev/tty", "/dev/no-such-device", str(tmp_path)])
        assert "/dev/tty" in found.devices
        assert "/dev/no-such-device" not in found.devices
        assert "/sys" in found.read_only
        assert str(tmp_path) in found.read_only
        assert "/sys" not in view().read_only


class TestPlan:
    def enclosed(self, body, plan=None):
        """Run ``body`` in an enclosure and return what it returned."""
        plan = plan or probe.probe()
        if plan.isolation.missing:
            pytest.skip(f"this host lacks layers: {', '.join(plan.isolation.words)}")
        reading, writing = os.pipe()

        def run():
            plan.enter(Quota(storage=8 << 20))
            os.write(writing, json.dumps(body()).encode())

        pid = plan.spawn(run)
        os.close(writing)
        with os.fdopen(reading) as file:
            said = file.read()
        os.waitpid(pid, 0)
        return json.loads(said)

    def test_a_process_with_threads_can_be_enclosed_from(self):
        """A fork that skips what the C library does around one must not be made beside other threads."""
        import threading

        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        try:
            assert self.enclosed(lambda: [os.getpid(), len(os.listdir("/proc/self/task"))]) == [1, 1]
        finally:
            stop.set()
            thread.join()

    def test_private_folders_are_empty(self, tmp_path):
        plan = Plan(view(extra=[str(tmp_path)], private=[str(tmp_path / "runs")]), probe.probe().isolation)
        for name in ("library/code.py", "runs/run.yaml"):
            (tmp_path / name).parent.mkdir()
            (tmp_path / name).touch()
        plan = Plan(view(extra=[str(tmp_path)], private=[str(tmp_path / "runs")]), probe.probe().isolation)
        found = self.enclosed(lambda: [sorted(os.listdir(tmp_path)), os.listdir(tmp_path / "runs")], plan)
        assert found == [["library", "runs"], []]

    def test_a_module_that_is_removed_meanwhile_is_no_obstacle(self, tmp_path):
        (tmp_path / "here.py").touch()
        (tmp_path / "gone.py").touch()
        shown = view(extra=[f"{tmp_path}/here.py", f"{tmp_path}/gone.py"])
        (tmp_path / "gone.py").unlink()
        assert self.enclosed(lambda: os.listdir(tmp_path), Plan(shown, probe.probe().isolation)) == ["here.py"]

    def test_storage_is_one_for_all_folders(self):
        def fill():
            written = 0
            for folder in ("/tmp", "/dev/shm", "/scratch", "/var/tmp"):
                with open(f"{folder}/f", "wb", buffering=0) as file:
                    try:
                        while True:
                            written += file.write(bytes(1 << 20))
                    except OSError:
                        pass
            return written

        assert self.enclosed(fill) <= 8 << 20


UNPRIVILEGED = """
import os, sys
from kernelarena.judge.enclosure import privileges
from kernelarena.judge.enclosure.plan import Plan
from kernelarena.judge.enclosure.probe import probe
from kernelarena.judge.enclosure.privileges import Quota

plan = probe()
def body():
    plan.enter(Quota(storage=256 << 20))
    pid = os.fork()
    if pid == 0:
        privileges.drop(plan.user, [])
        os.environ["HOME"] = "/scratch"
        os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
    os.waitpid(pid, 0)
os.waitpid(plan.spawn(body), 0)
"""
INSIDE = """
import os
from kernelarena.judge.enclosure.probe import probe
assert os.geteuid() != 0
plan = probe()
print(plan.isolation.words, flush=True)
def body():
    from kernelarena.judge.enclosure.privileges import Quota
    plan.enter(Quota())
    pid = os.fork()
    if pid == 0:
        plan.confine(Quota())
        print(os.getuid(), open("/proc/self/status").read().split("CapEff:")[1].split()[0], flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
os.waitpid(plan.spawn(body), 0)
"""


def test_a_user_without_privileges_gets_every_layer_as_well():
    if probe.probe().isolation.missing:
        pytest.skip("this host lacks layers")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", UNPRIVILEGED, INSIDE]
    ran = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=120)
    assert ran.stdout.splitlines()[:2] == ["()", "1000 0000000000000000"], ran.stderr


class TestFilter:
    def decide(self, program, number, argument=0, architecture=None):
        """Run a filter's instructions as the operating system does, on one system call."""
        machine = platform.machine()
        data = struct.pack("<IIQ6Q", number, architecture or filter._AUDIT[machine], 0, argument, 0, 0, 0, 0, 0)
        value, place = 0, 0
        while True:
            code, true, false, k = struct.unpack_from("<HBBI", program, 8 * place)
            place += 1
            if code == filter._LOAD:
                (value,) = struct.unpack_from("<I", data, k)
            elif code == filter._RETURN:
                return k
            else:
                test = {
                    filter._JUMP_EQUAL: value == k,
                    filter._JUMP_ABOVE: value >= k,
                    filter._JUMP_SET: bool(value & k),
                }
                place += true if test[code] else false

    REFUSED, ALLOWED, UNKNOWN = filter._REFUSE | 1, filter._ALLOW, filter._REFUSE | 38

    @pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
    @pytest.mark.parametrize("own", [None, 17])
    @pytest.mark.parametrize("device", [False, True])
    def test_every_jump_lands(self, monkeypatch, machine, own, device):
        monkeypatch.setattr(platform, "machine", lambda: machine)
        program = filter.program(networked=False, own_pid=own, device=device)
        for number in range(512):
            assert self.decide(program, number) in (self.REFUSED, self.ALLOWED, self.UNKNOWN)
        column = list(filter._AUDIT).index(machine)
        for numbers in filter._REFUSED.values():
            if numbers[column] >= 0:
                assert self.decide(program, numbers[column]) == self.REFUSED
        assert self.decide(program, filter._CLONE3[column]) == self.UNKNOWN
        assert self.decide(program, filter._CLONE[column], 17) == self.ALLOWED
        assert self.decide(program, filter._CLONE[column], 0x10000000 | 17) == self.REFUSED
        assert self.decide(program, 0, architecture=0x40000003) == self.REFUSED
        assert self.decide(program, filter._MEMFD_CREATE[column]) == (self.ALLOWED if device else self.REFUSED)
        kill = filter._SIGNALS["kill"][column]
        assert self.decide(program, kill, 17) == self.ALLOWED
        assert self.decide(program, kill, 1) == (self.ALLOWED if own is None else self.REFUSED)

    @pytest.mark.parametrize(
        ("networked", "device", "families"),
        [(False, False, {1, 2, 10, 16}), (True, False, set()), (True, True, {1})],
    )
    def test_families_of_sockets(self, networked, device, families):
        program = filter.program(networked=networked, own_pid=None, device=device)
        number = filter._SOCKET[list(filter._AUDIT).index(platform.machine())]
        assert {family for family in range(64) if self.decide(program, number, family) == self.ALLOWED} == families

    def test_an_unknown_machine_is_told_of(self):
        with pytest.raises(OSError, match="of riscv64 are not known"):
            filter.program(networked=False, own_pid=None, device=False, machine="riscv64")


class TestSwitch:
    def test_layers_are_named_by_their_keys(self):
        assert switched_off({}) == frozenset()
        assert switched_off({SWITCH: "user, system-calls"}) == {Layer.USER, Layer.SYSTEM_CALLS}
        assert switched_off({SWITCH: "all"}) == frozenset(Layer)
        with pytest.raises(InputError, match="'netwrok' is no layer of isolation; did you mean 'network'"):
            switched_off({SWITCH: "netwrok"})

    def test_bubblewrap_may_be_left_out_too(self):
        assert substitute_allowed({SWITCH: "user,files"})
        assert not substitute_allowed({SWITCH: "user,bubblewrap"})
        assert not substitute_allowed({SWITCH: "all"})

    def test_every_layer_can_be_left_out_alone(self, monkeypatch):
        for layer in Layer:
            monkeypatch.setenv(SWITCH, layer.key)
            missing = probe.probe().isolation.missing
            assert SWITCH in missing[layer]


def test_words_say_what_is_missing_and_why():
    isolation = Isolation(missing={Layer.USER: "Operation not permitted", Layer.NETWORK: "left out"})
    assert isolation.words == ("network namespace (left out)", "user namespace (Operation not permitted)")
    assert not isolation.has(Layer.USER)
    assert isolation.has(Layer.FILES)
    assert Isolation().words == ()


def test_looking_at_a_host_needs_no_torch():
    code = "import sys, kernelarena.judge.enclosure.probe, kernelarena.judge.nursery; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "False", done.stderr
