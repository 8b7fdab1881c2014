"""Questions that practitioners ask (``questions.yaml``), answered with what the chapters of a book show.

A value is read from the CSV of a table or figure, or from the summary. A question whose answer needs one that the book
does not have is left out.
"""

from functools import cache
from pathlib import Path

import pandas as pd
from jinja2 import UndefinedError

from lib.analysis import encoders, finding
from lib.analysis.reading import TESTED_AT
from lib.analysis.strict_folds import strictest, strictest_of
from lib.analysis.unseen import CONTRASTS
from lib.book.headline import STRICT, Strict
from lib.book.page_templates import filled, filled_text
from lib.evaluation import means_at, read_summary
from lib.files import read_yaml
from lib.schema import K
from lib.show.display import seconds, typeset
from lib.show.markup import Markup, escape
from lib.show.wording import FEW
from lib.stats import DIFFERENCE, tier
from lib.study import Study

QUESTIONS = Path(__file__).with_name("questions.yaml")
DEEP = 20  # chunks
FOLDERS = {"tab": "tables", "fig": "figures"}
#: What a verdict answers to "does it help".
HELPS = {"gain": "Yes.", "likely gain": "Probably.", "likely loss": "Probably not.", "loss": "No."}


class NoValue(LookupError):
    """What an answer needs and the book does not have."""


class Values:
    """The numbers of a book, for the templates of answers; a NoValue where one is not known."""

    def __init__(self, outputs: Path, summary: pd.DataFrame, strict: Strict):
        self.outputs, self.summary, self.strict = outputs, summary, strict
        self.table = cache(self._table)

    def _table(self, name: str) -> pd.DataFrame:
        paths = [self.outputs / folder / f"{name}.csv" for folder in FOLDERS.values()]
        if (path := next(filter(Path.is_file, paths), None)) is None:
            raise NoValue(name)
        return pd.read_csv(path)

    def row(self, name: str, **where: object) -> pd.Series:
        """The one row of a table in which these columns have these values."""
        found = self.table(name)
        for column, value in where.items():
            found = found[found[column] == value] if column in found else found[:0]
        if len(found) != 1:
            raise NoValue(f"{name}: {len(found)} rows of {where}")
        return found.iloc[0]

    def at(self, name: str, column: str, **where: object) -> object:
        """A cell of a table."""
        row = self.row(name, **where)
        if column not in row or pd.isna(row[column]):
            raise NoValue(f"{name}: no {column} of {where}")
        return row[column]

    def least(self, name: str, column: str) -> float:
        """The least value of a table's column."""
        return self.table(name)[column].min()

    def largest(self, name: str, column: str) -> float:
        """The largest value of a table's column."""
        return self.table(name)[column].max()

    def pages(self, method: str, k: int = K) -> str:
        """A method's page recall over all filings, a trained one's of its strictest folds where these are known."""
        if k == K and method in self.strict:
            return share(self.strict[method]["page_recall"].mean())
        if method not in (means := means_at(self.summary, "page_recall", k)):
            raise NoValue(f"no run of {method} at {k}")
        return share(means[method])

    def change(self, name: str, prefix: str = "", **where: object) -> Markup:
        """A difference with its interval and verdict."""
        difference, low, high, verdict = self._tested(name, prefix, **where)
        return escape(typeset(f"{difference:+.2f} [{low:+.2f}, {high:+.2f}] ({verdict})"))

    def helps(self, name: str, **where: object) -> str:
        """Whether a change helps, as its verdict says."""
        return HELPS.get(self._tested(name, "", **where)[-1], "Undecided.")

    def contrast(self, method: str, reference: str, questions: str) -> Markup:
        """The :meth:`change` from one method to another in a set of questions, ``study`` or ``unseen``."""
        name = next(name for name, pair in CONTRASTS.items() if pair == (method, reference))
        return self.change("unseen-contrasts", f"{questions}_", contrast=name)

    def _tested(self, name: str, prefix: str, **where: object) -> tuple[float, float, float, str]:
        row = self.row(name, **where)
        difference, *ends, p = row[[f"{prefix}{name}" for name in (*DIFFERENCE, "p_holm")]]
        return difference, *ends, tier(*ends, p)


share = "{:.0%}".format


def questions_page(study: Study) -> str:
    """The page: each question that the book answers, with its synonyms and the evidence."""
    values, kept = values_of(study), []
    for one in read_yaml(QUESTIONS):
        try:
            answer = filled_text(one["answer"], **values)
        except (NoValue, UndefinedError):
            continue
        if links := [link for label in one["see"] if (link := link_to(study, label))]:
            words = one["words"].split(", ")
            kept.append({"ask": one["ask"], "answer": answer, "words": words, "links": links})
    return filled("questions", questions=kept, n=len(study.questions), dataset=study.dataset.name)


def values_of(study: Study) -> dict[str, object]:
    """What the templates of the answers know; what is not known here is not defined in them."""
    values = Values(study.outputs, read_summary(study.outputs), strictest_of(study, STRICT, K))
    names = ("at", "row", "least", "largest", "pages", "change", "helps", "contrast")
    known = {name: getattr(values, name) for name in names} | {
        "share": share,
        "seconds": seconds,
        "k": K,
        "deep": DEEP,
        "few": FEW,
        "one": 1.0,  # the largest difference that there can be
        "n": len(study.questions),
        "n_companies": study.questions["company"].nunique(),
        "n_filings": len(study.filings),
        "dataset": study.dataset.name,
        "second": second_set(study, values),
        "budget": TESTED_AT,
        "size": study.profile.chunks.size,
        "overlap": study.profile.chunks.overlap,
        "better": encoders.titles(study),
        "held_out": held_out(study),
        "people": finding.labelled_by_people(study),
    }
    return {name: value for name, value in known.items() if value is not None}


def held_out(study: Study) -> str | None:
    """What the strictest folds of Ahead leave out of its training; None where they are not known."""
    by, _ = strictest(study, "ahead", K) or (None, None)
    return {"template": "the company and the question's template", "company": "the company"}.get(by)


def second_set(study: Study, values: Values) -> str | None:
    """The other question set that a chapter compares with the study's; None where there is none."""
    try:
        names = {*values.table("sets-ranks")} - {"method", study.dataset.name}
    except NoValue:
        return None
    return min(names, default=None)


def link_to(study: Study, label: str) -> str | None:
    """A link to a page, ``book/measure``, or to a table or figure, ``tab-added``, None where the book lacks that."""
    if "/" in label:
        return f"{{doc}}`../{label}`"
    kind, _, name = label.partition("-")
    files = [study.outputs / FOLDERS[kind] / f"{name}.{ending}" for ending in ("csv", "svg")]
    return f"{{numref}}`{label}`" if any(map(Path.is_file, files)) else None
