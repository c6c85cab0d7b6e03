import functools
import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.errors import InputError
from kernelarena.spec.base import Model
from kernelarena.spec.jsonlines import MAX_LINE
from kernelarena.spec.kernel import Language
from kernelarena.spec.kernels import load_kernels
from kernelarena.spec.submission import MAX_BYTES, MAX_FILES, identifier

TASKS = {"softmax", "layer_norm"}
SOURCE = "def softmax(x):\n    return x\n"


def folder(path, yaml="task: softmax\nlanguage: triton\nentry: kernel.py::softmax\n", source=SOURCE):
    path.mkdir(parents=True)
    (path / "kernel.yaml").write_text(yaml)
    if source is not None:
        (path / "kernel.py").write_text(source)
    return path


def line(**changes):
    fields = {"task": "softmax", "language": "triton", "entry": "softmax", "source": SOURCE, **changes}
    return json.dumps({key: value for key, value in fields.items() if value is not None})


def load(*paths, **options):
    return load_kernels(paths, tasks=TASKS, **options)[0]


class TestFolder:
    def test_is_one_kernel_with_its_sources(self, tmp_path):
        path = folder(
            tmp_path / "fast-softmax",
            "task: softmax\nlanguage: torch\nentry: kernel.py::softmax\nhome: h100\n"
            "provenance: {agent: a, tokens: {input: 3}, created: 2026-01-02}\nexpect: {mi300: pass}\n",
        )
        (path / "sub").mkdir()
        (path / "sub" / "helper.py").write_text("x = 1\n")
        (path / "table.json").write_text("{}")
        for ignored in ("__pycache__/kernel.cpython-311.py", ".git/a.py", ".hidden.py", "README.md", "weights.bin"):
            (path / ignored).parent.mkdir(exist_ok=True)
            (path / ignored).write_bytes(b"\xff\xfe")
        (kernel,) = load(path)
        assert (kernel.id, kernel.task, kernel.file, kernel.function) == (
            "fast-softmax",
            "softmax",
            "kernel.py",
            "softmax",
        )
        assert kernel.language is Language.TORCH
        assert kernel.home == "h100"
        assert kernel.provenance.created == "2026-01-02"
        assert kernel.files == {"kernel.py": SOURCE, "sub/helper.py": "x = 1\n", "table.json": "{}"}
        assert kernel.origin == str(path)
        assert load(path / "kernel.yaml") == [kernel]
        assert load(path, path / "kernel.yaml", f"{path}/.") == [kernel], "named thrice, read once"

    def test_may_name_what_it_was_optimised_from(self, tmp_path):
        yaml = "task: softmax\nlanguage: triton\nentry: kernel.py::softmax\noriginal: first.py\n"
        path = folder(tmp_path / "k", yaml)
        with pytest.raises(InputError, match=r"yaml:4: original: no file 'first.py'; known: kernel.py"):
            load(path)
        (path / "first.py").write_text("def slow_softmax(x):\n    return x\n")
        (kernel,) = load(path)
        assert (kernel.file, kernel.function, kernel.original) == ("kernel.py", "softmax", "first.py::slow_softmax")
        assert "first.py" in kernel.files

    @pytest.mark.parametrize("original", ["kernel.py::softmax", "kernel.py", "softmax", "''"])
    def test_was_not_optimised_from_itself(self, tmp_path, original):
        yaml = f"task: softmax\nlanguage: triton\nentry: kernel.py::softmax\noriginal: {original}\n"
        with pytest.raises(InputError, match=r"yaml:4: original: names the entry itself; [^\n]*$"):
            load(folder(tmp_path / "k", yaml))

    def test_of_many_is_searched_in_order(self, tmp_path):
        for name in ("b/two", "a/one", "a/three"):
            folder(tmp_path / name)
        (tmp_path / "a" / "lines.jsonl").write_text(line() + "\n")
        folder(tmp_path / "a" / "three" / "inside")  # belongs to three
        (tmp_path / "b" / "two" / "data.jsonl").write_text("not a submission\n")
        folder(tmp_path / ".venv" / "no")
        (tmp_path / "loop").symlink_to(tmp_path)
        assert [kernel.id for kernel in load(tmp_path)] == ["softmax-1", "one", "three", "two"]

    @pytest.mark.parametrize("keep_going", [False, True])
    def test_without_kernels(self, tmp_path, keep_going):
        (tmp_path / "kernel.py").write_text(SOURCE)
        with pytest.raises(
            InputError, match=r"no kernels in this folder \(looked for kernel.yaml, kernels.yaml and \*.jsonl"
        ):
            load(tmp_path, keep_going=keep_going)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"task": "sofmax"}, "yaml:1: task: unknown task 'sofmax'; did you mean 'softmax'"),
            ({"language": "hip"}, "yaml:3: entry: 'kernel.py' is no source file of language 'hip'"),
            ({"entry": "kernel.cu::softmax"}, "yaml:3: entry: 'kernel.cu' is no source file of language 'triton'"),
            ({"language": "rust"}, "yaml:2: language: expected 'triton', 'torch'"),
            ({"entry": "main.py::softmax"}, "yaml:3: entry: no file 'main.py'; did you mean 'kernel.py'"),
            ({"entry": "../../etc/x.py::softmax"}, "yaml:3: entry: no file"),
            ({"hom": "h100"}, "yaml:4: hom: unknown key; did you mean 'home'"),
            ({"entry": "3"}, "yaml:3: entry: expected a string, got 3"),
            ({"entry": None}, "entry: this key is required"),
            ({"source": "x"}, "yaml:4: source: only JSON Lines carry it"),
            ({"provenance": '{note: "\\ud800"}'}, "holds half of a surrogate pair"),
            ({"task": "["}, "not valid YAML"),
            ({"task": None, "language": None, "entry": None}, "expected a mapping of keys, got nothing"),
        ],
    )
    def test_that_is_wrong(self, tmp_path, changes, message):
        fields = {"task": "softmax", "language": "triton", "entry": "kernel.py::softmax", **changes}
        yaml = "".join(f"{key}: {value}\n" for key, value in fields.items() if value is not None)
        folder(tmp_path / "good")
        folder(tmp_path / "bad", yaml)
        with pytest.raises(InputError, match=message) as error:
            load(tmp_path)
        assert "\n" not in str(error.value)
        kernels, left_out = load_kernels([tmp_path], tasks=TASKS, keep_going=True)
        assert [kernel.id for kernel in kernels] == ["good"]
        assert left_out == [str(error.value)]

    def test_with_a_syntax_error_is_a_kernel(self, tmp_path):
        (kernel,) = load(folder(tmp_path / "k", source="def softmax(:\n"))
        assert kernel.function == "softmax"

    def test_without_its_file(self, tmp_path):
        with pytest.raises(InputError, match=r"entry: no file 'kernel.py'; none are known"):
            load(folder(tmp_path / "k", source=None))

    def test_too_large(self, tmp_path):
        path = folder(tmp_path / "k")
        for name in ("a.txt", "b.txt"):
            (path / name).write_text("x" * (MAX_BYTES // 2))
        with pytest.raises(InputError, match="the sources are larger than 1 MiB; keep data out of a kernel's folder"):
            load(path)

    def test_not_text(self, tmp_path):
        path = folder(tmp_path / "k")
        (path / "kernel.py").write_bytes(b"# caf\xe9\n")
        with pytest.raises(InputError, match=r"kernel.py: not UTF-8 text \(byte 5\)"):
            load(path)

    def test_does_not_reach_out_of_itself(self, tmp_path):
        (tmp_path / "secret.txt").write_text("key")
        path = folder(tmp_path / "k")
        (path / "secret.txt").symlink_to(tmp_path / "secret.txt")
        with pytest.raises(InputError, match="a link that leads out of the kernel's folder"):
            load(path)

    def test_may_be_reached_through_a_link(self, tmp_path):
        folder(tmp_path / "k")
        (tmp_path / "alias").symlink_to(tmp_path / "k")
        (kernel,) = load(tmp_path / "alias")
        assert kernel.id == "alias"


class TestSingleFile:
    def test_takes_its_task_from_the_command_line(self, tmp_path):
        path = tmp_path / "fast.py"
        path.write_text(SOURCE + "def other(x): pass\n")
        (kernel,) = load(path, task="softmax")
        assert (kernel.id, kernel.task, kernel.file, kernel.function) == ("fast", "softmax", "fast.py", "softmax")
        assert kernel.language is Language.TRITON
        assert kernel.files == {"fast.py": SOURCE + "def other(x): pass\n"}
        assert load(f"{path}::other", task="softmax")[0].function == "other"

    def test_named_kernel_py_is_called_like_its_folder(self, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "kernel.py").write_text(SOURCE)
        assert load(tmp_path / "mine" / "kernel.py", task="softmax")[0].id == "mine"

    @pytest.mark.parametrize(
        ("given", "task", "message"),
        [
            ("k.py", None, r"k.py: a single file does not say which task it solves; add --task ID"),
            ("k.py", "sofmax", "--task: unknown task 'sofmax'; did you mean 'softmax'"),
            ("k.py::nope", "softmax", "k.py has no function 'nope'"),
            ("k.py", "layer_norm", r"which function of k.py\? Write it as 'k.py::FUNCTION'; it has softmax, other"),
            ("gone.py", "softmax", "gone.py: no such file or folder"),
            ("gone.py::f", "softmax", "gone.py: no such file or folder"),
            ("k.hip::nope", "softmax", "k.hip has no function 'nope'"),
            ("k.cu", "layer_norm", r"which function of k.cu\? Write it as 'k.cu::FUNCTION'"),
            ("k.md", "softmax", "not a kernel; expected a folder or one of kernel.yaml"),
            ("k.jsonl::f", "softmax", "only a source file can be followed by"),
        ],
    )
    def test_that_is_wrong(self, tmp_path, given, task, message):
        for name in ("k.py", "k.hip", "k.cu", "k.md", "k.jsonl"):
            (tmp_path / name).write_text(SOURCE + "def other(x): pass\n")
        with pytest.raises(InputError, match=message):
            load(tmp_path / given, task=task)

    def test_beside_a_manifest_points_to_it(self, tmp_path):
        path = folder(tmp_path / "k")
        with pytest.raises(InputError, match=re.escape(f"or give its folder {path}")):
            load(path / "kernel.py")


class TestJsonLines:
    def test_one_kernel_a_line(self, tmp_path):
        path = tmp_path / "k.jsonl"
        lines = [
            line(),
            "",
            line(id="named", entry="other.py::softmax", home="h100", provenance={"model": "m"}),
            line(source="x = '\u2028'\ndef softmax(x): pass"),
            line(source="def softmax(:"),
        ]
        path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
        kernels = load(path)
        assert [kernel.id for kernel in kernels] == ["softmax-1", "named", "softmax-4", "softmax-5"]
        assert [kernel.file for kernel in kernels] == ["kernel.py", "other.py", "kernel.py", "kernel.py"]
        assert kernels[0].files == {"kernel.py": SOURCE}
        assert [kernel.origin for kernel in kernels] == [f"{path}:{number}" for number in (1, 3, 4, 5)]
        assert kernels[1].provenance.model == "m"

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ("{", "not valid JSON: .* \\(column 2\\)"),
            ("[1]", "expected a JSON object, got list"),
            ("[" * 100_000, "nested too deeply|not valid JSON"),
            ('{"task": ' + "9" * 10_000 + "}", "not JSON that can be read: Exceeds|task: expected a string"),
            (line(expect=functools.reduce(lambda deep, _: [deep], range(400), 1)), "expect: nested more than 64 lev"),
            (line()[:-1] + ', "entry": "other"}', "key 'entry' is given twice"),
            (line(provenance={})[:-2] + '"note": "a", "note": "b"}}', "key 'note' is given twice"),
            ('{"expect": NaN}', "not valid JSON: NaN is not a number of JSON"),
            (line(source=None), "source: this key is required"),
            (line(source=3), "source: expected a string, got 3"),
            (line(extra=1), "extra: unknown key"),
            (line(task="sofmax"), "task: unknown task 'sofmax'; did you mean 'softmax'"),
            (line(language="hip", entry="kernel.py"), "'kernel.py' is no source file of language 'hip'"),
            (line(original="slow"), "original: kernel.py has no function 'slow'"),
            (line(original=""), "original: names the entry itself; "),
            (line(original="slow" * 10_000), f"original: kernel.py has no function '{'slow' * 24}slo…'; "),
            (line(original="slow" * 10_000 + ".py"), f"original: no file '{'slow' * 24}slo…'; "),
            (line(original="slow-" * 10_000), f"original: '{'slow-' * 19}slow…' is not the name of a function"),
            (line(original="kernel.py::" * 10_000), "original: '[^']{100}' is not the name of a function"),
            (line(entry="k" * 10_000 + ".py::softmax"), "entry: '[^']{100}' is not the plain name of a source file"),
            (line(entry="../k.py::softmax"), "'../k.py' is not the plain name of a source file"),
            (line(entry="/etc/k.py::softmax"), "not the plain name"),
            (line(entry="k.txt::softmax"), "not the plain name"),
            (line(id="../../x"), "id: "),
            (line(source="x" * (MAX_BYTES + 1)), "source: larger than 1 MiB"),
            (line(source="\ud800"), "holds half of a surrogate pair"),
            (b"\xff", r"not UTF-8 text \(byte 0\)"),
        ],
    )
    def test_a_broken_line_is_named_and_the_rest_runs_only_on_demand(self, tmp_path, bad, message):
        path = tmp_path / "k.jsonl"
        bad = bad.encode() if isinstance(bad, str) else bad
        path.write_bytes(line().encode() + b"\n\n" + bad + b"\n" + line().encode() + b"\n")
        with pytest.raises(InputError, match=rf"k\.jsonl:3: .*({message})") as error:
            load(path)
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 600
        kernels, left_out = load_kernels([path], tasks=TASKS, keep_going=True)
        assert [kernel.id for kernel in kernels] == ["softmax-1", "softmax-4"]
        assert left_out == [str(error.value)]

    def test_an_empty_file(self, tmp_path):
        (tmp_path / "k.jsonl").write_text("\n\n")
        with pytest.raises(InputError, match="no kernels in this file"):
            load(tmp_path / "k.jsonl")
        with pytest.raises(InputError, match=r"no kernel could be read; the first: .*no kernels in this file"):
            load(tmp_path / "k.jsonl", keep_going=True)


class TestIds:
    def test_clashes_are_told_apart_by_their_paths(self, tmp_path):
        for name in ("x/a/softmax", "x/b/softmax", "x/b/other"):
            folder(tmp_path / name)
        together = [kernel.id for kernel in load(tmp_path)]
        assert together == ["a.softmax", "other", "b.softmax"]
        apart = [kernel.id for kernel in load(tmp_path / "x/a", tmp_path / "x/b")]
        assert apart == together, "however the paths are given"

    def test_clashes_at_one_path_are_numbered(self, tmp_path):
        (tmp_path / "k.jsonl").write_text("\n".join([line(id="same"), line(id="same"), line(id="k.same")]))
        assert [kernel.id for kernel in load(tmp_path / "k.jsonl")] == ["same", "same-2", "k.same"]

    def test_one_line_of_a_file(self, tmp_path):
        path = tmp_path / "many.jsonl"
        path.write_text(line(id="first") + "\n\n" + line() + "\n{broken\n")
        (kernel,) = load(f"{path}:3")
        assert (kernel.id, kernel.origin) == ("softmax-3", f"{path}:3")
        for number, message in ((2, "no kernel on this line"), (9, "no kernel on this line"), (4, "not valid JSON")):
            with pytest.raises(InputError, match=rf"many\.jsonl:{number}: .*{message}"):
                load(f"{path}:{number}")
        with pytest.raises(InputError, match="no such file"):
            load(tmp_path / "absent.jsonl:1")

    def test_two_files_of_lines(self, tmp_path):
        for name in ("a", "b"):
            (tmp_path / f"{name}.jsonl").write_text(line())
        assert [kernel.id for kernel in load(tmp_path)] == ["a.softmax-1", "b.softmax-1"]

    @given(st.text(max_size=200))
    def test_any_name_makes_an_identifier(self, name):
        from kernelarena.spec.base import Identifier

        class Named(Model):
            id: Identifier

        assert Named(id=identifier(name)).id

    @given(st.lists(st.sampled_from(["a", "b", "a-2", "k.a", "c"]), min_size=1, max_size=8))
    def test_are_unique_whatever_is_declared(self, names):
        import tempfile

        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "k.jsonl")
            with open(path, "w") as file:
                file.write("\n".join(line(id=name) for name in names))
            ids = [kernel.id for kernel in load(path)]
        assert len(set(ids)) == len(names)
        assert all(found == name or names.count(name) > 1 for found, name in zip(ids, names, strict=True))


def test_reading_kernels_loads_nothing_heavy():
    program = (
        "import sys, kernelarena.spec.kernels, kernelarena.store\n"
        "print([m for m in ('torch', 'triton', 'ray', 'pandas', 'numpy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


def test_what_cannot_be_a_submission_is_refused_without_hanging(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    (tmp_path / "long.jsonl").write_bytes(b"x" * (MAX_LINE + 1))
    for name, message in (
        ("pipe.py", "is neither a file nor a folder"),
        ("loop.py", "cannot be read: Too many levels of symbolic links"),
        ("x" * 300, "cannot be read: File name too long"),
        ("long.jsonl", "longer than 8 MiB"),
        ("bad\udcff.py", "not valid UTF-8"),
    ):
        with pytest.raises(InputError, match=message):
            load(f"{tmp_path}/{name}", task="softmax")


BUILDER = "from torch.utils import cpp_extension\n\n\ndef softmax(x):\n    return x\n"


def test_python_that_builds_an_extension_is_a_kernel_in_cpp(tmp_path):
    (tmp_path / "soft.py").write_text(BUILDER)
    (kernel,) = load(tmp_path / "soft.py", task="softmax")
    assert (kernel.language, kernel.file, kernel.function) == ("cuda", "soft.py", "softmax")
    path = folder(tmp_path / "k", "task: softmax\nlanguage: hip\nentry: kernel.py::softmax\n")
    (path / "kernel.py").write_text(BUILDER)
    assert [kernel.language for kernel in load(path)] == ["hip"]
    (tmp_path / "k.jsonl").write_text(line(language="cuda", entry="softmax", source=BUILDER))
    assert [kernel.file for kernel in load(tmp_path / "k.jsonl")] == ["kernel.py"]


def test_every_mistake_of_one_submission_is_named(tmp_path):
    path = folder(tmp_path / "k", "task: sofmax\nlanguage: hip\nentry: kernel.py::sofmax\n")
    with pytest.raises(InputError) as caught:
        load(path)
    keys = [problem.removeprefix(f"{path}/kernel.yaml:")[:8] for problem in caught.value.problems]
    assert keys == ["1: task:", "3: entry"]
    lines = tmp_path / "k.jsonl"
    lines.write_text(line(task="sofmax", language="triton", entry="../k.cu::f"))
    with pytest.raises(InputError) as caught:
        load(lines)
    assert [problem.split(": ")[1] for problem in caught.value.problems] == ["task", "entry", "entry"]
    lines.write_text(line(task=7, entri="x", entry=None))
    with pytest.raises(InputError) as caught:
        load(lines)
    assert [problem.split(": ")[1] for problem in caught.value.problems] == ["task", "entry", "entri"]


def test_a_line_without_end_costs_itself_only(tmp_path):
    path = tmp_path / "k.jsonl"
    path.write_bytes(line().encode() + b"\n" + b"x" * (2 * MAX_LINE + 7) + b"\n" + line().encode())
    kernels, left_out = load_kernels([path], tasks=TASKS, keep_going=True)
    assert [kernel.id for kernel in kernels] == ["softmax-1", "softmax-3"]
    assert left_out == [f"{path}:2: the line is longer than 8 MiB"]


def test_sources_as_other_systems_write_them(tmp_path):
    path = folder(tmp_path / "k")
    for name in ("kernel.yaml", "kernel.py"):
        text = (path / name).read_text()
        (path / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    (kernel,) = load(path)
    assert kernel.files == {"kernel.py": SOURCE.replace("\n", "\r\n")}


def test_names_that_no_report_could_hold(tmp_path):
    path = folder(tmp_path / "k")
    (path / "a\nb.py").write_text("")
    with pytest.raises(InputError, match="its name holds characters that cannot be shown; rename it"):
        load(path)
    folder(tmp_path / "many" / "bad\udcff")
    with pytest.raises(InputError, match="its name is not valid UTF-8; rename it"):
        load(tmp_path / "many")


def test_too_many_files(tmp_path):
    path = folder(tmp_path / "k")
    for number in range(MAX_FILES):
        (path / f"{number}.txt").touch()
    with pytest.raises(InputError, match="more than 1,000 source files"):
        load(path)


def test_a_manifest_that_is_no_file(tmp_path):
    (tmp_path / "k" / "kernel.yaml").mkdir(parents=True)
    with pytest.raises(InputError, match=r"kernel\.yaml: is a folder, where a file is expected"):
        load(tmp_path)


def test_folders_deeper_than_a_call_stack(tmp_path):
    """Made step by step, because a path of that length cannot be made at once everywhere."""
    top = folder(tmp_path / "many" / "k")
    for start in (top / "below", tmp_path / "many" / "z"):
        start.mkdir()
        handle = os.open(start, os.O_RDONLY)
        for _ in range(1_500):
            os.mkdir("d", dir_fd=handle)
            handle, old = os.open("d", os.O_RDONLY, dir_fd=handle), handle
            os.close(old)
        os.close(handle)
    try:
        assert [kernel.id for kernel in load(tmp_path / "many")] == ["k"]
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "many")], check=True)  # shutil's gives up on such depth


def test_an_entry_that_the_source_lacks_is_its_authors_mistake_and_ends_no_run(tmp_path):
    path = folder(tmp_path / "k", "task: softmax\nlanguage: triton\nentry: kernel.py::sofmax\n")
    (named,) = load(path)
    assert (named.file, named.function) == ("kernel.py", "sofmax")
    lines = tmp_path / "k.jsonl"
    lines.write_text(line() + "\n" + line(entry="sofmax"))
    assert [kernel.function for kernel in load(lines)] == ["softmax", "sofmax"]
