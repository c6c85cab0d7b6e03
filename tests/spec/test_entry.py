import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.spec.entry import EntryError, resolve

TWO = "def a(x):\n    return x\n\ndef b(x):\n    return x\n"
TRITON = (
    "import triton\n\n@triton.jit\ndef kernel(x):\n    pass\n\n"
    "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef tuned(x):\n    pass\n\n"
    "def _grid(n):\n    return n\n\ndef softmax(x):\n    return x\n"
)


@pytest.mark.parametrize(
    ("entry", "files", "expected"),
    [
        ("k.py::b", {"k.py": TWO}, ("k.py", "b")),
        ("sub/k.py::b", {"sub/k.py": TWO, "k.py": ""}, ("sub/k.py", "b")),
        ("b", {"k.py": TWO, "notes.txt": "b"}, ("k.py", "b")),
        ("k.py", {"k.py": TRITON}, ("k.py", "softmax")),
        ("k.py::f", {"k.py": "f = Function.apply"}, ("k.py", "f")),
        ("k.py::f", {"k.py": "f: object = g"}, ("k.py", "f")),
        ("k.py::f", {"k.py": "from m import g as f"}, ("k.py", "f")),
        ("k.py::f", {"k.py": "try:\n    from m import f\nexcept ImportError:\n    f = None"}, ("k.py", "f")),
        ("k.py::f", {"k.py": "if True:\n    def f(x): pass\nelse:\n    pass"}, ("k.py", "f")),
        ("k.py::f", {"k.py": "from m import *"}, ("k.py", "f")),
        ("k.py::f", {"k.py": "def f(:\n"}, ("k.py", "f")),  # the compile gate's to report
        ("k.py::f", {"k.py": "def f(): pass\0"}, ("k.py", "f")),
        ("k.py::f", {"k.py": "(" * 5_000}, ("k.py", "f")),
        ("k.cu::f", {"k.cu": "int f(int x);"}, ("k.cu", "f")),
        ("f", {"k.hip": "int f(int x);", "k.h": "int g();"}, ("k.hip", "f")),
        ("k.hip", {"k.hip": 'int g();\nextern "C" int f(int x) {}'}, ("k.hip", "f")),
        ("k.hip::f", {"k.hip": "int f(((("}, ("k.hip", "f")),
    ],
)
def test_finds(entry, files, expected):
    assert resolve(entry, files) == expected


@pytest.mark.parametrize(
    ("entry", "files", "message"),
    [
        ("k.cu::g", {"k.cu": 'extern "C" int f();'}, "k.cu has no function 'g'; "),
        ("k.cu", {"k.cu": "int f(); int g();"}, r"which function of k.cu\? Write it as 'k.cu::FUNCTION'"),
        ("k.py::c", {"k.py": TWO}, "k.py has no function 'c'; did you mean|k.py has no function 'c'; known: a, b"),
        ("k.py::sofmax", {"k.py": TRITON}, "did you mean 'softmax'"),
        ("kernle.py::b", {"kernel.py": TWO}, "no file 'kernle.py'; did you mean 'kernel.py'"),
        ("k.py::", {"k.py": TWO}, "names no function"),
        ("k.py::a b", {"k.py": TWO}, "'a b' is not the name of a function"),
        ("b", {"k.py": TWO, "l.py": TWO}, "which file.* k.py, l.py"),
        ("b", {"notes.txt": ""}, "no .py, .cu, .hip or .cpp file"),
        ("k.py", {"k.py": TWO}, "which function of k.py.* a, b"),
        ("k.py", {"k.py": "x = 1"}, "it has no public function"),
        ("k.py::inner", {"k.py": "def outer():\n    def inner(): pass"}, "no function 'inner'"),
        ("k.py::method", {"k.py": "class A:\n    def method(self): pass"}, "no function 'method'"),
        ("k.py::x", {"k.py": "print(x)"}, "no function 'x'"),
    ],
)
def test_says_what_is_there_instead(entry, files, message):
    with pytest.raises(EntryError, match=message):
        resolve(entry, files)


def test_prefers_the_function_named_like_the_task():
    assert resolve("k.py", {"k.py": TWO}, default="b") == ("k.py", "b")
    assert resolve("k.py", {"k.py": "def layer_norm(x): pass\ndef b(): pass"}, default="layer-norm")[1] == "layer_norm"
    assert resolve("k.py", {"k.py": TRITON}, default="other") == ("k.py", "softmax")
    assert resolve("k.py", {"k.py": "def ("}, default="other") == ("k.py", "other")


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_resolved_or_refused(entry, source):
    try:
        file, function = resolve(entry, {"k.py": source})
    except EntryError:
        return
    assert file == "k.py"
    assert function.isidentifier()
