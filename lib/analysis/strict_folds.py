"""What trained rows find where a question's template is held out, too, beside folds by filing and by company.

A trained row's headline number is that of the strictest folds it has. Recalls of Ahead are means over the draws of its
folds. What is published of templates is which questions share one, by their ids (:mod:`lib.filings.templates`).
"""

from collections.abc import Iterable, Mapping

import pandas as pd

from lib.ahead.ranker import WHOLE, WITH_KINDS, without_twins
from lib.ahead.search import scored_by
from lib.ahead.sets import all_questions
from lib.analysis.ladder import RECALLS, nested_recalls, seeds_of
from lib.evaluation import evaluate
from lib.filings import templates
from lib.folds import By
from lib.method_sets import measured, over_all_filings
from lib.metrics.frame import Metrics
from lib.retrievers import matched
from lib.schema import K, or_without_filings
from lib.stats import Resampling, compare
from lib.study import Study

VERSION = 1
#: Trained rows by what their folds hold out, the strictest last: a method of the table, or a variant of Ahead.
TRAINED: dict[str, dict[By, object]] = {
    "ahead": {"company": WITH_KINDS, "template": without_twins(WITH_KINDS)},
    "ahead_general": {"company": WHOLE, "template": without_twins(WHOLE)},
    "page_scorer_light_order_records": {
        "company": "page_scorer_light_order_records",
        "template": "page_scorer_light_order_template_records",
    },
    "page_scorer_light": {
        "filing": "page_scorer_light_filing",
        "company": "page_scorer_light",
        "template": "page_scorer_light_template",
    },
}
MATCHES = ("dense_records", "hybrid_rrf_records")  # untrained rows that know as much of the filing
ALL, TWIN, NO_TWIN = "all", "with a twin", "without a twin"
QUESTION_COLUMNS = ["question_id", "set", "template", "n_questions", "n_companies", "n_twins"]
HELD_OUT = "method folds group reference n n_clusters doc_recall mean low high reference_mean difference".split()
HELD_OUT += "difference_low difference_high p p_holm verdict".split()


def question_templates(study: Study) -> pd.DataFrame:
    """The templates of all questions over the study's filings: question_id, set, ``template`` (a number), how many
    questions and companies it has, and ``n_twins``, the question's own about other companies. Stored; no rows where it
    is neither known nor can be made here."""

    def make() -> pd.DataFrame:
        asked = all_questions(study)
        alike = templates.likeness_of(asked, matched.identities(study, False))
        asked["template"] = templates.template_numbers(alike)
        of_template, company = asked.groupby("template"), asked["company"].to_numpy()
        asked["n_questions"] = of_template["question_id"].transform("size")
        asked["n_companies"] = of_template["company"].transform("nunique")
        is_twin = (alike >= templates.ALIKE) & (company != company[:, None])
        return asked.assign(n_twins=is_twin.sum(axis=1))[QUESTION_COLUMNS]

    params = {"pages": study.digest("pages"), "inputs": study.inputs_digest("ahead_untrained")}
    params |= {"rule": templates.VERSION}
    stored = or_without_filings(lambda: study.store.frame("analysis/templates", params, make, VERSION, public=True))
    return pd.DataFrame(columns=QUESTION_COLUMNS) if stored is None else stored


def recalls(study: Study, method: str, k: int = K) -> dict[By, pd.DataFrame]:
    """Both recalls by question of one of TRAINED, by what its folds hold out, the strictest last; without those folds
    that the study does not measure, or whose recalls are neither known nor can be computed here."""
    forms, is_measured = TRAINED[method], {name for name, _ in measured(study.profile)}
    if f"{method}_template" not in is_measured and not isinstance(forms["template"], str):
        forms = {by: form for by, form in forms.items() if by != "template"}  # a variant that is not trained here
    found = {by: or_without_filings(lambda form=form: _recalls(study, form, k)) for by, form in forms.items()}
    return {by: one for by, one in found.items() if one is not None}


def _recalls(study: Study, form: object, k: int) -> pd.DataFrame | None:
    if isinstance(form, str):
        if form not in over_all_filings(study.profile) or not study.has_run(form, "standard"):
            return None
        of_run = Metrics(evaluate(study, form))
        return pd.DataFrame({metric: of_run[form, metric, k] for metric in RECALLS})
    if scored_by(study) != "folds":
        return None
    drawn = [nested_recalls(study, form, seed, k=k).set_index("question_id")[RECALLS] for seed in seeds_of(study, form)]
    return (sum(drawn) / len(drawn)).loc[study.questions["question_id"]]


def strictest(study: Study, method: str, k: int = K) -> tuple[By, pd.DataFrame] | None:
    """What a trained row is known by: its strictest folds, and both recalls by question; None where it has none."""
    return next(reversed(recalls(study, method, k).items()), None)


def strictest_of(study: Study, methods: Iterable[str], k: int = K) -> dict[str, pd.DataFrame]:
    """Both recalls by question of those of the methods that are trained and whose strictest folds are known."""
    found = {name: strictest(study, name, k) for name in methods if name in TRAINED}
    return {name: of[1] for name, of in found.items() if of}


def groups_of(study: Study) -> dict[str, pd.Index]:
    """The questions of each group: all, those of each type, and those with and without a twin about another company."""
    asked = study.questions.set_index("question_id")
    found = {ALL: asked.index} | {str(name): part.index for name, part in asked.groupby("question_type")}
    twins = question_templates(study).set_index("question_id")["n_twins"]
    if twins.index.isin(asked.index).any():
        has_twin = twins.reindex(asked.index) > 0
        found |= {TWIN: asked.index[has_twin], NO_TWIN: asked.index[~has_twin]}
    return {name: ids for name, ids in found.items() if len(ids)}


def held_out(study: Study, draws: Resampling, matches: Mapping[str, pd.Series], k: int = K) -> pd.DataFrame:
    """Page recall of TRAINED by what their folds hold out, in each group of questions: HELD_OUT, a row for each
    ``reference``, one of ``matches`` (page recall by question) or ``company``, the same row's folds by company.

    p is corrected over the rows and folds of a group and reference.
    """
    found = {(name, by): one for name in TRAINED for by, one in recalls(study, name, k).items()}
    references = {name: dict.fromkeys(found, values) for name, values in matches.items()}
    references["company"] = {
        key: found[key[0], "company"]["page_recall"]
        for key in found
        if key[1] != "company" and (key[0], "company") in found
    }
    parts = []
    for group, ids in groups_of(study).items():
        for reference, below in references.items():
            above = pd.DataFrame({key: found[key]["page_recall"].loc[ids] for key in below})
            if above.empty:
                continue
            base = pd.DataFrame({key: one.loc[ids] for key, one in below.items()})
            compared = compare(above, base, draws)
            compared.index = pd.MultiIndex.from_tuples(below, names=["method", "folds"])
            docs = [found[key]["doc_recall"].loc[ids].mean() for key in below]
            parts.append(compared.reset_index().assign(group=group, reference=reference, doc_recall=docs))
    return pd.concat(parts, ignore_index=True)[HELD_OUT] if parts else pd.DataFrame(columns=HELD_OUT)
