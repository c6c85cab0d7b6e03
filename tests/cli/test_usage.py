"""A command line that is wrong is refused in one line that says what would have done."""

import pytest

from kernelarena.cli import run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["swep"], "no such command 'swep'; did you mean 'sweep'?"),
        (["platforms", "lst"], "platforms: no such command 'lst'; did you mean 'list'?"),
        (["tasks", "shw"], "tasks: no such command 'shw'; did you mean 'show'?"),
        (["zzz"], "no such command 'zzz'; known: check, compare, platforms, report, sweep, tasks, trend"),
        (["--versoin"], "no such option '--versoin'; did you mean '--version'?"),
        (["sweep", "--platfrms", "x"], "sweep: no such option '--platfrms'; did you mean '--platforms' or "),
        (["check", "-x"], "check: no such option '-x'; "),
        (["sweep", "--jobs"], "option '--jobs' requires an argument"),
        (["sweep", "--jobs", "0"], "sweep: --jobs: 0 is not in the range 1<=x<=1024; see kab-mc sweep --help"),
        (["sweep", "--jobs", "two"], "sweep: --jobs: 'two' is not a valid integer range; see"),
        (["sweep", "--require", "measred"], "sweep: --require: 'measred' is not one of 'measured', 'emulated', "),
        (["sweep", "--hidden-seed", "9" * 30], "sweep: --hidden-seed: "),
        (["check"], "check: FILE… is missing; see kab-mc check --help"),
        (["check", "a.py", "b.py"], "check: takes one kernel, not 2; kab-mc sweep takes many, and so does --static"),
        (["report"], "report: RUN is missing; see kab-mc report --help"),
        (["report", "x", "--format", "pdf"], "report: --format: 'pdf' is not one of 'html', 'md', 'json', 'csv'"),
        *(
            (["sweep", option, value], f"sweep: {option}: is empty; give it a value, or leave it out")
            for option in ("--out", "--resume", "--kernels", "--tasks", "--task", "--config", "--platforms")
            for value in ("", " , ")
        ),
        (["sweep", "--tasks-dir", ""], "sweep: --tasks-dir: is empty"),
        (["sweep", ""], "sweep: [PATH]...: is empty"),
        (["check", ""], "check: FILE…: is empty"),
        (["report", ""], "report: RUN: is empty"),
        (["platforms", "show", ""], "platforms show: ID: is empty"),
        (["platforms", "list", "--platforms-dir", ""], "platforms list: --platforms-dir: is empty"),
    ],
)
def test_misuse_is_one_line_and_exit_code_2(arguments, said, capfd):
    assert run(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"kab-mc: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["platforms"], ["tasks"]])
def test_a_group_alone_shows_its_help(arguments, capfd):
    assert run(arguments) == 2
    assert "Commands:" in capfd.readouterr().err
