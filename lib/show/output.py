"""What a cell of a chapter shows: numbered tables and figures with their data as CSV, and sentences with numbers."""

import io
import json
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lib.schema import NeedsFilings
from lib.show.display import HEADS, TITLES, Shown, markdown_table, p_value, seconds, typeset
from lib.show.drawn import NARROW, OF_DEMO, PAGES, for_phone
from lib.show.markup import PLACEHOLDER, as_csv, escape
from lib.show.tables import title
from lib.study import Study

PAGE_COMMENT = "shows a page of a filing"
NOTHING = "Nothing to show: no row of this run has it."


class Interval(NamedTuple):
    """The columns of a frame that a table prints as one cell, ``0.46 [0.38, 0.54]``; ``sign`` is ``+`` for signs."""

    mean: str
    low: str
    high: str
    sign: str = ""


def interval(mean: str, low: str = "", high: str = "") -> Interval:
    """A mean with its interval; its ends are by default in ``<mean>_low`` and ``<mean>_high``."""
    return Interval(mean, low or f"{mean}_low", high or f"{mean}_high")


def gain(difference: str = "difference", low: str = "", high: str = "") -> Interval:
    """As :func:`interval`, of a difference: ``+0.10 [+0.02, +0.18]``."""
    return interval(difference, low, high)._replace(sign="+")


Column = str | Interval
#: What a table prints of a frame of :func:`lib.stats.compare`, behind its methods.
COMPARED: dict[str, Column] = {"Difference": gain(), "Verdict": "verdict"}


def show(
    study: Study,
    thing: pd.DataFrame | Figure | Path | Callable[[], pd.DataFrame | Figure] | None,
    name: str,
    caption: str = "",
    takeaway: str = "",
    /,
    *,
    columns: Sequence[Column] | Mapping[str, Column] = (),
    data: pd.DataFrame | None = None,
    alt: str = "",
    empty: str = "",
    **values: object,
) -> Shown:
    """A numbered table (``tab-<name>``) or figure (``fig-<name>``), with its data as CSV in the study's outputs.

    Args:
        thing: a frame, whose named index is its first column; a figure, which stays open; the file of a drawing; or a
            function that makes one, and may raise NeedsFilings, which is then shown.
        caption, takeaway, alt: with placeholders, see :func:`filled`; the takeaway is a sentence in bold, and ``alt``
            the figure in words, by default what its plot says of itself and the caption.
        columns: what a table prints, by headings or by the names of columns; by default all columns.
        data: what the CSV contains; by default the frame that is shown. A figure without data has no CSV.
        empty: the sentence in place of a table or figure without rows.
        values: of the placeholders.
    """
    try:
        thing = thing() if callable(thing) else thing
    except NeedsFilings as reason:
        return say(study, "*Not shown: {reason}.*", reason=reason)
    thing = thing.reset_index() if isinstance(thing, pd.DataFrame) and thing.index.name else thing
    data = thing if data is None and isinstance(thing, pd.DataFrame) else data
    if thing is None or (empty and data is not None and data.empty):
        return say(study, empty or NOTHING)
    texts = [filled(study, text, values) for text in (caption, takeaway)]
    if isinstance(thing, pd.DataFrame):
        return _table(study, thing, name, *texts, columns, data)
    if isinstance(thing, Path):
        study.write(f"figures/{thing.name}", thing.read_bytes())
        return drawing(study, thing.stem, name, texts[0], filled(study, alt or caption, values, str), texts[1])
    alt = alt or f"{getattr(thing, 'alt', '')} {caption}".strip()
    return _figure(study, thing, name, *texts, filled(study, alt, values, str), data)


def say(study: Study, text: str, /, **values: object) -> Shown:
    """A paragraph, or a list, whose numbers are computed: Markdown with placeholders, see :func:`filled`."""
    return Shown(filled(study, text, values))


def joined(parts: Iterable[Shown]) -> Shown:
    """Several figures or tables as one output, below each other; the reason, where making one raises NeedsFilings."""
    try:
        texts, folders = zip(*parts, strict=True) if (parts := [*parts]) else ((NOTHING,), (None,))
    except NeedsFilings as reason:
        return Shown(f"*Not shown: {escape(reason)}.*")
    return Shown("\n".join(texts), folders[0])


def filled(study: Study, text: str, values: Mapping[str, object], form: Callable[[object], str] = escape) -> str:
    """A text whose placeholders are replaced: ``{name}`` or ``{name:format}``, of ``values``, the chapter's parameters,
    ``{n}`` questions of ``{companies}`` companies, ``{dataset}`` and ``{profile}``.

    A float has two digits by default, a whole number thousands separators, and what is missing is a dash. Texts are
    escaped. A KeyError names a placeholder without a value.
    """
    known = {"n": len(study.questions), "companies": study.questions["company"].nunique()}
    known |= {"dataset": study.dataset.name, "profile": study.profile.name} | study.parameters | dict(values)
    return PLACEHOLDER.sub(lambda found: form(_formatted(known[found[1]], found[2] or "")), text)


def _formatted(value: object, spec: str) -> object:
    if isinstance(value, (float, np.floating)):
        return "–" if np.isnan(value) else typeset(format(value, spec or ".2f"))
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return typeset(format(value, spec or ",")) if is_whole else format(value, spec) if spec else value


def printed(frame: pd.DataFrame, columns: Sequence[Column] | Mapping[str, Column] = ()) -> pd.DataFrame:
    """The cells of a frame as a table prints them.

    ``p…`` is a p-value and ``…_s`` seconds; names of methods, metrics and conditions are printed as their titles.
    """
    columns = columns or [*frame]
    named = columns if isinstance(columns, Mapping) else {_heading(one): one for one in columns}
    return pd.DataFrame({head: cells(frame, column) for head, column in named.items()}, frame.index)


def _heading(column: Column) -> str:
    name = column if isinstance(column, str) else column.mean
    is_written = any(map(str.isupper, name)) or " " in name
    return HEADS.get(name) or (name if is_written else name.replace("_", " ").capitalize())


def cells(frame: pd.DataFrame, column: Column) -> list:
    """The cells of one column, see :func:`printed`."""
    if isinstance(column, Interval):
        *ends, sign = column
        form = f"{{:{sign}.2f}} [{{:{sign}.2f}}, {{:{sign}.2f}}]".format
        return ["–" if pd.isna(row[0]) else form(*row) for row in zip(*(frame[end] for end in ends), strict=True)]
    values = frame[column]
    if column == "method":
        return [*map(title, values)]
    for titles in TITLES:
        if len(values) and values.dtype == object and values.isin(list(titles)).all():
            return [*map(titles.get, values)]
    if pd.api.types.is_bool_dtype(values):
        return ["yes" if cell else "no" for cell in values]
    if not pd.api.types.is_float_dtype(values):
        return [f"{cell:,}" if isinstance(cell, int) and abs(cell) >= 10_000 else cell for cell in values.tolist()]
    if column == "p" or column.startswith("p_"):
        return [*map(p_value, values)]
    form = seconds if column.endswith("_s") else "{:.2f}".format
    return ["–" if pd.isna(cell) else form(cell) for cell in values]


def _table(
    study: Study, frame: pd.DataFrame, name: str, caption: str, takeaway: str, columns, data: pd.DataFrame
) -> Shown:
    study.write(f"tables/{name}.csv", as_csv(data))
    shown = printed(frame, columns)
    shown = shown if len(frame) else pd.DataFrame([dict.fromkeys(list(shown) or ["Nothing known"], "–")])
    if len(shown) > 1 and "n" in shown and set(shown["n"].astype(str)) == {str(len(study.questions))}:
        shown = shown.drop(columns="n")  # every row has all questions: the caption gives their number once
        caption += "" if "n =" in caption else f" n = {len(study.questions)}."
    head = f"{{table}} {_with_data(caption, f'tables/{name}.csv')}\n:name: tab-{name}\n:class: study-table"
    return _numbered(head, markdown_table(shown), takeaway)


def _figure(
    study: Study, figure: Figure, name: str, caption: str, takeaway: str, alt: str, data: pd.DataFrame | None
) -> Shown:
    """The outputs get ``figures/<name>.svg``, transparent, and ``figures/narrow/<name>.svg`` for phones where
    :func:`lib.show.drawn.for_phone` can lay it out. A page of a filing is a ``.png``, as drawings are inverted in dark
    mode; it is not published unless it is OF_DEMO."""
    figure, is_copy = _copied(figure)
    svg, png, narrow = f"{name}.svg", f"{name}.png", f"{NARROW}/{name}.svg"
    if pages := {axes.get_gid() for axes in figure.axes} & {*PAGES}:
        metadata = {"Software": None, "Comment": None if pages == {OF_DEMO} else PAGE_COMMENT}
        files = {png: _saved(figure, "png", dpi=150, facecolor="white", metadata=metadata)}
    else:
        FigureCanvasAgg(figure).draw()  # as a layout settles with the second drawing
        style = {"transparent": True, "metadata": {"Date": None, "Creator": None}}
        files = {svg: _saved(figure, "svg", **style)}
        if is_copy and for_phone(figure):
            files[narrow] = _saved(figure, "svg", **style)
    for file in (svg, png, narrow):
        (study.outputs / "figures" / file).unlink(missing_ok=True)
    for file, content in files.items():
        study.write(f"figures/{file}", content)
    if data is not None:
        study.write(f"figures/{name}.csv", as_csv(data))
    return drawing(study, name, name, caption, alt, takeaway)


def _copied(figure: Figure) -> tuple[Figure, bool]:
    """A copy to be laid out again, as the figure stays its maker's, and whether it is one: a figure with a function of
    its own, as bar_label leaves, cannot be copied. Jupyter does not show the figure a second time."""
    plt.close(figure)
    try:
        copy = pickle.loads(pickle.dumps(figure))
    except (pickle.PicklingError, AttributeError, TypeError):
        return figure, False
    FigureCanvasAgg(copy)
    return copy, True


def _saved(figure: Figure, form: str, **style: object) -> bytes:
    figure.savefig(drawn := io.BytesIO(), format=form, bbox_inches="tight", **style)
    return drawn.getvalue()


def drawing(study: Study, file: str, name: str, caption: str, alt: str, takeaway: str = "") -> Shown:
    """A figure of the outputs that is drawn already, with the label ``fig-<name>``; ``caption`` is Markdown."""
    quoted = json.dumps(" ".join(alt.split()), ensure_ascii=False)
    folder = study.outputs / "figures"
    suffix = "png" if (folder / f"{file}.png").is_file() else "svg"
    head = f"{{figure}} ../figures/{file}.{suffix}\n:name: fig-{name}\n:class: dark-light\n:alt: {quoted}"
    caption = _with_data(caption, f"figures/{file}.csv") if (folder / f"{file}.csv").is_file() else caption
    return _numbered(head, caption, takeaway, study.outputs)


def _with_data(caption: str, file: str) -> str:
    return f"{caption} {{download}}`CSV <../{file}>`"


def _numbered(head: str, body: str, takeaway: str, outputs: Path | None = None) -> Shown:
    return Shown(f"::::{head}\n\n{body}\n::::\n" + (f"\n**{takeaway}**\n" if takeaway else ""), outputs)
