"""``num-warps``: more threads than a block may have, once warps are wider."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule, where
from kernelarena.spec import Platform


class NumWarps(Rule):
    """``num_warps`` times the lanes of a warp exceeds the threads of a block.

    Among the configurations of an autotuner one that fits is enough: it leaves out those that do not.
    """

    id = "num-warps"
    summary = "A num_warps that is too many threads on a chip with wider warps."

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Look at launches, at what their ``num_warps`` may be, and at lists of configurations as a whole."""
        choices: dict[ast.AST, list[ast.expr | None]] = defaultdict(list)
        names = {"num_warps"}
        for call in unit.nodes(ast.Call):
            given = next((keyword.value for keyword in call.keywords if keyword.arg == "num_warps"), None)
            if unit.dotted(call.func) == "triton.Config":
                lists = (each for each in unit.ancestors(call) if isinstance(each, ast.List | ast.ListComp))
                choices[next(lists, call)].append(given)
            elif isinstance(call.func, ast.Subscript) and isinstance(given, ast.Name):
                names.add(given.id)
            elif isinstance(call.func, ast.Subscript):
                choices[call].append(given)
        for name in sorted(names):
            for value in filter(None, unit.values(name)):
                choices[value].append(value)
        for given_warps in choices.values():
            yield from _too_many(unit, given_warps, platforms)


def _too_many(unit: PythonUnit, given: list[ast.expr | None], platforms: Sequence[Platform]) -> Iterator[Fault]:
    """Yield a fault if the least of what may be chosen from is too much; what is not known may be little enough."""
    known = [(warps, node) for node in given if node is not None and (warps := unit.integer(node)) is not None]
    if len(known) < len(given) or not known:
        return
    least, node = min(known, key=lambda each: each[0])
    over = [
        (platform, platform.limits)
        for platform in platforms
        if platform.limits is not None and least * platform.limits.warp_size > platform.limits.max_threads_per_block
    ]
    if not over or unit.is_guarded(node):
        return
    limits = over[0][1]
    yield Fault(
        unit.span(node),
        where(platform for platform, _ in over),
        f"{least} warps of {limits.warp_size} lanes are {least * limits.warp_size} threads, and a block may have"
        f" {limits.max_threads_per_block}",
        f"at most {limits.max_threads_per_block // limits.warp_size} warps, or an autotuned choice that holds as few",
    )
