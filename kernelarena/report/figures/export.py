"""Figures as files, for papers and pull requests: SVG and PNG, in light colours, made without a browser."""

from __future__ import annotations

from pathlib import Path

from kernelarena.report.figures import figures
from kernelarena.report.figures.figure import Figure, Missing, Panel, Spec
from kernelarena.report.figures.look import CONFIG
from kernelarena.report.palette import painted
from kernelarena.report.text import listing
from kernelarena.report.view import View
from kernelarena.spec import textfile
from kernelarena.spec.places import refusal

_WHOLE, _PART = 600, 340
_SHARPNESS = 2
"""Pixels of a PNG for each unit of length."""


def write(view: View, folder: Path) -> tuple[list[Path], list[Missing]]:
    """Write each figure that the run has data for as ``<id>.svg`` and ``<id>.png``.

    Returns
    -------
    paths, missing
        What was written, and the figures that the run has no data for.

    Raises
    ------
    InputError
        If the folder cannot be made or written to.
    InfraError
        If there is no room.
    """
    made, missing = figures(view)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(folder, error, "cannot be made") from None
    written = []
    for figure in made:
        spec = drawn_apart(figure)
        for form, content in (("svg", _svg(spec)), ("png", _png(spec))):
            path = folder / f"{figure.id}.{form}"
            try:
                textfile.replace(path, content)
            except OSError as error:
                raise refusal(path, error, "cannot be written") from None
            written.append(path)
    return written, missing


def drawn_apart(figure: Figure) -> Spec:
    """Return a figure as one specification that says what it shows, since no page around it does."""
    alone = len(figure.panels) == 1
    title = {"text": figure.title, "subtitle": f"evidence: {listing([kind.value for kind in figure.evidence])}"}
    shared = {"config": {**CONFIG, "background": "var(--surface)", "padding": 16}, "title": title}
    if alone:
        return painted({**figure.panels[0].spec, **shared, "width": _WHOLE, "autosize": "pad"})
    columns = 3 if len(figure.panels) % 3 == 0 else 2
    panels = [_part(panel) for panel in figure.panels]
    return painted({"$schema": panels[0]["$schema"], "concat": panels, "columns": columns, **shared})


def _part(panel: Panel) -> Spec:
    rest = {name: value for name, value in panel.spec.items() if name != "autosize"}
    return {**rest, "width": _PART, "title": {"text": panel.title, "fontSize": 12, "color": "var(--soft)"}}


def _svg(spec: Spec) -> str:
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _png(spec: Spec) -> bytes:
    import vl_convert

    return vl_convert.vegalite_to_png(spec, scale=_SHARPNESS, allowed_base_urls=[])
