from __future__ import annotations

import gc
from pathlib import Path

import pytest

from kernelarena.cli.loading import load
from kernelarena.errors import InputError
from kernelarena.spec.condensed import condensed
from kernelarena.store import Run
from tests.report.conftest import Factory


@pytest.mark.parametrize("collecting", [True, False])
def test_a_run_is_read_and_the_collector_is_as_it_was(tmp_path, collecting):
    make = Factory()
    verdicts = [make.verdict("rope-half", p) for p in ("cpu", "mi300")]
    data = make.data(verdicts, hidden_seed=None, hidden_seed_sha256=None)
    with Run.create(tmp_path / "run", data.manifest, data.platforms, data.tasks, data.kernels.values()) as run:
        for verdict in verdicts:
            run.record(verdict)
    try:
        gc.enable() if collecting else gc.disable()
        found = load(tmp_path / "run").verdicts
        assert found == tuple(condensed(verdict, {}) for verdict in verdicts)
        assert gc.isenabled() == collecting
        with pytest.raises(InputError, match="no such run folder"):
            load(tmp_path / "none")
        assert gc.isenabled() == collecting
    finally:
        gc.enable()
        gc.unfreeze()


def test_the_shipped_sample_is_named_as_a_report_without_results():
    sample = Path(__file__).resolve().parent.parent.parent / "reports/sample"
    with pytest.raises(InputError, match=r"sample: holds a written report only, .* \(results\.sqlite\); open .*html"):
        load(sample)
