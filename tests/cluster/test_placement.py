import pytest

from kernelarena.cluster.placement import Placement, placement
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


def test_cells_share_workers_exactly_where_their_needs_agree():
    measured, compiled = (Evidence.MEASURED,), (Evidence.COMPILED,)
    mi300, h100 = samples.platform("mi300"), samples.platform("h100")
    assert placement(mi300, compiled) == placement(h100, compiled) == Placement()
    assert placement(mi300, measured) != placement(h100, measured)
    assert placement(mi300, measured) != placement(mi300, compiled)
