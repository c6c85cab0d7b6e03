import itertools
import time

import pytest

from kernelarena.cluster import schedule as module
from kernelarena.cluster import watchdog
from kernelarena.errors import InputError
from kernelarena.platforms.backend import Availability
from kernelarena.spec import Deadlines, Evidence, Reason, Status, Sweep
from tests.cluster import fakes, samples

pytestmark = pytest.mark.ray


@pytest.fixture
def sweep(ray_session, log):
    def sweep(cells, *, config=None, available=samples.AVAILABLE, **options):
        options = {"hidden_seed": 7, "factory": fakes.FACTORY, **options}
        return module.sweep(cells, ray_session, config=config or Sweep(), available=available, **options)

    return sweep


def keyed(verdicts):
    found = {}
    for verdict in verdicts:
        assert (verdict.kernel, verdict.platform) not in found, "one verdict a cell"
        found[verdict.kernel, verdict.platform] = verdict
    return found


def test_every_cell_gets_its_verdict_and_judges_are_closed(sweep, log):
    cells = samples.cells({f"k{n}": "fail" if n % 2 else "pass" for n in range(6)})
    verdicts = keyed(sweep(cells))
    assert verdicts.keys() == {cell.key for cell in cells}
    assert {key for key, verdict in verdicts.items() if verdict.status is Status.FAIL} == {
        cell.key for cell in cells if "do: fail" in cell.kernel.files["kernel.py"]
    }
    assert all(verdict.attempts == 1 for verdict in verdicts.values())
    assert fakes.computed(log) == dict.fromkeys(verdicts, 1)
    assert {note["seed"] for note in fakes.notes(log)} == {7}
    assert {note["exit"] for note in fakes.notes(log)} == {3}, "Ray leaves a worker's children to the worker"
    pids = {note["pid"] for note in fakes.notes(log)}
    assert {path.name for path in log.glob("closed-*")} == {f"closed-{pid}" for pid in pids}


def test_cells_are_handed_out_in_order_to_whoever_is_free(sweep, log):
    cells = samples.cells({"first": "slow", **{f"k{n}": "slow" for n in range(5)}}, ("mi300",))
    keyed(sweep(cells))
    notes = sorted(fakes.notes(log), key=lambda note: note["time"])
    started = [tuple(note["cell"]) for note in notes]
    places = {cell.key: place for place, cell in enumerate(cells)}
    assert all(abs(places[key] - place) <= 1 for place, key in enumerate(started)), "two workers, one cell each"
    assert len({note["pid"] for note in notes}) == 2


def test_a_worker_that_dies_costs_a_retry_and_no_other_cell(sweep, log):
    cells = samples.cells({"a": "pass", "b": "die-once", "c": "pass", "d": "pass"}, ("mi300",))
    verdicts = keyed(sweep(cells))
    assert {verdict.status for verdict in verdicts.values()} == {Status.PASS}
    assert {key[0]: verdict.attempts for key, verdict in verdicts.items()} == {"a": 1, "b": 2, "c": 1, "d": 1}
    assert fakes.computed(log) == {("a", "mi300"): 1, ("b", "mi300"): 2, ("c", "mi300"): 1, ("d", "mi300"): 1}


def test_the_last_try_is_alone_and_in_a_fresh_process(sweep, log):
    cells = samples.cells({"a": "die", "b": "slow", "c": "slow", "d": "die", "e": "slow"}, ("mi300",))
    verdicts = keyed(sweep(cells, config=Sweep(retries=1)))
    assert {key[0] for key, verdict in verdicts.items() if verdict.status is Status.INFRA} == {"a", "d"}
    assert "(2 attempts, the last alone); --resume tries again" in verdicts["a", "mi300"].detail
    notes = sorted(fakes.notes(log), key=lambda note: note["time"])
    assert [note["cell"][0] for note in notes[-2:]] == ["a", "d"], "after everything else"
    pids = [note["pid"] for note in notes]
    assert all(pids.count(pid) == 1 for pid in pids[-2:])


@pytest.mark.parametrize("retries", [0, 1])
def test_a_cell_that_always_kills_its_worker_ends_as_infrastructure(sweep, log, retries):
    verdicts = keyed(sweep(samples.cells({"a": "die", "b": "pass"}, ("mi300",)), config=Sweep(retries=retries)))
    lost = verdicts["a", "mi300"]
    assert (lost.status, lost.reason, lost.attempts) == (Status.INFRA, Reason.WORKER_LOST, retries + 1)
    assert "the worker process died" in lost.detail
    assert "\n" not in lost.detail
    assert "kab-mc tasks verify softmax" in lost.detail, "who else may be to blame"
    assert verdicts["b", "mi300"].status is Status.PASS
    assert fakes.computed(log)["a", "mi300"] == retries + 1


def test_a_bug_of_the_judge_costs_its_cell_and_its_worker(sweep, log):
    verdicts = keyed(sweep(samples.cells({"a": "raise", "b": "pass", "c": "pass"}, ("mi300",))))
    lost = verdicts["a", "mi300"]
    assert (lost.status, lost.reason, lost.attempts) == (Status.INFRA, Reason.WORKER_LOST, 1)
    assert lost.detail.endswith("RuntimeError: a bug with two lines")
    assert verdicts["b", "mi300"].status is verdicts["c", "mi300"].status is Status.PASS
    buggy = {note["pid"] for note in fakes.notes(log) if note["cell"][0] == "a"}
    later = max(fakes.notes(log), key=lambda note: note["time"])
    assert later["pid"] not in buggy or later["cell"][0] == "a"


def test_trouble_that_the_judge_reports_is_tried_again_by_another_process(sweep, log):
    (verdict,) = sweep(samples.cells({"a": "hot"}, ("mi300",)), config=Sweep(retries=2))
    assert (verdict.status, verdict.reason, verdict.detail) == (Status.INFRA, Reason.DEVICE_UNHEALTHY, "too hot")
    assert verdict.attempts == 3
    assert fakes.computed(log) == {("a", "mi300"): 3}
    assert len({note["pid"] for note in fakes.notes(log)}) == 3  # a process that lost its device has lost it for good


def test_a_broken_task_ends_the_run_unless_it_is_to_go_on(sweep):
    cells = samples.cells({"a": "bad-task", "b": "pass"}, ("mi300",))
    with pytest.raises(InputError, match=r"reference.py:3: it does not work"):
        list(sweep(cells))
    verdicts = keyed(sweep(cells, config=Sweep(keep_going=True)))
    assert verdicts["a", "mi300"].status is Status.INFRA
    assert verdicts["b", "mi300"].status is Status.PASS


def test_cells_of_a_task_that_is_known_not_to_work_are_not_tried(sweep, log):
    verdicts = keyed(sweep(samples.cells({"a": "pass"}, ("mi300",)), broken={"softmax": "reference.py:3: it hangs"}))
    lost = verdicts["a", "mi300"]
    assert (lost.status, lost.reason, lost.detail) == (Status.INFRA, Reason.WORKER_LOST, "reference.py:3: it hangs")
    assert fakes.computed(log) == {}


def test_a_judge_that_hangs_is_ended(sweep, log, monkeypatch):
    monkeypatch.setattr(module, "_CALLS", 1)
    config = Sweep(deadlines=Deadlines(compile=0.5, call=0.5))
    verdicts = keyed(sweep(samples.cells({"a": "hang", "b": "pass"}, ("mi300",)), config=config))
    assert (verdicts["a", "mi300"].status, verdicts["a", "mi300"].reason) == (Status.INFRA, Reason.WORKER_LOST)
    assert "did not answer within 1 s" in verdicts["a", "mi300"].detail
    assert verdicts["b", "mi300"].status is Status.PASS


def test_stopping_ends_workers_and_their_children(sweep, log):
    stopped = False
    cells = samples.cells({"a": "pass", "b": "hang", "c": "hang", "d": "pass"}, ("mi300",))
    verdicts = sweep(cells, stopped=lambda: stopped or len(fakes.computed(log)) == 3)
    assert [verdict.kernel for verdict in verdicts] == ["a"]
    assert ("d", "mi300") not in fakes.computed(log), "nothing is handed out any more"
    pids = [note[key] for note in fakes.notes(log) for key in ("pid", "child") if key in note]
    end = time.monotonic() + 20
    while watchdog.table().keys() & set(pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert not watchdog.table().keys() & set(pids)


def test_leaving_the_iteration_ends_it(sweep, log):
    verdicts = sweep(samples.cells({f"k{n}": "slow" for n in range(20)}, ("mi300",)))
    assert len(list(itertools.islice(verdicts, 2))) == 2
    verdicts.close()
    count = len(fakes.notes(log))
    time.sleep(1)
    assert len(fakes.notes(log)) == count < 20


def test_a_device_that_no_host_has_is_infrastructure(sweep, log):
    available = {**samples.AVAILABLE, "mi300": Availability((Evidence.MEASURED,))}
    verdicts = keyed(sweep(samples.cells({"a": "pass"}), available=available))
    lost = verdicts["a", "mi300"]
    assert (lost.status, lost.reason) == (Status.INFRA, Reason.DEVICE_UNAVAILABLE)
    assert "platform:mi300" in lost.detail
    assert verdicts["a", "h100"].status is Status.PASS


def test_nothing_to_do_is_done_at_once(sweep):
    assert list(sweep([])) == []


BESIDE = {**samples.AVAILABLE, "h200": Availability((Evidence.MEASURED, Evidence.COMPILED))}


def built(log):
    return {tuple(path.name.split("~")[1:]): int(path.read_text()) for path in log.glob("built~*")}


def test_what_runs_on_a_device_is_compiled_before_elsewhere(sweep, log):
    cells = samples.cells({"a": "pass", "b": "slow", "c": "pass"}, ("h200", "mi300"))
    uses = []
    verdicts = keyed(sweep(cells, available=BESIDE, used=uses.append))
    assert verdicts.keys() == {cell.key for cell in cells}
    assert all(verdict.status is Status.PASS and verdict.attempts == 1 for verdict in verdicts.values())
    assert built(log).keys() == {(name, "h200") for name in "abc"}
    on_device = {note["pid"] for note in fakes.notes(log) if note["cell"][1] == "h200"}
    assert len(on_device) == 1, "a device has one worker"
    assert not on_device & set(built(log).values())
    (use,) = uses
    assert (use.resource, use.cells) == ("platform:h200", 3)
    assert use.seconds > 0
    assert 0 <= use.idle < 1


def test_a_device_has_as_many_workers_as_are_to_share_it(sweep, log):
    cells = samples.cells(dict.fromkeys("abcdef", "slow"), ("h200",))
    verdicts = list(sweep(cells, available=BESIDE, config=Sweep(cache=False, per_device=2)))
    assert {verdict.status for verdict in verdicts} == {Status.PASS}
    assert len({note["pid"] for note in fakes.notes(log)}) == 2


def test_only_what_was_judged_is_said_to_have_been(sweep):
    cells = samples.cells(dict.fromkeys("abcdefgh", "pass"), ("h200",))
    uses, found = [], []
    for verdict in sweep(cells, available=BESIDE, used=uses.append, stopped=lambda: bool(found)):
        found.append(verdict)
    (use,) = uses
    assert 1 <= use.cells < len(cells)


@pytest.mark.parametrize("action", ["die-built", "raise-built"])
def test_what_cannot_be_built_ahead_is_judged_all_the_same(sweep, log, action):
    verdicts = keyed(sweep(samples.cells({"a": action, "b": "pass"}, ("h200",)), available=BESIDE))
    assert {verdict.status for verdict in verdicts.values()} == {Status.PASS}
    assert fakes.computed(log) == {("a", "h200"): 1, ("b", "h200"): 1}


def test_nothing_is_built_ahead_where_nothing_is_kept(sweep, log):
    cells = samples.cells({"a": "pass"}, ("h200",))
    verdicts = keyed(sweep(cells, available=BESIDE, config=Sweep(cache=False)))
    assert verdicts["a", "h200"].status is Status.PASS
    assert built(log) == {}


def test_building_that_hangs_keeps_nothing_from_being_judged(sweep, log, monkeypatch):
    monkeypatch.setattr(module, "_CALLS", 0)
    config = Sweep(deadlines=Deadlines(compile=2.0, call=1.0))
    verdicts = keyed(sweep(samples.cells({"a": "hang-built"}, ("h200",)), available=BESIDE, config=config))
    assert verdicts["a", "h200"].status is Status.PASS


def test_nothing_is_built_long_before_it_is_needed(sweep, log, monkeypatch):
    monkeypatch.setattr(module, "_AHEAD", 2)
    verdicts = sweep(samples.cells({f"k{number}": "slow" for number in range(7)}, ("h200",)), available=BESIDE)
    for judged in itertools.count(1):
        if next(verdicts, None) is None:
            break
        assert len(built(log)) <= judged + 1 + 2, "one is being judged, and two are ready"
    assert judged == 8
    assert len(built(log)) == 7
