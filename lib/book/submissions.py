"""Submissions to the leaderboard: runs that people sent as pull requests, in ``book/submissions/``, checked here.

A submission is a folder with ``submission.yaml`` and ``run.trec`` or ``run.trec.gz``. Gold pages are published without
the filings, so that every metric of pages and filings is computed again from the run wherever this runs.
"""

import math
from pathlib import Path
from typing import Annotated, Literal

import yaml
from annotated_types import Len, Predicate
from pydantic import BaseModel, Field, ValidationError

from lib.data.records import CONTROL, is_safe_name
from lib.diagnose.kept import Outside
from lib.diagnose.run_file import read_run
from lib.evaluation import evaluate_given
from lib.files import ROOT
from lib.methods import METHODS, NEEDS
from lib.profile import load_profile
from lib.published import RESULTS, Published
from lib.schema import StudyError
from lib.study import Study

FOLDER = ROOT / "book" / "submissions"
ABOUT, RUN_FILES = "submission.yaml", ("run.trec", "run.trec.gz")
K = 5
MOST_MIB = 4
ROUNDING = 0.005  # of a share that is stated with two digits
LONGEST = 100
PROFILE = "default"  # gold pages are the same under each

Line = Annotated[str, Len(1, LONGEST), Predicate(lambda text: not CONTROL.search(text))]


class Stated(BaseModel, strict=True, extra="forbid"):
    """What ``submission.yaml`` states."""

    title: Line = Field(description=f"one line of at most {LONGEST} characters")
    by: Line = Field(description=f"who submits, one line of at most {LONGEST} characters")
    link: str = Field(
        pattern=r"^https://[\w.-]+(/[\w.~%/?=&+#-]*)?$", description="an address that begins with https://"
    )
    needs: list[Literal[NEEDS]] = Field(description=f"a list, maybe empty, of {', '.join(NEEDS)}")
    question_set: str = Field(pattern=r"^[\w-]+$", description="the name of a published question set")
    page_recall: float = Field(ge=0, le=1, description=f"page recall at {K}, with two digits or more")


def submissions(question_set: str) -> list[Outside]:
    """Those of a question set, by name; a StudyError where a folder is no submission."""
    found = [(path.parent, stated(path.parent)) for path in sorted(FOLDER.glob(f"*/{ABOUT}"))]
    return [checked(folder, about) for folder, about in found if about.question_set == question_set]


def stated(folder: Path) -> Stated:
    """What a submission states; a StudyError that lists what is wrong with it."""
    path = folder / ABOUT
    try:
        return Stated.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise StudyError(f"{path} cannot be read ({' '.join(str(error).split())}); write it as YAML") from None
    except ValidationError as error:
        named = dict.fromkeys(str(one["loc"][0]) if one["loc"] else "" for one in error.errors())
        fields = Stated.model_fields
        wrong = [f"{name}: {fields[name].description}" if name in fields else f"{name!r} is no field" for name in named]
        raise StudyError(f"{path} is wrong; state {'; '.join(wrong)}") from None


def checked(folder: Path, about: Stated) -> Outside:
    """A submission, its metrics computed from the run.

    Raises:
        StudyError: a name that is taken, no run file or a large one, rows of the run that are of no page of a filing,
            questions without a row, or another page recall than what is stated.
    """
    if not is_safe_name(folder.name) or folder.name in METHODS:
        raise StudyError(f"{folder}: the name is taken or is no name; use letters, digits, - and _, and a new name")
    paths = [folder / name for name in RUN_FILES if (folder / name).is_file()]
    if len(paths) != 1 or paths[0].stat().st_size > MOST_MIB * 2**20:
        raise StudyError(f"{folder}: put one of {' and '.join(RUN_FILES)} there, of at most {MOST_MIB} MiB")
    study = published_study(about.question_set)
    run, _, said = read_run(paths[0], study.questions, study.filings)
    is_page = run["page"].between(0, run["doc_name"].map(study.filings.set_index("doc_name")["n_pages"]) - 1)
    if not is_page.all() or set(study.questions["question_id"]) - set(run["question_id"]):
        raise StudyError(f"{paths[0]}: {' '.join(said[1:])} Correct these rows.")
    metrics = evaluate_given(study, run, folder.name)
    at_k = metrics[(metrics["metric"] == "page_recall") & (metrics["k"] == K)]["value"].mean()
    if not math.isclose(at_k, about.page_recall, abs_tol=ROUNDING):
        wrong = f"page_recall is {about.page_recall}, but the run has {at_k:.4f} at {K}"
        raise StudyError(f"{folder / ABOUT}: {wrong}; correct it, or the run (pages count from 0)")
    by, needs = f"submitted by {about.by}", "; ".join(about.needs)
    return Outside(folder.name, metrics, paths[0], about.title, by, needs, about.link)


def published_study(question_set: str) -> Study:
    """The study of what is published of a question set, without any text; a StudyError where nothing is."""
    if not (published := Published.of(question_set, PROFILE)):
        known = sorted(path.parents[1].name for path in RESULTS.glob(f"*/{PROFILE}/manifest.json"))
        raise StudyError(f"nothing is published of the question set {question_set!r}; say one of {', '.join(known)}")
    settings = published.settings(load_profile(PROFILE))
    return Study(published.dataset(), settings, METHODS, {}, published=published)
