import textwrap

import pytest

from kernelarena.judge.zygote import Mode, Zygote
from kernelarena.platforms import catalogue
from kernelarena.spec import Kernel, Platform
from kernelarena.spec.catalogue import load_tasks


@pytest.fixture(scope="session")
def platforms() -> dict[str, Platform]:
    return catalogue.load()


@pytest.fixture(scope="session")
def tasks():
    return load_tasks()


@pytest.fixture(scope="session")
def interpreting():
    zygote = Zygote(Mode.INTERPRET)
    yield zygote
    zygote.close()


@pytest.fixture
def kernel():
    """Makes a kernel of one file from its source text."""

    def make(source: str, *, task: str = "softmax", function: str = "entry", language: str = "triton") -> Kernel:
        return Kernel(
            id="under-test", task=task, language=language, file="kernel.py", function=function,
            files={"kernel.py": textwrap.dedent(source)}, origin="a test",
        )  # fmt: skip

    return make
