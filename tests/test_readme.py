"""What the README names exists."""

import itertools
import re
import shlex
from pathlib import Path

import pytest

from kernelarena.cli.commands import kab_mc

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^\$ (kab-mc .*?)(?:\s{2,}#.*| +# .*)?$", README, re.M)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_lead_somewhere(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"make (\w+)", README))))
def test_make_targets_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_parse(command):
    """Every command, option and platform is known; paths of the examples exist."""
    words = shlex.split(command)[1:]
    context = kab_mc.make_context("kab-mc", words[:], resilient_parsing=False)
    name, sub, rest = kab_mc.resolve_command(context, [*context._protected_args, *context.args])
    sub.make_context(name, rest, parent=context, resilient_parsing=True)
    known = {option for parameter in sub.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= known
    for option, value in itertools.pairwise(words):
        if option == "--kernels" and not value.endswith(".jsonl"):
            assert (ROOT / "examples/generated" / value).is_dir()
