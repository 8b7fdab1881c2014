"""Charts that a reader can change: Vega-Lite, drawn by Altair, in a static page without a network.

A page has the drawing of each chart as an SVG, for print and without JavaScript; ``book/_static/charts.js`` puts the
live chart in its place, by the bundle of Vega that :func:`bundle` gives and a book contains once.
"""

import json
from collections.abc import Iterable
from functools import cache
from html import escape
from itertools import cycle

import altair as alt
import pandas as pd
import vl_convert

from lib.method import MATCHED
from lib.methods import METHODS, RECORDS, TRAINING
from lib.show.plot import on_frontier
from lib.show.tables import title

BUNDLE = "vega.js"  # in ``_static`` of a book
VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
INK, WIDTH = "#333333", 640  # of texts, and pixels of a drawing
TEXTS = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelColor": INK, "titleColor": INK}
CONFIG = {
    "background": "transparent",
    "font": "DejaVu Sans, Verdana, sans-serif",
    "axis": TEXTS,
    "legend": TEXTS | {"labelFontSize": 11, "labelLimit": 0},
    "view": {"stroke": None},
}
#: Question sets as a chart names them, the first that is there chosen.
SETS = {"financebench": "FinanceBench", "unseen-companies": "unseen companies", "page-questions": "page-questions"}
#: What a reader may lack: column of :func:`lib.analysis.budget.by_budget` to the label of its switch.
SWITCHES = {"metadata": "metadata", "labels": "labelled questions", "language_model": "a language model per question"}
#: Colours of methods by how they search.
SHADES = {
    "all filings": ("#222222", "#777777", "#a6761d", "#8c564b", "#b0b0b0"),
    "after a metadata match": ("#d55e00", "#e69f00", "#f4a582", "#cc3311"),
    "after a match of cover pages": ("#117733", "#44aa99"),
    "trained": ("#56b4e9", "#0072b2"),
}
ALL, MATCH, COVERS, TRAINED = SHADES
APART = 0.06  # in page recall, of methods on a frontier, from the best down, so that their names do not collide


@cache
def bundle() -> str:
    """JavaScript that defines ``window.vegaEmbed``, with Vega and Vega-Lite inside, about 0.9 MB."""
    code = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VERSION)
    return f"(() => {{{code}\n}})();\n"  # its own names are not those of the page


def embedded(chart: alt.TopLevelMixin, name: str, description: str, static: str = "../_static") -> str:
    """A chart as HTML: its drawing, its specification, and the scripts in the folder ``static`` that bring it to life.

    Args:
        name: of the chart on its page, letters and hyphens.
        description: the chart in words.
    """
    spec = chart.to_dict() | {"config": CONFIG}
    drawing = vl_convert.vegalite_to_svg(spec | {"width": WIDTH}, vl_version=VERSION, allowed_base_urls=[])
    inlined = json.dumps(spec, separators=(",", ":")).replace("<", r"\u003c")
    return (
        f'<div class="chart" id="chart-{name}">\n'
        f'<div class="chart-drawing" role="img" aria-label="{escape(description)}">{drawing}</div>\n'
        f'<script type="application/json">{inlined}</script>\n'
        "</div>\n"
        f'<script defer src="{static}/{BUNDLE}"></script>\n<script defer src="{static}/charts.js"></script>\n'
    )


def way(method: str) -> str:
    """How a method searches, of SHADES; one that the method table lacks, such as a reader's own, all filings."""
    row = METHODS.get(method)
    if row is None or (row.family != MATCHED and not {TRAINING, RECORDS} & {*row.needs}):
        return ALL
    return TRAINED if TRAINING in row.needs else MATCH if RECORDS in row.needs else COVERS


def colours(methods: Iterable[str]) -> dict[str, str]:
    """Titles of methods, sorted by how they search, with a colour of SHADES each."""
    methods, found = [*methods], {}
    for name, shades in SHADES.items():
        titles = [title(method) for method in methods if way(method) == name]
        found |= dict(zip(titles, cycle(shades), strict=False))
    return found


def recall_against_budget(frame: pd.DataFrame) -> alt.LayerChart:
    """Page recall against what is read, of :func:`lib.analysis.budget.by_budget`: a line per method, with the interval
    of the one that is pointed at; switches choose the question set, chunks or tokens, and what a reader has."""
    shade = colours(frame["method"].unique())
    frame = frame.round({"page_recall": 3, "low": 3, "high": 3})
    columns = ["set", "name", "unit", "budget", "page_recall", "low", "high", "n", *SWITCHES]
    sets = [title for name, title in SETS.items() if name in {*frame["set"]}] or [*frame["set"].unique()]
    units = [*frame["unit"].unique()]
    radios = {
        "asked": alt.param("asked", sets[0], alt.binding_radio(options=sets, name="Questions:")),
        "read": alt.param("read", units[0], alt.binding_radio(options=units, name="Read:")),
    }
    has = {
        name: alt.param(name, True, alt.binding_checkbox(name=f"Use {label}"))
        for name, label in SWITCHES.items()
        if frame[name].any() and not frame[name].all()
    }
    shown = "datum.set == asked && datum.unit == read" + "".join(f" && ({name} || !datum.{name})" for name in has)
    ticks = {unit: sorted(part["budget"].unique().tolist()) for unit, part in frame.groupby("unit", sort=False)}
    at_unit = f"{json.dumps(ticks)}[read]"
    extent = alt.ExprRef(f"extent({at_unit})")
    pointed = alt.selection_point("pointed", fields=["name"], on="pointerover", nearest=True, empty=False)
    picked = alt.selection_point("picked", fields=["name"], bind="legend")
    base = (
        alt.Chart(
            frame.assign(set=frame["set"].replace(SETS), name=frame["method"].map(title))[columns],
            width="container",
            height=230,
        )
        .transform_filter(shown)
        .encode(
            alt.X(
                "budget:Q", title=None, axis=alt.Axis(values=alt.ExprRef(at_unit), grid=False, labelOverlap=False)
            ).scale(type="log", nice=False, domain=extent),
            alt.Y("page_recall:Q", title="Page recall").scale(domain=[0, 1]).axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
            alt.Color("name:N", title=None)
            .scale(domain=[*shade], range=[*shade.values()])
            .legend(orient="bottom", columns=1, symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1),
            opacity=alt.when(picked).then(alt.value(1)).otherwise(alt.value(0.12)),
        )
    )
    heads = {"name": "Method", "budget": "Read", "page_recall": "Page recall", "low": "from", "high": "to", "n": "n"}
    tooltip = [alt.Tooltip(name, title=head) for name, head in heads.items()]
    band = (
        base.transform_filter(pointed)
        .mark_area(clip=True)
        .encode(alt.Y("low:Q"), alt.Y2("high:Q"), opacity=alt.value(0.15))
    )
    line = base.mark_line(strokeWidth=2.2).add_params(picked)
    dots = base.mark_circle(size=45).encode(tooltip=tooltip).add_params(pointed)
    return alt.layer(band, line, dots).add_params(*radios.values(), *has.values())


def recall_against_cost(frame: pd.DataFrame) -> alt.LayerChart:
    """Page recall against seconds per question, a dot per method: method, title, family, question_s, page_recall,
    page_recall_low, page_recall_high and needs. The line is the Pareto frontier; names are of methods on it that are
    APART."""
    best = on_frontier(frame, "question_s", "page_recall")
    names, least = [], float("inf")
    for row in frame[best].sort_values("page_recall", ascending=False).itertuples():
        if row.page_recall <= least - APART:
            names, least = [*names, row.title], row.page_recall
    kinds = [*map(way, frame["method"])]
    shown = frame.assign(is_best=best, kind=kinds, name=[one if one in names else "" for one in frame["title"]]).round(
        {"page_recall": 3, "question_s": 4}
    )
    shown["interval"] = [f"{row.page_recall_low:.2f} to {row.page_recall_high:.2f}" for row in frame.itertuples()]
    columns = ["title", "family", "kind", "question_s", "page_recall", "interval", "needs", "is_best", "name"]
    kinds = {kind: shades[0] for kind, shades in SHADES.items() if kind in {*kinds}}
    picked = alt.selection_point("picked", fields=["kind"], bind="legend")
    base = alt.Chart(shown[columns], width="container", height=340).encode(
        alt.X("question_s:Q", title="Seconds per question, log scale")
        .scale(type="log", domain=[frame["question_s"].min() / 10, frame["question_s"].max() * 1.5], nice=False)
        .axis(grid=False, format="~g", labelOverlap=True),
        alt.Y("page_recall:Q", title="Page recall").scale(domain=[0, 1]),
    )
    heads = {"title": "Method", "page_recall": "Page recall", "interval": "95 %", "question_s": "Seconds"}
    heads |= {"family": "Family", "needs": "Needs"}
    on_line = base.transform_filter("datum.is_best")
    line = on_line.mark_line(interpolate="step-after", color=INK, strokeWidth=1, strokeDash=[4, 3])
    dots = (
        base.mark_circle(size=70)
        .encode(
            alt.Color("kind:N", title=None)
            .scale(domain=[*kinds], range=[*kinds.values()])
            .legend(orient="bottom", columns=alt.ExprRef("width < 500 ? 1 : 4"), symbolOpacity=1),
            opacity=alt.when(picked).then(alt.value(0.9)).otherwise(alt.value(0.1)),
            tooltip=[alt.Tooltip(name, title=head) for name, head in heads.items()],
        )
        .add_params(picked)
    )
    labels = on_line.transform_filter("width >= 500").mark_text(align="right", dx=-8, dy=-6, fontSize=11, color=INK)
    labels = labels.encode(alt.Text("name:N"))
    return alt.layer(line, dots, labels)
