"""The headline of the README, between its two marks."""

from itertools import zip_longest
from pathlib import Path

from lib.book.headline import readme_text
from lib.published import Published
from lib.study import Study
from lib.words import StudyError

BEGIN, END = "<!-- headline: written by `make publish` -->", "<!-- end of headline -->"
PUBLISHED_FIGURE = "book/results/{dataset}/{profile}/shown/figures/lost.svg"


def split(readme: Path) -> tuple[str, str, str]:
    """What is before, between and after the README's two marks; a StudyError where one is missing."""
    text = readme.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise StudyError(f"{readme.name} needs one line '{BEGIN}' and one line '{END}' for the headline table")
    before, rest = text.split(BEGIN)
    return before, *rest.split(END)


def block(readme: Path, study: Study, published: Published) -> str:
    """Sentences, tables, main figure and their source, as they stand between the two marks."""
    figure = PUBLISHED_FIGURE.format(**published.manifest)
    return f"\n{readme_text(study, published, figure if (readme.parent / figure).is_file() else '')}\n"


def fill_headline(readme: Path, study: Study, published: Published) -> None:
    """Write :func:`block` between the README's two marks."""
    before, _, after = split(readme)
    readme.write_text(f"{before}{BEGIN}{block(readme, study, published)}{END}{after}", encoding="utf-8")


def not_of_results(readme: Path, study: Study, published: Published) -> list[str]:
    """The lines between the README's marks that are not those that the published results give."""
    lines = (text.splitlines() for text in (split(readme)[1], block(readme, study, published)))
    both = zip_longest(*lines, fillvalue="")
    return [f"{readme.name} has “{then[:160]}”, the results give “{now[:160]}”" for then, now in both if then != now]
