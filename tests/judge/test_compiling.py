"""The compile gate hands on what it built, so that no process need build it once more."""

import pytest

from kernelarena.judge.compiling import compile_gate
from kernelarena.judge.zygote import Mode, Zygote
from kernelarena.spec import Status
from tests.judge.test_judge import ADD_ONE, PREAMBLE, SMALL

BODY = "\ndef entry(x):\n    return run(x, torch.empty_like(x))\n"


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote(Mode.COMPILE)
    yield zygote
    zygote.close()


@pytest.fixture
def gate(zygote, kernel, platforms):
    def run(ahead=False, **changes):
        subject = kernel(PREAMBLE + BODY, task="add_one", language="triton")
        sweep = SMALL.model_copy(update=changes)
        return compile_gate(lambda: zygote, subject, ADD_ONE, platforms["h100"], sweep, keep=True, ahead=ahead)

    return run


def test_binaries_of_every_specialisation_are_handed_on(gate):
    fields, files = gate()
    assert fields["status"] is Status.PASS
    assert sum(name.endswith(".cubin") for name in files) >= 2  # one for each dtype
    assert not any(name.endswith(".so") for name in files)


def test_the_cache_remembers_them_with_the_decision(gate, monkeypatch, tmp_path):
    monkeypatch.setattr("kernelarena.protocol.compile_cache.cache_dir", lambda: tmp_path)
    first, files = gate(cache=True)
    second, again = gate(cache=True)
    assert (first["cached"], second["cached"]) == (False, True)
    assert again == files
    for archive in tmp_path.rglob("*.zip"):
        archive.write_bytes(b"damaged")
    assert gate(cache=True)[1] == {}


def test_what_other_layouts_and_odd_sizes_need_is_built_ahead(gate):
    """Sizes and addresses that are multiples of sixteen are compiled apart from others."""
    fields, files = gate(ahead=True)
    published = len(fields["launches"])
    assert sum(name.endswith(".cubin") for name in files) > published > 0


def test_nothing_is_concluded_from_what_is_built_ahead(zygote, kernel, platforms):
    """A kernel that fails on every layout but the published one, and ends its process after that, has passed."""
    ends = "\n\ncalls = []\n\n\ndef entry(x):\n    calls.append(1)\n    if len(calls) > 4:\n        os._exit(3)\n"
    body = f"\nimport os{ends}    return run(x, torch.empty_like(x))\n"
    subject = kernel(PREAMBLE + body, task="add_one", language="triton")
    fields, _ = compile_gate(lambda: zygote, subject, ADD_ONE, platforms["h100"], SMALL, keep=True, ahead=True)
    assert fields["status"] is Status.PASS, fields["detail"]
