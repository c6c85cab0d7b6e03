"""CUDA C++ in HIP's names, by the table that PyTorch translates its own sources with (``torch.utils.hipify``)."""

from __future__ import annotations

import difflib
import importlib.metadata
import re
from functools import cache

MOST_CHARACTERS = 8000
"""Of what is told of a translation; a kernel that changes in more places is told of in part."""
_CODE = re.compile(
    r"""//(?:\\\r?\n|[^\n])* | /\*.*?(?:\*/|\Z)            # comments stay as they are
      | \#[ \t]*include\b[^\n]*                            # may name a header in quotes, and is no text
      | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'
      | (?:[^/"'\#]|/(?![/*])|\#(?![ \t]*include\b))+ | .""",
    re.DOTALL | re.VERBOSE,
)


def version() -> str:
    """Return what translates, with its version."""
    return f"torch {importlib.metadata.version('torch')}'s hipify"


def translated(text: str) -> str:
    """Return a source in HIP's names: each line stays where it is, so that what a compiler says of it holds for both.

    Comments and literals are left alone. A name that the table does not have stays, and the compiler will say so.
    """
    return _CODE.sub(lambda match: match[0] if _is_text(match[0]) else _in_hips_names(match[0]), text)


def difference(file: str, before: str, after: str) -> str:
    """Return how a source was changed, as a patch without context; empty where it was not."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{file} (CUDA)", f"{file} (HIP)", "", "", 0, ""
    )
    whole = "\n".join(lines)
    if len(whole) <= MOST_CHARACTERS:
        return whole
    cut = whole[:MOST_CHARACTERS].rpartition("\n")[0]
    return f"{cut}\n… and {whole.count(chr(10)) - cut.count(chr(10))} lines more"


def _is_text(piece: str) -> bool:
    return piece.startswith(("//", "/*", '"', "'"))


def _in_hips_names(code: str) -> str:
    expression, names = _table()
    return expression.sub(lambda match: str(names[match[0]]), f"\n{code}\n")[1:-1]  # it takes no name at either end


@cache
def _table() -> tuple[re.Pattern[str], dict[str, object]]:
    from torch.utils.hipify import hipify_python  # half a second, which no other kernel has to wait

    return hipify_python.RE_PYTORCH_PREPROCESSOR, hipify_python.PYTORCH_MAP
