import pytest

from kernelarena.cli import plan
from kernelarena.errors import InputError
from kernelarena.platforms.backend import Availability
from kernelarena.spec import Evidence, Sweep, paths

KERNEL = "task: softmax\nlanguage: triton\nentry: kernel.py::softmax\nhome: MI300X\n"


@pytest.fixture
def kernels(tmp_path):
    for name, task in (("a", "softmax"), ("b", "add")):
        folder = tmp_path / "kernels" / name
        folder.mkdir(parents=True)
        (folder / "kernel.yaml").write_text(f"task: {task}\nlanguage: triton\nentry: k.py::f\nhome: mi300x\n")
        (folder / "k.py").write_text("def f(x):\n    return x\n")
    return tmp_path / "kernels"


def test_left_open_it_is_the_quickstart():
    found = plan.make(Sweep())
    assert tuple(found.platforms) == plan.read_config("quickstart").platforms
    assert len(found.kernels) == len(plan.read_config("quickstart").kernels) == 12
    assert found.tasks.keys() == {kernel.task for kernel in found.kernels}


def test_tasks_alone_choose_among_all_that_come_with_the_harness():
    found = plan.make(Sweep(tasks=("suite:mc",)))
    assert len(found.kernels) > 50
    assert all("mc" in source.task.suites for source in found.tasks.values())


def test_names_are_resolved(kernels):
    found = plan.make(Sweep(platforms=("MI300X,h100", "h100"), kernels=(str(kernels),)))
    assert list(found.platforms) == ["mi300", "h100"]
    assert {kernel.home for kernel in found.kernels} == {"mi300"}, "an alias is as good as the id"


def test_tasks_choose_among_the_kernels(kernels):
    found = plan.make(Sweep(platforms=("h100",), kernels=(str(kernels),), tasks=("soft*",)))
    assert [kernel.id for kernel in found.kernels] == ["a"]
    assert list(found.tasks) == ["softmax"]
    with pytest.raises(InputError, match="none of the kernels is for the tasks matmul"):
        plan.make(Sweep(platforms=("h100",), kernels=(str(kernels),), tasks=("matmul",)))


def test_what_cannot_be_read_is_left_out_on_demand(kernels):
    (kernels / "b" / "k.py").unlink()
    with pytest.raises(InputError, match=r"b/kernel.yaml:3: entry: no file 'k.py'"):
        plan.make(Sweep(platforms=("h100",), kernels=(str(kernels),)))
    found = plan.make(Sweep(platforms=("h100",), kernels=(str(kernels),), keep_going=True))
    assert [kernel.id for kernel in found.kernels] == ["a"]
    assert len(found.left_out) == 1


def test_kernels_of_a_task_travel_with_it_where_others_are_timed_beside_them(kernels):
    sweep = Sweep(platforms=("h100",), kernels=(str(kernels),), timing={"baseline": "shipped"})
    found = plan.make(sweep)
    assert {task: [kernel.id for kernel in source.kernels] for task, source in found.tasks.items()} == {
        "softmax": ["softmax-triton"],
        "add": ["add-triton"],
    }
    assert not any(source.kernels for source in plan.make(Sweep(kernels=(str(kernels),))).tasks.values())


class TestConfigurations:
    @pytest.mark.parametrize("path", sorted(paths.shipped("configs").glob("*.yaml")), ids=lambda path: path.stem)
    def test_shipped_ones_are_plans(self, path):
        config = plan.read_config(path.stem)
        assert config == plan.read_config(str(path))
        assert plan.make(config).kernels

    def test_kernels_start_from_their_folder(self, kernels, tmp_path, monkeypatch):
        (tmp_path / "lab.yaml").write_text("platforms: [h100]\nkernels: [kernels/a, ./kernels/../kernels/b]\n")
        config = plan.read_config(str(tmp_path / "lab.yaml"))
        assert config.kernels == (str(kernels / "a"), str(kernels / "b"))
        monkeypatch.chdir(tmp_path)
        assert plan.read_config("lab.yaml").kernels == ("kernels/a", "kernels/b")

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("quikstart", "no shipped configuration 'quikstart'; did you mean 'quickstart'"),
            ("gone.yaml", "gone.yaml: no such file"),
            ("some/where", "some/where: no such file"),
        ],
    )
    def test_that_are_not_there(self, name, message):
        with pytest.raises(InputError, match=message):
            plan.read_config(name)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("platform: [h100]\n", r"c.yaml:1: platform: unknown key; did you mean 'platforms'"),
            ("platforms: h100\n", r"c.yaml:1: platforms: expected a list, got 'h100'"),
            ("retries: many\n", r"c.yaml:1: retries: expected an integer"),
            ("hidden:\n  enabled: true\n  cuont: 3\n", r"c.yaml:3: hidden.cuont: unknown key; did you mean 'count'"),
            ("deadlines: {call: 0}\n", r"c.yaml:1: deadlines.call: expected .*greater than 0"),
        ],
    )
    def test_that_are_wrong(self, tmp_path, text, message):
        (tmp_path / "c.yaml").write_text(text)
        with pytest.raises(InputError, match=message):
            plan.read_config(str(tmp_path / "c.yaml"))


class TestDescription:
    AVAILABLE = {
        "cpu": Availability((Evidence.EMULATED,), "no timing"),
        "mi300": Availability((Evidence.COMPILED,), "no device"),
        "h100": Availability((Evidence.COMPILED,), "no device"),
        "b580": Availability((), "needs a plug-in"),
    }

    def test_says_on_what_evidence(self):
        assert plan.describe(12, self.AVAILABLE, None) == [
            "12 kernels × 4 platforms = 48 cells: cpu emulated; mi300, h100 compiled",
            "b580 cannot be judged here: needs a plug-in",
        ]

    def test_says_what_a_requirement_rules_out(self):
        assert plan.describe(1, self.AVAILABLE, Evidence.EMULATED) == [
            "1 kernel × 4 platforms = 4 cells: cpu emulated",
            "mi300 cannot be judged here: no device",
            "h100 cannot be judged here: no device",
            "b580 cannot be judged here: needs a plug-in",
        ]


def test_a_home_that_no_file_declares_is_remarked_upon_and_kept(tmp_path):
    folder = tmp_path / "kernel"
    folder.mkdir()
    (folder / "kernel.yaml").write_text("task: softmax\nlanguage: triton\nentry: kernel.py::softmax\nhome: h10\n")
    (folder / "kernel.py").write_text("def softmax(x): ...\n")
    made = plan.make(Sweep(platforms=("h100",), kernels=(str(folder),)))
    assert made.kernels[0].home == "h10"
    (remark,) = made.remarks
    assert str(folder) in remark
    assert "'h100'" in remark
