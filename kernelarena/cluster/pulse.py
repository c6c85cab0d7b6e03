"""Whether Ray is still there. A driver whose daemons have died is told nothing, and would wait for ever."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping

_EVERY_S = 1.0
_CONNECT_S = 2.0
_MISSES = 3
"""In a row. A host that is busy may be late once; one that refuses the connection has no such daemon any more."""


class Pulse:
    """Asks daemons from time to time whether they still listen.

    Parameters
    ----------
    daemons
        Addresses (``host:port``) by what listens there.
    """

    def __init__(self, daemons: Mapping[str, str]) -> None:
        self._daemons = dict(daemons)
        self._missed: dict[str, int] = {}
        self._next = time.monotonic() + _EVERY_S

    @classmethod
    def of_ray(cls) -> Pulse:
        """Return the pulse of the Ray that this process is connected to: its control store, and this host's daemon."""
        import ray

        context = ray.get_runtime_context()
        daemons = {"control store": str(context.gcs_address)}
        own = context.get_node_id()
        for node in ray.nodes():
            if node["NodeID"] == own:
                daemons["daemon on this host"] = f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"
        return cls({name: address for name, address in daemons.items() if address.rpartition(":")[2].isdigit()})

    def lost(self) -> str | None:
        """Return what has gone, or None. It asks at most once a second, and otherwise costs nothing."""
        if time.monotonic() < self._next:
            return None
        found = next((name for name, address in self._daemons.items() if not self._beats(name, address)), None)
        self._next = time.monotonic() + _EVERY_S
        return None if found is None else f"Ray's {found} at {self._daemons[found]} is gone"

    def _beats(self, name: str, address: str) -> bool:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
        except ConnectionRefusedError:
            return False
        except OSError:
            self._missed[name] = self._missed.get(name, 0) + 1
            return self._missed[name] < _MISSES
        self._missed[name] = 0
        return True
