import pytest

from kernelarena.cluster import placement as placement_module
from kernelarena.cluster.placement import Announcement, Placement, announcement, placement
from kernelarena.platforms.backend import Backend, Device
from kernelarena.spec import Evidence
from tests.cluster import samples


@pytest.mark.parametrize("evidence", [(), (Evidence.COMPILED,), (Evidence.EMULATED,)])
def test_what_is_not_measured_needs_a_processor_and_nothing_else(evidence):
    assert placement(samples.platform("mi300"), evidence).options() == {
        "num_cpus": 1,
        "max_restarts": 0,
        "max_task_retries": 0,
    }


def test_what_is_measured_needs_one_whole_device_of_the_platform():
    options = placement(samples.platform("mi300"), (Evidence.MEASURED, Evidence.COMPILED)).options()
    assert options["num_gpus"] == 1
    assert options["resources"] == {"platform:mi300": 1}
    assert options["max_restarts"] == 0


def test_several_may_share_a_device():
    where = placement(samples.platform("mi300"), (Evidence.MEASURED,), 4)
    assert where.options()["num_gpus"] == where.options()["resources"]["platform:mi300"] == 0.25
    assert placement(samples.platform("mi300"), (Evidence.COMPILED,), 4) == Placement()


def test_cells_share_workers_exactly_where_their_needs_agree():
    measured, compiled = (Evidence.MEASURED,), (Evidence.COMPILED,)
    mi300, h100 = samples.platform("mi300"), samples.platform("h100")
    assert placement(mi300, compiled) == placement(h100, compiled) == Placement()
    assert placement(mi300, measured) != placement(h100, measured)
    assert placement(mi300, measured) != placement(mi300, compiled)


class Host(Backend):
    """A host with three devices of two kinds."""

    name = "host"

    def devices(self):
        return [Device(0, "Big", "b"), Device(1, "Small", "s"), Device(2, "Big", "b")]

    def availability(self, platform):
        raise NotImplementedError


def test_a_host_announces_each_device_once_and_each_platform_by_its_devices(monkeypatch):
    monkeypatch.setattr(placement_module, "backend_for", lambda platform: Host())
    base = samples.platform("mi300").model_dump()
    chips = {"big": "Big", "small": "Small", "other": "Other"}
    platforms = [
        type(samples.platform("mi300")).model_validate(
            {**base, "id": id_, "aliases": [], "detect": {"names": [name]}, "ray": {"resource": f"platform:{id_}"}}
        )
        for id_, name in chips.items()
    ]
    assert announcement(platforms) == Announcement(3, {"platform:big": 2.0, "platform:small": 1.0})
    assert announcement([]) == Announcement(0, {})
