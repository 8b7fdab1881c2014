"""The headline table of the README, written by ``make publish`` and never by hand."""

import re
from pathlib import Path

import pandas as pd

from lib.book.headline import headline_table, sentences
from lib.show.display import markdown_table
from lib.show.tables import reported_figures
from lib.words import StudyError

BEGIN, END = "<!-- headline: written by `make publish` -->", "<!-- end of headline -->"
FIGURE = "book/results/{dataset}/{profile}/shown/figures/decomposition.png"


def fill_headline(readme: Path, summary: pd.DataFrame, manifest: dict) -> None:
    """Replace what stands between the README's marks by the headline table.

    Args:
        readme: the file; it has the two marks.
        summary: SUMMARY_COLUMNS.
        manifest: of the published run.

    Raises:
        StudyError: a mark is missing.
    """
    text = readme.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise StudyError(
            f"{readme.name} needs one line '{BEGIN}' and one line '{END}' for the headline table"
        )
    block = headline_block(summary, manifest, readme.parent)
    readme.write_text(
        re.sub(
            f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{block}\n{END}", text, flags=re.S
        )
    )


def headline_block(summary: pd.DataFrame, manifest: dict, root: Path) -> str:
    """The block: three sentences, the table, the main figure where it was published, and where it comes from."""
    table = markdown_table(headline_table(summary, reported_figures(manifest["dataset"]))).replace("\\", "")
    minutes = sum(record["wall_s"] for record in manifest["stages"]) / 60
    figure = FIGURE.format(**manifest)
    drawn = (
        f"\n\n![Where the gold evidence is lost, by method]({figure})" if (root / figure).is_file() else ""
    )
    return (
        f"{' '.join(sentences(summary))}\n\n{table}{drawn}\n\n"
        f"Means over {manifest['n_questions']} questions at 5 chunks with 95 % intervals; reported: document recall / "
        f"page recall / BLEU / ROUGE-L of the study that this one reproduces. Run of {manifest['date']}, commit "
        f"{manifest['commit'][:10]}, {manifest['machine']}: {minutes:.0f} minutes in the "
        "stages of the store, as timed in their last sitting; what the language model wrote is not counted."
    )
