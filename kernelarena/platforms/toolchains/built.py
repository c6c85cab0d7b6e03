"""What has been built in one process, carried to another that would build the same.

A process of its own compiles a kernel for a chip, and another runs it there; both would compile alike. Triton keeps
what it built in a folder, by the digest of everything that it depends on, so the other process finds it if that folder
is filled before. Object files of C++ lie beside that, by digests of ours (:mod:`.cpp.objects`). Only the bytes travel:
an entry of Triton's lists its files by absolute paths, which are written anew.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

Built = Mapping[str, bytes]
"""Contents of files, by ``folder/file``."""
MOST_BYTES = 64 << 20
"""Of all files of one kernel together."""
_MOST_AT_ONCE = 6 << 20
"""Characters of one entry as it is told: less than a process may say in one message."""
FOLDER = "built"
"""Of all of them, in the folder that a process may write to."""
_NAME = re.compile(r"[A-Za-z0-9_\-]{1,100}/(?!\.)[A-Za-z0-9_.\-]{1,200}")
_GROUP = "__grp__"
_LIBRARY = ".so"
OF_THE_HOST = "host-"
"""What the names of entries begin with that are the same for all kernels, and that no kernel's process is asked for."""


def collect(folder: Path) -> Iterator[dict[str, str]]:
    """Yield what lies in the folder, an entry at a time, as plain data (deflated, base 64).

    What is too much is left out: whoever misses it builds it.
    """
    left = MOST_BYTES
    for entry in sorted(path for path in folder.glob("*") if path.is_dir() and not path.name.startswith(OF_THE_HOST)):
        files = {f"{entry.name}/{path.name}": path.read_bytes() for path in sorted(entry.iterdir()) if path.is_file()}
        left -= sum(map(len, files.values()))
        if left < 0:
            return
        told = {name: base64.b64encode(zlib.compress(data, 1)).decode() for name, data in files.items()}
        if sum(map(len, told.values())) < _MOST_AT_ONCE:
            yield told


def decoded(told: object) -> dict[str, bytes]:
    """Return files that a process told of.

    Raises
    ------
    ValueError
        If that is not what they are: a wrong form, names that lead elsewhere, too much.
    """
    if not isinstance(told, dict):
        raise ValueError("files are told by name")
    files: dict[str, bytes] = {}
    left = MOST_BYTES
    for name, data in told.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name) and isinstance(data, str)):
            raise ValueError(f"'{str(name)[:100]}' is no file of an entry")
        files[name] = _inflated(data, left)
        left -= len(files[name])
    return files


def libraries(built: Built) -> dict[str, bytes]:
    """Return the shared libraries of the host's, which do not depend on any kernel."""
    return {name: data for name, data in built.items() if name.endswith(_LIBRARY)}


def kernels(built: Built) -> dict[str, bytes]:
    """Return everything else."""
    return {
        name: data for name, data in built.items() if not name.endswith(_LIBRARY) and not name.startswith(OF_THE_HOST)
    }


def packed(built: Built, *, deflated: bool = True) -> bytes:
    """Return files as one archive; deflated to be kept, and not where it only goes from one process to another."""
    buffer = io.BytesIO()
    form = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", form, compresslevel=1) as archive:
        for name, data in built.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def unpacked(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive; none where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as entries:
            return {entry.filename: entries.read(entry) for entry in entries.infolist()}
    except (zipfile.BadZipFile, zlib.error, OSError):
        return {}


def lay(built: Built, folder: Path) -> None:
    """Write files into the folder, so that whoever builds takes them for its own."""
    for name, data in built.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name[:100]}' is no file of an entry")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_listed_anew(data, path.parent) if path.name.startswith(_GROUP) else data)


def _listed_anew(group: bytes, folder: Path) -> bytes:
    children = json.loads(group)["child_paths"]
    return json.dumps({"child_paths": {name: str(folder / Path(name).name) for name in children}}).encode()


def _inflated(data: str, most: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        made = stream.decompress(base64.b64decode(data, validate=True), most + 1)
    except (zlib.error, binascii.Error) as error:
        raise ValueError(f"what a file holds cannot be read: {error}") from None
    if len(made) > most or not stream.eof:
        raise ValueError(f"more than {MOST_BYTES >> 20} MiB were built")
    return made
