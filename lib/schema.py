"""The words of the study as types: conditions, frames and the errors a person can act on."""

import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, get_args

if TYPE_CHECKING:
    from pydantic import ValidationError

Value = TypeVar("Value")
#: What of published results a study uses: all, what language models wrote, or nothing.
USES = ("published", "texts", "fresh")
Condition = Literal["standard", "oracle-document", "oracle-page"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
K = 5  # chunks that are read, where pages and analysis state one depth
#: The conditions as tables and figures name them.
IN_WORDS = dict(zip(CONDITIONS, ("all filings", "filing given", "pages given"), strict=True))

RUN_COLUMNS = ("question_id", "rank", "chunk_id", "doc_name", "page", "score")
PAGE_COLUMNS = ("doc_name", "page", "text")
CHUNK_COLUMNS = ("chunk_id", "key", "doc_name", "page", "text", "start", "end")
QUESTION_COLUMNS = (
    *("question_id", "question", "answer", "question_type", "doc_name"),
    *("doc_type", "company", "doc_period", "gold_pages", "evidence"),
    *("also", "other_filings"),
)
PUBLISHED_COLUMNS = ["question_id", "question_type", "doc_name", "doc_type", "company", "gold_pages"]  # of questions
#: What answers a question in full besides its gold pages: pages of its filing, and ``DOC#p0049`` of other filings.
FURTHER_PAGES = ["also", "other_filings"]
FILING_COLUMNS = ("doc_name", "company", "sector", "doc_type", "doc_period", "n_pages")
DOC_TYPES = {"10k": "10-K", "10k_annualreport": "10-K", "10q": "10-Q", "8k": "8-K", "earnings": "earnings"}


class Names(NamedTuple):
    """The names that a study is opened by, see :func:`lib.studies.open_study`."""

    dataset: str = ""
    profile: str = "default"
    results: str = USES[0]
    questions: str = ""

    def make_variables(self, dataset: str = "") -> str:
        """The variables by which ``make`` opens the same study, each behind a blank and quoted for a shell.

        FinanceBench, which make takes without DATASET, is left out; ``dataset`` is then named, if it is given.
        """
        own = "" if self.dataset == "financebench" else self.dataset
        profile = "" if self.profile == Names().profile else self.profile
        variables = {"DATASET": own or dataset, "QUESTIONS": self.questions, "PROFILE": profile}
        return "".join(f" {name}={shlex.quote(value)}" for name, value in variables.items() if value)


class StudyError(Exception):
    """Something the person at the keyboard can fix; the message says what, where and how."""


class DatasetError(StudyError):
    """The dataset cannot be used as it is; the message lists every problem found."""


class NeedsFilings(StudyError):
    """Something needs the filings' text, and only published results are here."""


def or_without_filings(make: Callable[[], Value], otherwise: Value | None = None) -> Value | None:
    """What ``make`` gives; ``otherwise`` where it needs filings that are not on this machine."""
    try:
        return make()
    except NeedsFilings:
        return otherwise


def chunk_id(doc_name: str, page: int, number: int) -> str:
    """The id of a page's chunk, both numbered from 0: ``3M_2018_10K#p0049#c00``."""
    return f"{doc_name}#p{page:04d}#c{number:02d}"


def doc_type_label(doc_type: str) -> str:
    """The filing type as the tables print it: ``10k`` becomes ``10-K``; unknown types stay as they are."""
    return DOC_TYPES.get(doc_type.lower(), doc_type)


def invalid_values(error: "ValidationError") -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """For each invalid value of a model: its place, the type of pydantic's error, and what is wrong with it."""
    for one in error.errors(include_url=False):
        message = one["msg"].removeprefix("Value error, ").partition(" or instance of")[0]
        value = "missing" if one["type"] == "missing" else f"{one['input']!r:.80}"
        yield one["loc"], one["type"], f"is {value}; {message[0].lower()}{message[1:]}"
