import pytest


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory, monkeypatch):
    """Keep seeds of tests out of the user's own state."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
