"""Which device a runtime's environment variables show, and by what name a process shows itself just one of them.

Runtimes number what they are shown. A number that one process was told means another device to a process that is shown
others, so that a device without a name of its own has to be traced back to the number that the driver would give it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# A number (of a part of a device: 0.1), or a name: GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, MIG-…
_ENTRY = re.compile(r"\d+(\.\d+)*|[A-Za-z]+-\S+", re.ASCII)


def unreadable(value: str) -> str | None:
    """Return the first entry of such a variable that no runtime can take for a device, or None where there is none.

    A runtime shows the devices that stand before such an entry, and none after it (CUDA C++ Programming Guide, "CUDA
    Environment Variables").
    """
    return next((word for entry in value.split(",") if not _ENTRY.fullmatch(word := entry.strip())), None)


@dataclass(frozen=True)
class Visibility:
    """The variables by which a runtime is shown some of a host's devices.

    Attributes
    ----------
    layers
        From the driver outwards: each layer chooses from what the one before it leaves. Within a layer the variables
        are spellings of one thing, of which the first that is set counts.
    """

    layers: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every variable of every layer."""
        return tuple(name for layer in self.layers for name in layer)

    def only(self, number: int, identifier: str, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the one variable that shows a device alone, to a process that has none of the others.

        One variable and not one a layer: with two, the second counts within what the first leaves, and where both name
        the same device by its number on the host, it names none.

        Parameters
        ----------
        number
            Of the device, as a process with this ``environment`` numbers it.
        identifier
            How the first layer calls the device whatever else is shown; empty where it has no name of that kind.
        environment
            Of the process that numbered it.

        Raises
        ------
        RuntimeError
            If the variables that are set show fewer devices than that.
        """
        return {self.layers[0][0]: identifier or self._traced(number, environment)}

    def _traced(self, number: int, environment: Mapping[str, str]) -> str:
        word = str(number)
        for layer in reversed(self.layers):
            name = next((name for name in layer if environment.get(name)), None)
            if name is None:
                continue
            shown = [entry.strip() for entry in environment[name].split(",")]
            if int(word) >= len(shown):
                raise RuntimeError(f"{name}='{environment[name]}' shows no device of number {word}")
            word = shown[int(word)]
            if not word.isdecimal():  # a name: the layer's own, and those below it are not asked by number any more
                return word
        return word
