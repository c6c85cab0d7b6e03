import os
from pathlib import Path

import pytest

from tests.cluster import fakes

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def ray_session(tmp_path_factory):
    """One embedded Ray for all tests, with room for two workers, which note what they compute in one folder.

    It announces a device that is not there: what runs "on" it is a fake judge, like everywhere else here.
    """
    from kernelarena.cluster.placement import Announcement
    from kernelarena.cluster.session import session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
        patch.setenv(fakes.LOG, str(tmp_path_factory.mktemp("cells")))
        with session(workers=2, devices=Announcement(1, {"platform:h200": 1.0})) as ray:
            yield ray


@pytest.fixture
def log(ray_session):
    """The folder of notes, empty."""
    folder = Path(os.environ[fakes.LOG])
    for path in folder.iterdir():
        path.unlink()
    return folder
