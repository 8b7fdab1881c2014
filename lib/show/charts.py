"""Charts that a reader can change: Vega-Lite, drawn by Altair, in a static page without a network.

A page has the drawing of each chart as an SVG, for print and without JavaScript; ``book/_static/charts.js`` puts the
live chart in its place, by the bundle of Vega that :func:`bundle` writes once into a book.
"""

import json
from functools import cache
from html import escape

import altair as alt
import vl_convert

BUNDLE = "vega.js"  # in ``_static`` of a book
VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
TEXT = "#333333"
CONFIG = {
    "background": "transparent",
    "font": "DejaVu Sans, Verdana, sans-serif",
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": TEXT,
        "titleColor": TEXT,
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 0, "labelColor": TEXT, "titleColor": TEXT},
    "view": {"stroke": None},
}


@cache
def bundle() -> str:
    """JavaScript that defines ``window.vegaEmbed``, with Vega and Vega-Lite inside, about 0.9 MB."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VERSION)


def embedded(chart: alt.TopLevelMixin, name: str, description: str, static: str = "../_static") -> str:
    """A chart as HTML: its drawing, its specification, and the scripts in the folder ``static`` that bring it to life.

    Args:
        name: of the chart on its page, letters and hyphens.
        description: the chart in words.
    """
    spec = chart.to_dict()
    spec["config"] = CONFIG
    drawing = vl_convert.vegalite_to_svg(spec, vl_version=VERSION, allowed_base_urls=[])
    inlined = json.dumps(spec, separators=(",", ":")).replace("<", r"\u003c")
    return (
        f'<div class="chart" id="chart-{name}">\n'
        f'<div class="chart-drawing" role="img" aria-label="{escape(description)}">{drawing}</div>\n'
        f'<script type="application/json">{inlined}</script>\n'
        "</div>\n"
        f'<script defer src="{static}/{BUNDLE}"></script>\n<script defer src="{static}/charts.js"></script>\n'
    )
