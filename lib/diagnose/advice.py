"""What to change in a pipeline that was diagnosed: by its own losses, and by what each step brings in the study."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from lib.diagnose.beside import Judged, metrics_of
from lib.metrics.frame import Metrics
from lib.metrics.losses import losses_of
from lib.models.weights import lock
from lib.profile import PROFILES, Settings, load_profile
from lib.published import Published
from lib.schema import Condition
from lib.stats import Resampling, columns_of
from lib.study import Study

DEEP = 20  # passages of the last step
OWN = "this run"
ACTIONS = "run title do needs loss share share_low share_high is_shown encoder base method k".split()
ACTIONS += ["gain", "gain_low", "gain_high"]


class Step(NamedTuple):
    """A change of a pipeline: what to do, what it needs, the loss that it lowers, and the rows without and with it."""

    title: str
    do: str
    needs: str
    loss: str  # ``document``, ``page``, or ``depth``: the page is further down
    base: str
    method: str


MATCH = Step(
    "Metadata match",
    "Match the company, year and form that a question names with the filings' metadata, and search those filings first",
    "metadata of the filings",
    "document",
    "dense",
    "dense_records",
)
RANK = Step(
    "Pages ranked first (Ahead)",
    "Rank pages first, by identity, words and statements together (Ahead), and passages inside them second",
    "labelled questions about other companies",
    "page",
    "dense_records",
    "ahead",
)
#: The steps by the condition that a run was retrieved under; where the filing is given there is nothing to match.
STEPS: dict[Condition, tuple[Step, ...]] = {
    "standard": (MATCH, RANK),
    "oracle-document": (RANK._replace(base="dense"),),
}


def encoder_of(profile: Settings) -> str:
    """The name of a profile's encoder."""
    weights = profile.embedder.weights
    return lock().get(weights, {}).get("title", weights)


def studies_of(study: Study, condition: Condition) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each profile's encoder and METRIC_COLUMNS of its rows under a condition: the study's own, and published ones of
    the same set."""
    yield encoder_of(study.profile), metrics_of(study, condition)
    for path in sorted(PROFILES.glob("*.yaml")):
        other = Published.of(study.dataset.name, path.stem) if path.stem != study.profile.name else None
        if other and other.manifest["fingerprint"] == study.dataset.fingerprint:
            rows = other.metrics[other.metrics["condition"] == condition]
            yield encoder_of(load_profile(path.stem)), rows.astype(dict.fromkeys(("method", "metric"), object))


def actions(study: Study, one: Judged, draws: Resampling, k: int) -> pd.DataFrame:
    """The steps for a run, the one against its larger loss first: ACTIONS, a row for each encoder.

    Returns:
        loss: what the step lowers; share: the share of gold pages that this run loses so; is_shown: whether it loses
        more so than the row with the step; encoder: of the rows ``base`` and ``method``, whose difference in page
        recall on the run's questions is ``gain``. The last step reads more of the run's own passages.
    """
    rows, ids, own = [], one.questions["question_id"], losses_of(one.metrics, one.name, k)
    for encoder, found in studies_of(study, one.condition):
        metrics = Metrics(found.assign(condition="standard"))
        for step in STEPS[one.condition]:
            if not all((name, "page_recall", k) in metrics for name in (step.base, step.method)):
                continue
            base, with_it = (metrics[name, "page_recall", k].reindex(ids) for name in (step.base, step.method))
            lost, theirs = own[step.loss], losses_of(metrics, step.method, k)[step.loss].reindex(ids)
            about = _about(one, step, k) | columns_of("share", draws.interval(lost))
            about |= {"is_shown": draws.difference(lost, theirs).low > 0, "encoder": encoder}
            rows.append(about | columns_of("gain", draws.difference(with_it, base)))
    rows.sort(key=lambda row: -row["share"])
    if one.run["rank"].max() >= DEEP > k and (one.name, "page_recall", DEEP) in one.metrics:
        rows.append(_deeper(one, draws, k))
    return pd.DataFrame(rows, columns=ACTIONS)


def _about(one: Judged, step: Step, k: int) -> dict[str, object]:
    return {"run": one.name, "k": k} | step._asdict()


def _deeper(one: Judged, draws: Resampling, k: int) -> dict[str, object]:
    """The row of ACTIONS that reads DEEP of the run's own passages."""
    do, needs = f"Read {DEEP} passages of a question in place of {k}", f"{DEEP / k:g} times the tokens"
    step = Step("Deeper reading", do, needs, "depth", one.name, one.name)
    first, deep = (one.metrics[one.name, "page_recall", depth] for depth in (k, DEEP))
    gain, share = draws.difference(deep, first), columns_of("share", draws.interval(deep - first))
    about = _about(one, step, DEEP) | share | {"is_shown": gain.low > 0, "encoder": OWN}
    return about | columns_of("gain", gain)
