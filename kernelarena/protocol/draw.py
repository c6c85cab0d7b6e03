"""Which shapes a kernel is tried on: the published ones, and hidden ones drawn by a seed.

Hidden shapes come in families, each of which breaks a habit that kernels get away with on published shapes:

==============  ==================================================================================================
``edge``        a dimension at the smallest size, the one after it, or the largest
``scale-up``    a dimension beyond every published size, up to four times
``scale-down``  a dimension below every published size, the others no larger than published
``alignment``   primes, one off a power of two, one off a tile
``asymmetric``  one dimension at least 16 times as large as another
``production``  a real model's shape, or one dimension of it changed
==============  ==================================================================================================

A draw is a pure function of its arguments: numbers come from SHA-256 of the seed and of a label that says what they
are for, so that the same seed gives the same shapes on every machine and version of Python, whatever the order of
keys in the task's file (but for a budget's ``outer``, which takes the last dimension for the inner one). Only integers
are drawn; there is no floating-point arithmetic that could differ.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from kernelarena.protocol import sizes
from kernelarena.spec.platform import Budget
from kernelarena.spec.shape import Shape
from kernelarena.spec.task import ITEMSIZE, Task
from kernelarena.spec.vocabulary import HIDDEN_FAMILIES, Family

MAX_BYTES = 4 * 2**30
"""Bytes that the tensors of a hidden shape may take, unless the caller says otherwise."""
ATTEMPTS = 60
"""Candidates of a family that are tried before it counts as impossible."""
ASYMMETRY = 16
"""Least ratio of the largest dimension to the smallest in an asymmetric shape."""
SPACE = 4096
"""A task with no more shapes than this is searched whole when drawing finds nothing new."""
SHORT = 2
"""Dimensions shrink down to this before one that is to be kept is touched."""

T = TypeVar("T")
Dims = dict[str, int]


def draw(
    task: Task, seed: int, count: int, *, budget: Budget | None = None, max_bytes: int | None = None
) -> list[Shape]:
    """Draw hidden shapes.

    Parameters
    ----------
    task
        Its dims and constraints hold for every shape.
    seed
        The run's hidden seed.
    count
        How many. From six on each family that the task has room for is present, and from as many as the task has
        dtypes on, each dtype.
    budget
        What one trial may cost where it is emulated. Shapes then shrink into it, keeping what their family is for.
    max_bytes
        Bytes that the tensors of one shape may take; 4 GiB if absent.

    Returns
    -------
    list of Shape
        With dims that are neither published nor drawn twice, as far as the task has others. Their number is
        ``count``.
    """
    lots = Lots(f"{task.id}/{seed}")
    dtypes = lots.rotation("dtype", task.dtypes, count)
    distributions = lots.rotation("distribution", task.distributions, count)
    layouts = lots.rotation("layout", task.layouts, count)
    taken = {_key(dims) for dims in task.visible}
    impossible: set[tuple[Family, str]] = set()
    wanted = _families(lots, count)
    drawn: list[Shape] = []
    for index in range(count):
        dtype = dtypes[index]
        room = Room(task, dtype, budget, MAX_BYTES if max_bytes is None else max_bytes)
        family, dims = next(wanted), None
        for candidate in (family, *lots.shuffled(f"instead/{index}", [f for f in HIDDEN_FAMILIES if f is not family])):
            if (candidate, dtype) in impossible:
                continue
            dims = _draw_dims(candidate, room, lots.part(f"{index}/{candidate}"), taken)
            if dims is not None:
                family = candidate
                break
            impossible.add((candidate, dtype))
        if dims is None:
            family, dims = _anything(room, lots.part(f"{index}/any"), taken)
        taken.add(_key(dims))
        dims = {name: dims[name] for name in task.dims}
        shape = Shape(dims=dims, dtype=dtype, family=family, distribution=distributions[index], layout=layouts[index])
        drawn.append(shape)
    return drawn


def fit(task: Task, dims: Dims, dtype: str, budget: Budget, *, keep: str | None = None) -> Dims:
    """Shrink a shape into a budget without taming it.

    Parameters
    ----------
    task, dims, dtype
        The shape.
    budget
        What it may cost.
    keep
        A dimension that shrinks only when the others cannot any more, so that loops over it stay long.

    Returns
    -------
    dict
        ``dims`` itself if it fits. Else dimensions are halved, the largest first, each keeping its character (see
        :func:`kernelarena.protocol.sizes.smaller`). A budget that no shape of the task fits gives the smallest that
        halving reaches.
    """
    return _shrunk(Room(task, dtype, budget, None), dims, held={keep} if keep else set())


def visible_trials(task: Task, seed: int, *, budget: Budget | None = None, per_shape: int = 1) -> list[Shape]:
    """List the trials of the correctness gate.

    Parameters
    ----------
    task
        Its published shapes, in each of its dtypes.
    seed
        Where the rotation through distributions and layouts starts.
    budget
        What one trial may cost where it is emulated; shapes are fitted into it, each dtype keeping another dimension.
    per_shape
        Trials of each shape in each dtype.

    Returns
    -------
    list of Shape
        Each published shape in each dtype at least ``per_shape`` times (fewer where fitting makes shapes equal), and
        each distribution and each layout with each dtype.
    """
    lots = Lots(f"{task.id}/{seed}/visible")
    first = lots.below("distribution", len(task.distributions)), lots.below("layout", len(task.layouts))
    kept: list[str | None] = [None, *sorted(name for name, dim in task.dims.items() if sizes.is_free(dim))]
    many, layouts = len(task.visible), len(task.layouts)
    trials: dict[Shape, None] = {}
    for which, dtype in enumerate(task.dtypes):
        for turn in range(max(many * per_shape, len(task.distributions), layouts)):
            # A layout would meet the same shape at every turn if one number divides the other.
            slip = turn // many if many % layouts == 0 else 0
            dims = task.visible[turn % many]
            if budget is not None:
                dims = fit(task, dims, dtype, budget, keep=kept[(turn + which) % len(kept)])
            trials[
                Shape(
                    dims=dims,
                    dtype=dtype,
                    distribution=task.distributions[(first[0] + turn + which) % len(task.distributions)],
                    layout=task.layouts[(first[1] + turn + slip + 2 * which) % layouts],
                )
            ] = None
    return list(trials)


class Lots:
    """Integers drawn from SHA-256 of a key and a label; drawing one never changes another."""

    def __init__(self, key: str) -> None:
        self._key = key

    def part(self, label: str) -> Lots:
        """Return lots of their own for one purpose."""
        return Lots(f"{self._key}/{label}")

    def below(self, label: str, bound: int) -> int:
        """Draw from 0 to ``bound`` - 1."""
        digest = hashlib.sha256(f"{self._key}/{label}".encode()).digest()
        return int.from_bytes(digest, "big") % bound

    def between(self, label: str, low: int, high: int) -> int:
        """Draw from ``low`` to ``high``, both included; ``low`` if there is nothing between."""
        return low + self.below(label, max(high - low, 0) + 1)

    def magnitude(self, label: str, low: int, high: int) -> int:
        """Draw from ``low`` to ``high``, every number of bits as likely as another."""
        if high <= low:
            return low
        bits = self.between(f"{label}/bits", low.bit_length(), high.bit_length())
        return self.between(label, max(low, 1 << bits >> 1), min(high, (1 << bits) - 1))

    def choice(self, label: str, items: Sequence[T]) -> T:
        """Draw one of the items."""
        return items[self.below(label, len(items))]

    def shuffled(self, label: str, items: Sequence[T]) -> list[T]:
        """Return the items in a drawn order."""
        left, order = list(items), []
        while left:
            order.append(left.pop(self.below(f"{label}/{len(left)}", len(left))))
        return order

    def rotation(self, label: str, items: Sequence[T], count: int) -> list[T]:
        """Return ``count`` items: all of them in a drawn order, then again in another, and so on."""
        rounds = -(-count // len(items))
        return [item for turn in range(rounds) for item in self.shuffled(f"{label}/{turn}", items)][:count]


class Room:
    """What shapes of one task and dtype there is room for."""

    def __init__(self, task: Task, dtype: str, budget: Budget | None, max_bytes: int | None) -> None:
        self.task = task
        self.dtype = dtype
        self._budget = budget
        self._max_bytes = max_bytes

    @cached_property
    def published(self) -> list[Dims]:
        """The published shapes, as far as there is room for them."""
        return [_shrunk(self, dims, held=set()) for dims in self.task.visible]

    def fits(self, dims: Dims) -> bool:
        """Tell whether a shape of the task is within the bounds on memory and work."""
        shape = Shape(dims=dims, dtype=self.dtype)
        total = self.task.bytes(shape)
        if self._max_bytes is not None and total > self._max_bytes:
            return False
        if self._budget is None:
            return True
        if self.too_long(dims):
            return False
        return total <= self._budget.elements * ITEMSIZE[self.dtype] and self.task.flops(shape) <= self._budget.flops

    def too_long(self, dims: Dims) -> list[str]:
        """Return the outer dimensions that are larger than the budget lets them be, as far as the task allows less."""
        if self._budget is None or self._budget.outer is None:
            return []
        *outer, _ = self.task.dims
        most = self._budget.outer
        return [name for name in outer if dims[name] > max(most, sizes.smallest(self.task.dims[name]))]

    def published_range(self, name: str) -> tuple[int, int]:
        """Return the smallest and the largest size of a dimension among the published shapes that there is room for."""
        values = [dims[name] for dims in self.published]
        return min(values), max(values)

    def longest(self, name: str) -> int:
        """Return the largest published size of a dimension, room or not: what shapes shrink from keeps them long."""
        return max(dims[name] for dims in self.task.visible)


def _families(lots: Lots, count: int) -> Iterator[Family]:
    return iter(lots.rotation("family", HIDDEN_FAMILIES, count))


def _key(dims: Dims) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(dims.items()))


def _draw_dims(family: Family, room: Room, lots: Lots, taken: set[tuple[tuple[str, int], ...]]) -> Dims | None:
    for attempt in range(ATTEMPTS):
        proposed = _PROPOSALS[family](room, lots.part(str(attempt)))
        if proposed is None:
            return None
        dims, held = proposed
        dims = {name: sizes.at_most(dim, dims[name]) for name, dim in room.task.dims.items()}
        dims = _shrunk(room, dims, held)
        allowed = room.task.why_not(dims) is None and room.fits(dims)
        if allowed and _key(dims) not in taken and belongs(family, dims, room):
            return dims
    return None


def belongs(family: Family, dims: Dims, room: Room) -> bool:
    """Tell whether a shape has what its family is for."""
    free = {name: dims[name] for name, dim in room.task.dims.items() if sizes.is_free(dim)}
    ranges = {name: room.published_range(name) for name in free}
    match family:
        case Family.EDGE:
            return any(size in _ends(room, name) for name, size in free.items())
        case Family.SCALE_UP:
            return any(size > ranges[name][1] for name, size in free.items())
        case Family.SCALE_DOWN:
            below = any(size < ranges[name][0] for name, size in free.items())
            return below and all(size <= ranges[name][1] for name, size in free.items())
        case Family.ALIGNMENT:
            return any(sizes.is_misaligned(size) for size in free.values())
        case Family.ASYMMETRIC:
            return len(free) > 1 and max(free.values()) >= ASYMMETRY * max(min(free.values()), 1)
        case Family.PRODUCTION | Family.VISIBLE:
            return True


def _ends(room: Room, name: str) -> tuple[int, ...]:
    dim = room.task.dims[name]
    low = sizes.smallest(dim)
    return low, sizes.after(dim, low), sizes.at_most(dim, dim.max)


Proposal = tuple[Dims, set[str]]
"""Dims, and the names of those that are what the family is about and shrink last."""


def _free(room: Room) -> list[str]:
    return sorted(name for name, dim in room.task.dims.items() if sizes.is_free(dim))


def _ordinary(room: Room, lots: Lots) -> Dims:
    """Draw sizes up to the largest published ones."""
    return {
        name: lots.magnitude(f"ordinary/{name}", dim.min, room.longest(name)) for name, dim in room.task.dims.items()
    }


def _edge(room: Room, lots: Lots) -> Proposal | None:
    if not (free := _free(room)):
        return None
    held = set(lots.shuffled("which", free)[: lots.between("how many", 1, 2)])
    dims = _ordinary(room, lots)
    for name in sorted(held):
        # The largest size rarely leaves room for the others; the small ends are where kernels break.
        dims[name] = _ends(room, name)[(0, 0, 1, 1, 2)[lots.below(f"end/{name}", 5)]]
    return dims, held


def _scale_up(room: Room, lots: Lots) -> Proposal | None:
    grown = [name for name in _free(room) if room.longest(name) < room.task.dims[name].max]
    if not grown:
        return None
    chosen = lots.choice("which", grown)
    dims = dict(lots.choice("from", room.published))
    dim, high = room.task.dims[chosen], room.longest(chosen)
    size = lots.between("size", max(2 * high, high + 1), 4 * high)
    if size > dim.max:
        size = lots.between("less", high + 1, dim.max)
    # Where only a few sizes exist, the one below may be a published one.
    dims[chosen] = max(sizes.at_most(dim, size), sizes.after(dim, high))
    return dims, {chosen}


def _scale_down(room: Room, lots: Lots) -> Proposal | None:
    shrunk = [name for name in _free(room) if room.published_range(name)[0] > sizes.smallest(room.task.dims[name])]
    if not shrunk:
        return None
    chosen = lots.choice("which", shrunk)
    dims = dict(lots.choice("from", room.published))
    low = room.published_range(chosen)[0]
    dims[chosen] = lots.magnitude("size", max(low // 16, 1), low - 1)
    return dims, {chosen}


def _alignment(room: Room, lots: Lots) -> Proposal | None:
    if not (free := _free(room)):
        return None
    dims = _ordinary(room, lots)
    for name in free:
        high = max(room.longest(name), 3)
        kind = lots.below(f"kind/{name}", 3)
        if kind == 0:
            dims[name] = sizes.previous_prime(lots.magnitude(f"prime/{name}", 3, high))
        else:
            tiles = [tile for tile in sizes.TILES if tile <= high] or [4]
            tile = lots.choice(f"tile/{name}", tiles)
            times = 1 if kind == 1 else lots.between(f"times/{name}", 1, max(high // tile, 1))
            dims[name] = tile * times + lots.choice(f"side/{name}", (-1, 1))
    return dims, {lots.choice("long", free)}


def _asymmetric(room: Room, lots: Lots) -> Proposal | None:
    if len(free := _free(room)) < 2:
        return None
    long, short, *_ = lots.shuffled("which", free)
    dims = _ordinary(room, lots)
    high = room.longest(long)
    dims[short] = lots.between("short", sizes.smallest(room.task.dims[short]), 4)
    dims[long] = lots.magnitude("long", max(high // 4, ASYMMETRY), min(4 * high, room.task.dims[long].max))
    return dims, {long, short}


def _production(room: Room, lots: Lots) -> Proposal | None:
    if not room.task.production:
        return None
    dims = dict(lots.choice("from", room.task.production))
    free = _free(room)
    if free and lots.below("changed", 2):
        name = lots.choice("which", free)
        size = dims[name]
        dims[name] = lots.choice("how", (size - 1, size + 1, size // 2, size + size // 2, 2 * size))
    return dims, {lots.choice("kept", free)} if free else set()


_PROPOSALS: dict[Family, Callable[[Room, Lots], Proposal | None]] = {
    Family.EDGE: _edge,
    Family.SCALE_UP: _scale_up,
    Family.SCALE_DOWN: _scale_down,
    Family.ALIGNMENT: _alignment,
    Family.ASYMMETRIC: _asymmetric,
    Family.PRODUCTION: _production,
}


def _anything(room: Room, lots: Lots, taken: set[tuple[tuple[str, int], ...]]) -> tuple[Family, Dims]:
    """Return any shape of the task, a new one if there is one, for tasks of few sizes."""
    ranges = []
    for name in sorted(room.task.dims):
        values = [sizes.smallest(room.task.dims[name])]
        while len(values) <= SPACE and (larger := sizes.after(room.task.dims[name], values[-1])) != values[-1]:
            values.append(larger)
        ranges.append(lots.shuffled(f"sizes/{name}", values))
    names = sorted(room.task.dims)
    for combination in itertools.islice(itertools.product(*ranges), SPACE):
        dims = dict(zip(names, combination, strict=True))
        if _key(dims) not in taken and room.task.why_not(dims) is None and room.fits(dims):
            return next(family for family in (*_PROPOSALS, Family.PRODUCTION) if belongs(family, dims, room)), dims
    return Family.EDGE, dict(lots.choice("published", room.published))


def _shrunk(room: Room, dims: Dims, held: set[str]) -> Dims:
    while room.task.why_not(dims) is not None or not room.fits(dims):
        if (less := _step(room, dims, held)) is None:
            return dims
        dims = less
    return dims


def _step(room: Room, dims: Dims, held: set[str]) -> Dims | None:
    """Make one dimension smaller: one that is too long, else the largest not held and not short, else any."""
    broken = room.task.why_not(dims) is not None  # then a smaller shape may be broken as well, on the way out
    by_size = sorted(dims, key=lambda name: (-dims[name], name))
    long = room.too_long(dims)
    easy = [*long, *(name for name in by_size if name not in held and dims[name] > SHORT and name not in long)]
    for names in (*((name,) for name in (*easy, *(n for n in by_size if n not in easy))), tuple(by_size)):
        less = dims | {name: sizes.at_most(room.task.dims[name], sizes.smaller(dims[name])) for name in names}
        shrunk = less != dims and all(less[name] <= dims[name] for name in names)
        if shrunk and (broken or room.task.why_not(less) is None):
            return less
    return None
