"""The platforms that a command can name: every ``platforms/<id>.yaml``, and the words that resolve to one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from kernelarena.errors import InputError, nearest
from kernelarena.spec import Platform
from kernelarena.spec.paths import folders
from kernelarena.spec.yamlfile import read


def load(extra: Iterable[Path] = ()) -> dict[str, Platform]:
    """Read every platform file: the shipped ones, those of ``KERNELARENA_PATH``, then those of ``extra``.

    A file of a later folder replaces the one of the same id of an earlier folder, so that a figure can be put right
    without touching the package.

    Parameters
    ----------
    extra
        Folders given on the command line, which hold ``<id>.yaml`` files.

    Returns
    -------
    dict of str to Platform
        By id, in alphabetical order.

    Raises
    ------
    InputError
        If a folder of ``extra`` does not exist or holds no platform; if a file does not fit the model, is not named
        as its id, takes a word that another platform answers to, or lends its persona from a platform that does not
        exist.
    """
    extra = list(extra)
    files: dict[str, Path] = {}
    for folder in folders("platforms", extra):
        found = sorted(path for path in folder.glob("*.y*ml") if path.suffix in (".yaml", ".yml"))
        if folder in extra and not found:
            problem = "holds no platform file (<id>.yaml)" if folder.is_dir() else "no such folder"
            raise InputError(f"{folder}: {problem}; --platforms-dir takes a folder of platform files")
        files.update((path.stem, path) for path in found)
    platforms = {stem: read(path, Platform) for stem, path in sorted(files.items())}
    for stem, platform in platforms.items():
        if platform.id != stem:
            raise InputError(
                f"{files[stem]}: id: '{platform.id}' must be the name of the file; rename it to {platform.id}.yaml"
            )
        if platform.persona is not None and platform.persona not in platforms:
            raise InputError(
                f"{files[stem]}: persona: there is no platform '{platform.persona}'; "
                f"{nearest(platform.persona, platforms)}"
            )
    _check_words(platforms, files)
    return platforms


def resolve(names: Iterable[str] | str, platforms: Mapping[str, Platform]) -> list[Platform]:
    """Turn what a user wrote into platforms, each once, in the order in which they were named.

    Parameters
    ----------
    names
        Ids or aliases, in any case; each item may be a comma-separated list.
    platforms
        What :func:`load` returned.

    Returns
    -------
    list of Platform

    Raises
    ------
    InputError
        If a name is not known, with the nearest ones, or if nothing is named at all.
    """
    words = _words(platforms)
    found: dict[str, Platform] = {}
    for item in [names] if isinstance(names, str) else names:
        for name in filter(None, (part.strip() for part in item.split(","))):
            try:
                id_ = words[name.casefold()]
            except KeyError:
                raise InputError(f"unknown platform '{name}': {nearest(name.casefold(), words)}") from None
            found[id_] = platforms[id_]
    if not found:
        raise InputError(f"no platform is named: {nearest('', platforms)}")
    return list(found.values())


def _words(platforms: Mapping[str, Platform]) -> dict[str, str]:
    """Every word that names a platform, casefolded, and the id that it stands for."""
    return {word.casefold(): id_ for id_, platform in platforms.items() for word in (id_, *platform.aliases)}


def _check_words(platforms: Mapping[str, Platform], files: Mapping[str, Path]) -> None:
    """Let no word name two platforms."""
    owner: dict[str, str] = {}
    for id_, platform in platforms.items():
        for word in dict.fromkeys(word.casefold() for word in (id_, *platform.aliases)):
            if other := owner.get(word):
                raise InputError(
                    f"{files[id_]}: aliases: '{word}' also names the platform of {files[other]}; "
                    "take it out of one of the two files"
                )
            owner[word] = id_
