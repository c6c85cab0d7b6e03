import errno
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from kernelarena import __version__
from kernelarena.cli import commands, run
from kernelarena.cli.commands import kab_mc
from kernelarena.errors import InfraError, InputError

COMMANDS = ["sweep", "check", "report", "platforms", "tasks"]


def test_version_and_help():
    runner = CliRunner()
    assert runner.invoke(kab_mc, ["--version"], prog_name="kab-mc").output.strip() == f"kab-mc {__version__}"
    output = runner.invoke(kab_mc, ["--help"]).output
    assert all(f"\n  {name} " in output for name in COMMANDS)


def test_help_loads_no_command_and_nothing_heavy():
    program = (
        "import sys\nfrom kernelarena.cli import run\nrun(['--help'])\n"
        "heavy = ('torch', 'triton', 'ray', 'pandas', 'numpy', 'pydantic', 'rich')\n"
        "bad = [m for m in sys.modules if m.startswith(heavy) or m.startswith('kernelarena.cli.') "
        "and m.rpartition('.')[2] not in ('commands', 'guests', 'streams', 'usage')]\n"
        "print(bad, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_listed_as_what_it_is_and_shows_an_example(command):
    loaded = kab_mc.get_command(click.Context(kab_mc), command)
    assert loaded is not None
    assert loaded.name == command
    texts = [CliRunner().invoke(kab_mc, [command, "--help"]).output]
    if isinstance(loaded, click.Group):
        texts = [CliRunner().invoke(kab_mc, [command, each, "--help"]).output for each in loaded.commands]
    assert texts
    assert all(f"kab-mc {command}" in text for text in texts)


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (InputError("k.yaml:3: wrong"), 2, "kab-mc: k.yaml:3: wrong\n"),
        (InfraError("no Ray"), 3, "kab-mc: no Ray\n"),
        (InputError("two\nlines"), 2, "kab-mc: two lines\n"),
        (InputError("k.yaml:3: one", "k.yaml:5: two"), 2, "kab-mc: k.yaml:3: one\nkab-mc: k.yaml:5: two\n"),
        (InputError(*map(str, range(22))), 2, "".join(f"kab-mc: {n}\n" for n in range(20)) + "kab-mc: and 2 more\n"),
        (OSError(errno.ENOSPC, "No space left", "/a/b"), 3, "kab-mc: /a/b: No space left\n"),
        (MemoryError(), 3, "kab-mc: there is not enough memory\n"),
        (InputError("evil \x1b[2J name"), 2, "kab-mc: evil �[2J name\n"),
        (KeyboardInterrupt(), 3, "\nkab-mc: interrupted\n"),
    ],
)
def test_what_a_command_raises_becomes_a_line_and_an_exit_code(monkeypatch, capfd, raised, code, said):
    @click.command()
    def sweep():
        raise raised

    monkeypatch.setattr(commands._LazyGroup, "get_command", lambda self, ctx, name: sweep)
    assert run(["sweep"]) == code
    assert capfd.readouterr().err == said


@pytest.mark.parametrize("bug", [ZeroDivisionError(), FileNotFoundError(errno.ENOENT, "No such file", "ours")])
def test_a_bug_of_ours_shows_its_traceback(monkeypatch, bug):
    @click.command()
    def sweep():
        raise bug

    monkeypatch.setattr(commands._LazyGroup, "get_command", lambda self, ctx, name: sweep)
    with pytest.raises(type(bug)):
        run(["sweep"])


def test_a_broken_pipe_of_our_own_is_a_bug(monkeypatch):
    @click.command()
    def sweep():
        raise BrokenPipeError

    monkeypatch.setattr(commands._LazyGroup, "get_command", lambda self, ctx, name: sweep)
    with pytest.raises(RuntimeError, match="a pipe to one of our own processes is closed"):
        run(["sweep"])
