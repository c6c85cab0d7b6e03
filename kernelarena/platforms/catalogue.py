"""The platforms that a command can name: every ``platforms/<id>.yaml``, and the words that resolve to one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from kernelarena.errors import InputError, nearest
from kernelarena.platforms.backend import Backend, Device, backend_for
from kernelarena.spec import Platform
from kernelarena.spec.paths import folders
from kernelarena.spec.places import Place, look, refusal
from kernelarena.spec.yamlfile import Document


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
        as its id, names an architecture that its backend does not know, takes a word that another platform answers
        to, or borrows its persona from a platform that has none.
    """
    files: dict[str, Path] = {}
    for folder in folders("platforms"):
        files.update(_inside(folder))
    for folder in extra:
        found = _inside(folder)
        if not found:
            problem = "holds no platform file (<id>.yaml)" if look(folder) is Place.FOLDER else "no such folder"
            raise InputError(f"{folder}: {problem}; --platforms-dir takes a folder of platform files")
        files.update(found)
    documents = {stem: Document(path) for stem, path in sorted(files.items())}
    platforms = {stem: document.fit(Platform) for stem, document in documents.items()}
    for stem, platform in platforms.items():
        _check(platform, documents[stem], platforms)
    _check_words(platforms, documents)
    return platforms


def _inside(folder: Path) -> dict[str, Path]:
    """Return the platform files of a folder, by their names without the suffix."""
    if look(folder) is not Place.FOLDER:
        return {}
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    except OSError as error:
        raise refusal(folder, error) from None
    stems = [path.stem for path in paths]
    for path in paths:
        if stems.count(path.stem) > 1:
            raise InputError(f"{path}: the folder holds {path.stem}.yaml and {path.stem}.yml; keep one of them")
    return {path.stem: path for path in paths}


def _check(platform: Platform, document: Document, known: Mapping[str, Platform]) -> None:
    """Raise unless a file that fits the model also makes sense among the others, and to the backend that it names."""
    problems = []
    if platform.id != document.path.stem:
        problems.append(
            ("id", f"'{platform.id}' must be the name of the file; rename the file to {platform.id}.yaml, or the id")
        )
    backend = backend_for(platform)
    if backend is not None:
        problems += backend.problems(platform)
    if platform.persona is not None:
        lender = known.get(platform.persona)
        if lender is None:
            problem = f"there is no platform '{platform.persona}'; {nearest(platform.persona, known)}"
            problems.append(("persona", problem))
        elif not _has_answers(lender):
            problems.append(("persona", f"'{lender.id}' has no answers to lend: nothing here compiles for it"))
    if problems:
        raise InputError(*(document.problem(key, problem) for key, problem in problems))


def _has_answers(lender: Platform) -> bool:
    backend = backend_for(lender)
    return lender.limits is not None and backend is not None and backend.triton_target(lender) is not None


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
                hint = nearest(name.casefold(), words, stands_for=words)
                raise InputError(f"unknown platform '{name}': {hint}") from None
            found[id_] = platforms[id_]
    if not found:
        raise InputError(f"no platform is named: {nearest('', platforms)}")
    return list(found.values())


def platform_of(backend: Backend, device: Device, platforms: Iterable[Platform]) -> Platform | None:
    """Return the platform that a device of ``backend`` is, or None where no file describes it."""
    return next((each for each in platforms if each.backend == backend.name and backend.match(device, each)), None)


def _words(platforms: Mapping[str, Platform]) -> dict[str, str]:
    """Every word that names a platform, casefolded, and the id that it stands for."""
    return {word.casefold(): id_ for id_, platform in platforms.items() for word in (id_, *platform.aliases)}


def _check_words(platforms: Mapping[str, Platform], documents: Mapping[str, Document]) -> None:
    """Let no word name two platforms."""
    owner: dict[str, str] = {}
    for id_, platform in platforms.items():
        for word in dict.fromkeys(word.casefold() for word in (id_, *platform.aliases)):
            if other := owner.get(word):
                raise documents[id_].error(
                    "aliases",
                    f"'{word}' also names the platform of {documents[other].path}; take it out of one of the two files",
                )
            owner[word] = id_
