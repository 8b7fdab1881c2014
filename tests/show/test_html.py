"""What a cell shows is HTML without Sphinx's markup where a notebook is read as it is."""

import base64

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lib.book.allowed import found_in_html
from lib.show.display import figure, joined, note, table
from lib.show.markup import escape


@pytest.fixture
def html():
    def of(shown) -> str:
        found = shown._repr_mimebundle_()
        assert found["text/markdown"] == shown.markdown == repr(shown)
        assert found_in_html(found["text/html"]) == []
        return found["text/html"]

    return of


def test_a_table_has_its_caption_its_numbers_and_its_takeaway(study, html):
    frame = pd.DataFrame({"method": ["dense", "bm25"], "mean": [0.4, 0.5], "low": [0.3, 0.4], "high": [0.5, 0.6]})
    found = html(table(study, frame, "few", "Recall {cite}`kobeissi2026`.", "See {doc}`05_breakdowns`."))
    assert "<table>\n<caption>Recall [kobeissi2026].</caption>\n<thead>" in found
    assert '<td style="text-align:right">0.40 [0.30,&nbsp;0.50]</td>' in found.replace("\xa0", "&nbsp;")
    assert '<strong>See <a href="05_breakdowns.ipynb">05_breakdowns</a>.</strong>' in found
    assert ":::" not in found
    assert "{" not in found


def test_a_figure_is_the_picture_that_the_book_shows(study, html):
    drawn, axes = plt.subplots()
    axes.plot([1, 2])
    found = html(
        figure(study, drawn, "line", "A line of {n}.", 'From "1" to 2.', pd.DataFrame({"x": [1]}), "It rises.")
    )
    content = base64.b64encode((study.outputs / "figures/line.svg").read_bytes()).decode()
    assert f'src="data:image/svg+xml;base64,{content}"' in found
    assert 'alt="From &quot;1&quot; to 2."' in found
    assert "<figcaption>A line of 3.</figcaption>" in found
    assert "<strong>It rises.</strong>" in found


def test_figures_that_are_joined_are_all_pictures(study, html):
    parts = [figure(study, plt.figure(), name, name, name, pd.DataFrame({"x": [1]})) for name in ("one", "two")]
    assert html(joined(iter(parts))).count("<img alt=") == 2
    assert html(joined([])) == ""


@pytest.mark.parametrize(
    "text", ["<script>a</script>", "*a* | b", "[a](javascript:b)", "{doc}`x`", "::::{figure} /etc/passwd"]
)
def test_text_of_a_dataset_stays_text(text, html, study):
    found = html(table(study, pd.DataFrame({"Head": [text]}), "hostile", "Of {who}.", who=text))
    for markup in ("<script", "<em>", "<a ", "<img"):
        assert markup not in found
    assert html(note(f"Of {escape(text)}.")).count("<") == 2
