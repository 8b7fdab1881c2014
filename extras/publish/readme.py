"""The headline of the README, between its two marks."""

from itertools import zip_longest
from pathlib import Path

from lib.book.headline import readme_text
from lib.published import Published
from lib.schema import StudyError
from lib.study import Study

BEGIN, END = "<!-- headline: written by `make publish` -->", "<!-- end of headline -->"
PUBLISHED_FIGURE = "book/results/{dataset}/{profile}/shown/figures/lost-both.svg"


def headline_of(readme: Path, study: Study, published: Published) -> tuple[str, str]:
    """The README, and as it is with the headline of published results; a StudyError where a mark is missing."""
    text = readme.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise StudyError(f"{readme.name} needs one line '{BEGIN}' and one line '{END}' for the headline table")
    figure = PUBLISHED_FIGURE.format(**published.manifest)
    fresh = readme_text(study, published, figure if (readme.parent / figure).is_file() else "")
    return text, f"{text.partition(BEGIN)[0]}{BEGIN}\n{fresh}\n{END}{text.partition(END)[2]}"


def fill_headline(readme: Path, study: Study, published: Published) -> None:
    """Write the headline between the README's two marks."""
    readme.write_text(headline_of(readme, study, published)[1], encoding="utf-8")


def not_of_results(readme: Path, study: Study, published: Published) -> list[str]:
    """The lines of the README that are not those that the published results give."""
    lines = (text.splitlines() for text in headline_of(readme, study, published))
    both = zip_longest(*lines, fillvalue="")
    return [f"{readme.name} has “{then[:160]}”, the results give “{now[:160]}”" for then, now in both if then != now]
