"""The shipped platform files are sound, and reading them says plainly what is wrong with one that is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.errors import InputError
from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.catalogue import load, resolve
from kernelarena.platforms.rocm import EMULATED
from kernelarena.spec import Platform
from kernelarena.spec.paths import shipped

PLATFORMS = load()
COMPILED = [platform for platform in PLATFORMS.values() if platform.backend in ("cuda", "rocm")]
ROOT = Path(__file__).resolve().parents[2]
LIMITS = "limits: {{warp_size: {}, max_threads_per_block: {}, shared_memory_per_block: {}, registers_per_thread: {}}}\n"
FIGURES = ("limits", "occupancy", "memory", "peak_flops", "dtypes")
SMALLEST = """\
id: {id}
title: A chip of the test
vendor: someone
backend: rocm
arch: gfx942
ray: {{resource: "platform:{id}"}}
source: {{title: "A data sheet"}}
"""

each = pytest.mark.parametrize("platform", PLATFORMS.values(), ids=PLATFORMS)
each_compiled = pytest.mark.parametrize("platform", COMPILED, ids=lambda platform: platform.id)


def write(folder: Path, id_: str, more: str = "", name: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name or id_}.yaml"
    path.write_text(SMALLEST.format(id=id_) + more)
    return path


def leaves(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, f"{key}.{name}" if key else name)
    else:
        yield key


def test_the_contract_names_them_all() -> None:
    assert set(PLATFORMS) >= {
        *("cpu", "mi250", "mi300", "mi355", "rx7900", "a100", "h100", "h200", "b200", "rtx4090"),
        *("ascend910b", "mtt-s4000", "mtt-s5000", "hygon-dcu", "bi-v150", "metax-c500", "intel-max1550", "b580"),
    }


@each
def test_every_figure_has_a_source_and_every_source_backs_figures_that_are_there(platform: Platform) -> None:
    keys = set(leaves(platform.model_dump(mode="json", exclude_unset=True)))
    backed = [figure for source in platform.source for figure in source.figures]
    catch_all = any(not source.figures for source in platform.source)
    for key in keys:
        if key.split(".")[0] in FIGURES:
            assert catch_all or any(key == figure or key.startswith(figure + ".") for figure in backed), key
    for figure in backed:
        assert any(key == figure or key.startswith(figure + ".") for key in keys), figure
    assert all(source.section for source in platform.source)


@each
def test_resource_and_budget_follow_the_conventions(platform: Platform) -> None:
    assert platform.ray.resource == f"platform:{platform.id}"
    assert (platform.budget is not None) == (platform.backend == "cpu" or platform.arch in EMULATED)
    if platform.backend != "cpu":
        assert platform.detect.names, "a device of it could never be recognised"


@each
def test_narrower_dtypes_are_not_slower(platform: Platform) -> None:
    order = ["float64", "float32", "tfloat32", "float16", "float8_e4m3"]
    given = [platform.peak_flops[dtype] for dtype in order if dtype in platform.peak_flops]
    assert given == sorted(given)
    for peak in platform.peak_flops.values():
        assert 1e12 < peak < 1e16


@each
def test_memory_is_of_this_world(platform: Platform) -> None:
    if memory := platform.memory:
        assert memory.bytes % 2**30 == 0
        assert 2e11 < memory.bandwidth < 1e13
        assert memory.cache_bytes is None or 4 * 2**20 <= memory.cache_bytes < memory.bytes / 64


@each_compiled
def test_a_chip_that_triton_compiles_for_gives_everything_that_the_gate_holds_kernels_against(
    platform: Platform,
) -> None:
    backend = backend_for(platform)
    assert backend is not None
    target = backend.triton_target(platform)
    assert target is not None
    assert platform.limits is not None
    assert platform.occupancy is not None
    assert platform.memory is not None
    assert target[2] == platform.limits.warp_size
    assert platform.detect.arch == platform.arch


@each_compiled
def test_occupancy_adds_up(platform: Platform) -> None:
    limits, occupancy = platform.limits, platform.occupancy
    assert limits is not None
    assert occupancy is not None
    lanes = occupancy.max_warps * limits.warp_size
    assert lanes == (1536 if platform.arch == "sm_89" else 2048)
    assert lanes >= limits.max_threads_per_block
    assert occupancy.max_warps % occupancy.partitions == 0
    assert occupancy.max_blocks <= occupancy.max_warps
    # One warp may take every register that an instruction can name, on each partition.
    per_lane = occupancy.registers // (occupancy.partitions * limits.warp_size)
    assert occupancy.registers == per_lane * occupancy.partitions * limits.warp_size
    assert per_lane >= limits.registers_per_thread
    # At full occupancy a whole number of allocation steps is left for each warp.
    share = per_lane // (occupancy.max_warps // occupancy.partitions)
    assert share >= occupancy.register_granularity
    assert limits.shared_memory_per_block + occupancy.shared_memory_reserved <= occupancy.shared_memory
    assert limits.shared_memory_per_block % occupancy.shared_memory_granularity == 0


@pytest.mark.parametrize(
    ("id_", "warp", "shared"),
    [
        ("mi250", 64, 65536),
        ("mi300", 64, 65536),
        ("mi355", 64, 163840),
        ("rx7900", 32, 65536),
        ("a100", 32, 166912),
        ("rtx4090", 32, 101376),
        ("h100", 32, 232448),
        ("h200", 32, 232448),
        ("b200", 32, 232448),
    ],
)
def test_the_limits_that_kernels_break_on(id_: str, warp: int, shared: int) -> None:
    limits = PLATFORMS[id_].limits
    assert limits is not None
    assert (limits.warp_size, limits.max_threads_per_block, limits.shared_memory_per_block) == (warp, 1024, shared)


def test_float8_is_the_flavour_of_the_chip() -> None:
    flavours = {id_: PLATFORMS[id_].dtype("float8_e4m3") for id_ in ("mi300", "mi355", "h100")}
    assert flavours == {"mi300": "float8_e4m3fnuz", "mi355": "float8_e4m3fn", "h100": "float8_e4m3fn"}


def test_labels_are_those_of_the_installed_ray() -> None:
    accelerators = pytest.importorskip("ray.util.accelerators.accelerators")
    amd = pytest.importorskip("ray._private.accelerators.amd_gpu").amd_product_dict
    known = {value for name, value in vars(accelerators).items() if name.isupper()} | set(amd.values())
    known |= {"GeForce-RTX-4090"}  # made of the device's name: Ray has no constant for consumer cards
    for platform in PLATFORMS.values():
        assert platform.ray.accelerator_type is None or platform.ray.accelerator_type in known, platform.id


def test_a_new_chip_is_one_file(tmp_path: Path) -> None:
    write(tmp_path / "lab", "mi999", "aliases: [mi999x]\n")
    found = load([tmp_path / "lab"])
    assert set(found) == {*PLATFORMS, "mi999"}
    assert resolve("MI999X", found)[0].title == "A chip of the test"


def test_later_folders_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for root, title in ((first, "from the first root"), (second, "from the second root")):
        root.mkdir()
        path = write(root / "platforms", "mi300")
        path.write_text(path.read_text().replace("A chip of the test", title))
    monkeypatch.setenv("KERNELARENA_PATH", os.pathsep.join([str(first), str(second)]))
    assert load()["mi300"].title == "from the second root"
    write(tmp_path / "cli", "mi300")
    assert load([tmp_path / "cli"])["mi300"].title == "A chip of the test"
    assert len(load()) == len(PLATFORMS)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("limits: {warp_size: wide}\n", r"mi999\.yaml:8: limits\.warp_size: expected an integer, got 'wide'"),
        ("limit: 3\n", r"mi999\.yaml:8: limit: unknown key; did you mean 'limits'"),
        ("memory: {bytes: 1, bandwidth: 0}\n", r"mi999\.yaml:8: memory\.bandwidth: no chip does 0 a second; give B/s"),
        ("memory: {bytes: 1, bandwidth: 5.3}\n", r"memory\.bandwidth: no chip does 5\.3 a second"),
        ("peak_flops: {float32: 0}\n", r"mi999\.yaml:8: peak_flops\.float32: no chip does 0 a second"),
        ("peak_flops: {float32: .nan}\n", r"mi999\.yaml:8: peak_flops\.float32: "),
        (
            "peak_flops: {fp32: 1e13}\n",
            r"mi999\.yaml:8: peak_flops: 'fp32' is no dtype that a rate is given for; did you mean 'float32'",
        ),
        (
            "dtypes: {float8_e4m3: float8_e4m3fnu}\n",
            r":8: dtypes: float8_e4m3: 'float8_e4m3fnu' is no flavour of it; kn",
        ),
        ("dtypes: {float32: float16}\n", r":8: dtypes: float32: 'float16' is no flavour of it; known: float32"),
        ("dtypes: {float8: float8_e4m3fn}\n", r":8: dtypes: 'float8' is no canonical dtype; did you mean "),
        (LIMITS.format(7, 1024, 65536, 512), r":8: limits\.warp_size: 7 is not a power of two"),
        (LIMITS.format("yes", 1024, 65536, 512), r":8: limits\.warp_size: expected a number, got a truth value"),
        (LIMITS.format(256, 1024, 65536, 512), r":8: limits\.warp_size: expected less than or equal to 128"),
        (LIMITS.format(64, 1000, 65536, 512), r":8: limits: max_threads_per_block 1000 is no multiple of warp_size"),
        (LIMITS.format(64, 1024, "1e15", 512), r":8: limits\.shared_memory_per_block: expected less than or equal to"),
        (LIMITS.format(64, 1024, 65536, -1), r":8: limits\.registers_per_thread: expected greater than 0, got -1"),
        ("vendor: again\n", r"mi999\.yaml:8: not valid YAML: key 'vendor' is given twice"),
        ("aliases: [mi300x]\n", r"mi999\.yaml:8: aliases: 'mi300x' also names the platform of .*mi300\.yaml"),
        ("aliases: [MI300]\n", r"mi999\.yaml:8: aliases: 'mi300' also names the platform of .*mi300\.yaml"),
        ("persona: h10\n", r"mi999\.yaml:8: persona: there is no platform 'h10'; did you mean 'h100'"),
        ("persona: b580\n", r"mi999\.yaml:8: persona: 'b580' has no answers to lend: nothing here compiles for it"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path: Path, more: str, message: str) -> None:
    write(tmp_path, "mi999", more)
    with pytest.raises(InputError, match=message) as caught:
        load([tmp_path])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"source": "[]"}, ["7: source: may not be empty"]),
        ({"arch": "gfx9999"}, ["5: arch: the toolchain of backend 'rocm' builds for no 'gfx9999'; known: gfx906, "]),
        ({"backend": "cuda", "arch": "sm_42"}, ["5: arch: the toolchain of backend 'cuda' builds for no 'sm_42'; "]),
        ({"backend": "cuda"}, ["5: arch: the toolchain of backend 'cuda' builds for no 'gfx942'; known: sm_70, "]),
        (
            {"backend": "cpu"},
            [
                "5: arch: the toolchain of backend 'cpu' builds for no 'gfx942'; known: interpreter",
                "1: persona: host code must be told of some chip; name the platform that answers for this one",
                "1: budget: an interpreter needs a bound on what one trial may cost",
            ],
        ),
        ({"backend": "of_the_lab", "arch": "whatever"}, []),
    ],
)
def test_what_a_backend_cannot_take_is_the_mistake_of_the_file(
    tmp_path: Path, changes: dict[str, str], problems: list[str]
) -> None:
    path = write(tmp_path, "mi999")
    lines = [line.split(": ", 1) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{key}: {changes.get(key, value)}\n" for key, value in lines))
    if not problems:
        assert load([tmp_path])["mi999"].arch == "whatever"
        return
    with pytest.raises(InputError) as caught:
        load([tmp_path])
    for said, expected in zip(caught.value.problems, problems, strict=True):
        assert said.startswith(f"{path}:{expected}")


def test_two_files_of_one_name(tmp_path: Path) -> None:
    write(tmp_path, "mi999").rename(tmp_path / "mi999.yml")
    write(tmp_path, "mi999")
    with pytest.raises(InputError, match=r"the folder holds mi999\.yaml and mi999\.yml; keep one of them"):
        load([tmp_path])


def test_a_hint_names_each_platform_once() -> None:
    with pytest.raises(InputError) as caught:
        resolve("a100-80gbb", PLATFORMS)
    assert str(caught.value).endswith("did you mean 'a100'?")
    with pytest.raises(InputError) as caught:
        resolve("nothing-like-it", PLATFORMS)
    assert str(caught.value).endswith("known: " + ", ".join(PLATFORMS))


_COMPILE = """
import sys
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.catalogue import load

@triton.jit
def copy(x, y, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(y + at, tl.load(x + at))

known = load()
for id_ in ("mi300", "h100"):
    for arch in backend_for(known[id_]).architectures:
        target = backend_for(known[id_]).triton_target(known[id_].model_copy(update={"arch": arch}))
        source = ASTSource(fn=copy, signature={"x": "*fp32", "y": "*fp32", "SIZE": "constexpr"}, constexprs={(2,): 128})
        triton.compile(source, target=GPUTarget(*target))
"""


def test_the_toolchain_builds_for_every_architecture_that_files_may_name(tmp_path: Path) -> None:
    (tmp_path / "build.py").write_text(_COMPILE)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "build.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_file_is_called_as_its_id(tmp_path: Path) -> None:
    path = write(tmp_path, "mi999", name="mi998")
    with pytest.raises(InputError, match=r"mi998\.yaml:1: id: 'mi999' must be the name of the file"):
        load([path.parent])


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_platforms_is_a_mistake(tmp_path: Path, make: bool) -> None:
    folder = tmp_path / "lab"
    if make:
        folder.mkdir()
    with pytest.raises(InputError, match="holds no platform file" if make else "no such folder"):
        load([folder])


def test_unknown_names_bring_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown platform 'mi30': did you mean 'mi300'"):
        resolve(["h100,mi30"], PLATFORMS)
    with pytest.raises(InputError, match="no platform is named"):
        resolve([" , "], PLATFORMS)


@given(st.lists(st.sampled_from([word for id_ in PLATFORMS for word in (id_, *PLATFORMS[id_].aliases)]), min_size=1))
def test_resolving_keeps_the_order_and_drops_repeats(names: list[str]) -> None:
    once = resolve(names, PLATFORMS)
    assert len({platform.id for platform in once}) == len(once)
    assert once == resolve(" , ".join(names).upper(), PLATFORMS)
    answers = [next(p.id for p in PLATFORMS.values() if name in (p.id, *p.aliases)) for name in names]
    assert [platform.id for platform in once] == list(dict.fromkeys(answers))


def test_nothing_but_platform_files_lies_in_the_shipped_folder() -> None:
    assert {path.stem for path in shipped("platforms").iterdir()} == set(PLATFORMS)
