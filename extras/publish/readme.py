"""The headline of the README, between its two marks."""

from pathlib import Path

from lib.book.headline import readme_text
from lib.study import Study
from lib.words import StudyError

BEGIN, END = "<!-- headline: written by `make publish` -->", "<!-- end of headline -->"
PUBLISHED_FIGURE = "book/results/{dataset}/{profile}/shown/figures/ahead-ladder.png"


def fill_headline(readme: Path, study: Study, manifest: dict) -> None:
    """Write sentences, tables, main figure and their source between the README's two marks.

    Raises:
        StudyError: a mark is missing.
    """
    text = readme.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise StudyError(f"{readme.name} needs one line '{BEGIN}' and one line '{END}' for the headline table")
    figure = PUBLISHED_FIGURE.format(**manifest)
    is_drawn = (readme.parent / figure).is_file()
    block = readme_text(study, manifest, figure if is_drawn else "")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{block}\n{END}{after}", encoding="utf-8")
