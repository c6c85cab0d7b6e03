"""What an examination of a host says of the layers that enclose kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelarena.judge.enclosure import bubblewrap
from kernelarena.judge.enclosure.layers import SWITCH, Layer, substitute_allowed, switched_off
from kernelarena.judge.enclosure.probe import probe
from kernelarena.platforms.doctor import Finding, ok, warning

_ALLOW = (
    "allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container, "
    "--security-opt seccomp=unconfined; or install bubblewrap"
)


def isolation(devices: Iterable[str] = ()) -> Iterator[Finding]:
    """Try each layer, as for candidates of this host.

    Parameters
    ----------
    devices
        Device nodes that they need.

    Raises
    ------
    InputError
        If :data:`~kernelarena.judge.enclosure.SWITCH` names something that is no layer.
    """
    plan = probe(devices)
    missing = plan.isolation.missing
    if not missing:
        yield ok("isolation", f"all {len(Layer)} layers")
        return
    off = switched_off()
    chosen = [layer for layer in missing if layer in off]
    refused = {layer: why for layer, why in missing.items() if layer not in off}
    if chosen:
        yield warning("isolation", f"left out: {', '.join(sorted(chosen))}", f"unset {SWITCH}")
    if not refused:
        return
    said = ", ".join(f"{layer} ({why})" for layer, why in sorted(refused.items()))
    alone = plan.has(Layer.USER) or plan.has(Layer.FILES)
    if not alone and substitute_allowed() and bubblewrap.command(plan.view) is not None:
        yield warning("isolation", "by bubblewrap: candidates of a worker share one enclosure", _ALLOW)
        return
    yield warning("isolation", f"kernels run without: {said}", f"{_ALLOW} (docs/trust.md)")
