"""The headline of the README, between its two marks."""

from pathlib import Path

import pandas as pd

from lib.book.headline import K, headline_table, sentences
from lib.show.display import markdown_table
from lib.words import StudyError

BEGIN, END = "<!-- headline: written by `make publish` -->", "<!-- end of headline -->"
PUBLISHED_FIGURE = "book/results/{dataset}/{profile}/shown/figures/decomposition.png"


def fill_headline(readme: Path, summary: pd.DataFrame, manifest: dict) -> None:
    """Write sentences, table, main figure and their source between the README's two marks.

    Raises:
        StudyError: a mark is missing.
    """
    text = readme.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise StudyError(
            f"{readme.name} needs one line '{BEGIN}' and one line '{END}' for the headline table"
        )
    rows = markdown_table(headline_table(summary, manifest["dataset"])).replace("\\", "")
    minutes = sum(record["wall_s"] for record in manifest["stages"]) / 60
    figure = PUBLISHED_FIGURE.format(**manifest)
    is_drawn = (readme.parent / figure).is_file()
    drawn = f"\n\n![Where the gold evidence is lost, by method]({figure})" if is_drawn else ""
    block = (
        f"{' '.join(sentences(summary))}\n\n{rows}{drawn}\n\n"
        f"Means over {manifest['n_questions']} questions at {K} chunks with 95 % intervals; reported: document "
        f"recall / page recall / BLEU / ROUGE-L in Tables 2 and 3 of the study that this one reproduces. Run of "
        f"{manifest['date']}, commit {manifest['commit'][:10]}, {manifest['machine']}: {minutes:.0f} minutes in the "
        "stages of the store, as timed in their last sitting; what the language model wrote is not counted."
    )
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{block}\n{END}{after}")
