"""What a cell shows is HTML without Sphinx's markup where a notebook is read as it is."""

import base64

import pandas as pd
import pytest

from lib.show.figures import blank
from lib.show.output import interval, joined, say, show


def html(shown) -> str:
    found = shown._repr_mimebundle_()
    assert found["text/markdown"] == shown.markdown == repr(shown)
    return found["text/html"]


def test_a_table_has_its_caption_its_numbers_and_its_takeaway(study):
    frame = pd.DataFrame({"method": ["dense", "bm25"], "mean": [0.4, 0.5], "low": [0.3, 0.4], "high": [0.5, 0.6]})
    columns = ["method", interval("mean", "low", "high")]
    found = html(show(study, frame, "few", "Recall of {n}.", "See [it](05_breakdowns.ipynb).", columns=columns))
    assert ">Recall of 3.</caption>\n<thead>" in found
    assert ">Dense</td>" in found
    assert ">0.40 [0.30,&nbsp;0.50]</td>" in found.replace("\xa0", "&nbsp;")
    assert '<strong>See <a href="05_breakdowns.ipynb">it</a>.</strong>' in found
    assert ":::" not in found
    assert "{" not in found


def test_a_figure_is_the_picture_that_the_book_shows_and_joined_ones_are_all_pictures(study):
    line = show(study, blank(2), "line", "A line of {n}.", "It rises.", alt='From "1" to 2.')
    found = html(line)
    content = base64.b64encode((study.outputs / "figures/line.svg").read_bytes()).decode()
    assert f'src="data:image/svg+xml;base64,{content}"' in found
    assert 'alt="From &quot;1&quot; to 2."' in found
    assert "<figcaption>A line of 3.</figcaption>" in found
    assert "<strong>It rises.</strong>" in found
    assert html(joined([line, line])).count("<img alt=") == 2


@pytest.mark.parametrize(
    "text", ["<script>a</script>", "*a* | b", "[a](javascript:b)", "{doc}`x`", "::::{figure} /etc/passwd"]
)
def test_text_of_a_dataset_stays_text(text, study):
    found = html(show(study, pd.DataFrame({"Head": [text]}), "hostile", "Of {who}.", who=text))
    for markup in ("<script", "<em>", "<a ", "<img"):
        assert markup not in found
    assert html(say(study, "Of {who}.", who=text)).count("<") == 2
