import subprocess
import sys

from kernelarena import __version__
from kernelarena.store import environment


def _git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=folder, check=True)


def test_versions_are_those_installed_here():
    found = environment().versions
    assert found["kernelarena"] == __version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"torch", "ray", "numpy"} <= found.keys()
    assert "x86_64" in environment().host or "aarch64" in environment().host


def test_revision_says_whether_the_tree_was_clean(tmp_path):
    assert environment(tmp_path).git_revision is None
    _git(tmp_path, "init", "-q")
    assert environment(tmp_path).git_revision is None, "no commit yet"
    (tmp_path / "a").write_text("1")
    _git(tmp_path, "add", "a")
    _git(tmp_path, "commit", "-qm", "x")
    clean = environment(tmp_path).git_revision
    assert clean is not None
    assert len(clean) == 40
    (tmp_path / "a").write_text("2")
    assert environment(tmp_path).git_revision == f"{clean}-dirty"
