"""The first page: where evidence is lost, what to change in which order, and how far to trust that."""

import math

import pandas as pd

from lib.ahead.sets import SETS
from lib.analysis import encoders, finding
from lib.analysis.breakdowns import NAMED, named
from lib.analysis.climb import K, climb
from lib.analysis.ladder import LADDER, published_name
from lib.book.manifest import read_summary
from lib.book.templates import filled
from lib.evaluation import read_metrics
from lib.method_sets import baselines
from lib.metrics.frame import Metrics, best
from lib.models.weights import lock, models_of, weights_of
from lib.published import METRICS_FILE, Published
from lib.show.output import drawing, gain, interval, show
from lib.show.tables import title
from lib.stats import Resampling, verdicts
from lib.study import Study

FIGURE = "lost"  # drawn by chapter 02
ALT = "Stacked bars of the pages with evidence: found, right filing but wrong page, and wrong filing."
MOST_PARAMETERS = 1e9  # of a small model
OF_FIGURE = (
    "Of the pages with evidence, what share is found in the first {k} chunks, and where the rest is lost; "
    "*records* are the filings' metadata. "
)
OF_CLIMB = (
    "Each step beside the one above it: page recall (share of the gold pages in the chunks read; *pooled* "
    "counts every page that two readers, language models, found to answer in full), paired gain with 95 % "
    "interval, seconds per question, n = {n}. Verdicts have p corrected (Holm) within the family of tests of "
    "the step's chapter; to read more chunks cannot lose and is not tested. Ahead's recall is the mean over "
    "several draws of its folds; the last step and *pooled* have the first draw."
)


def at_k(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric's rows over all filings at K chunks, by method."""
    is_wanted = (summary["k"] == K) & (summary["condition"] == "standard") & (summary["metric"] == metric)
    return summary[is_wanted].set_index("method")


def ordinary(summary: pd.DataFrame) -> str:
    """The ordinary method with the highest page recall."""
    means = at_k(summary, "page_recall")["mean"]
    return best(means[means.index.isin(baselines())])


def sentences(summary: pd.DataFrame, metrics: Metrics) -> list[str]:
    """The finding in one sentence, and three that explain it, with the numbers of a summary (SUMMARY_COLUMNS)."""
    pages, docs = (at_k(summary, metric)["mean"] for metric in ("page_recall", "doc_recall"))
    base = ordinary(summary)
    without_kinds, whole = (
        at_k(summary, published_name("page_recall", rung.name))["mean"].get("ahead") for rung in LADDER[-2:]
    )
    return filled(
        "sentences",
        k=K,
        base=base,
        found=pages[base],
        doc=docs[base],
        pooled=finding.lost_by_pooled_gold(metrics, base, K),
        match=[pages[name] for name in ("dense", "dense_records") if name in pages],
        ahead=pages.get("ahead") if whole is None else whole,
        without_kinds=without_kinds,
    ).splitlines()


def intervals(summary: pd.DataFrame) -> str:
    """What a caption says of the best ordinary method's shares."""
    base, parts = ordinary(summary), []
    names = {"found": "page_recall", "lost with the filing": "lost_at_document", "lost inside it": "lost_at_page"}
    for what, metric in names.items():
        rows = at_k(summary, metric)
        ends = rows[rows.index == base][["low", "high"]].itertuples(index=False)
        parts += [f"{what} {low:.0%} to {high:.0%}" for low, high in ends]
    drawn = f" {title('ahead')} has the first draw of its folds." if "ahead" in {*summary["method"]} else ""
    return f"{title(base)}, which was chosen on these questions, has 95 % intervals of: {', '.join(parts)}.{drawn}"


def trust(study: Study, summary: pd.DataFrame) -> list[str]:
    """How far the finding can be relied on: the two largest cautions."""
    label = named(study).set_index("question_id")["named"]
    models = models_of(study.profile)
    has_ahead = "ahead" in at_k(summary, "page_recall").index and study.dataset.collection in SETS
    return filled(
        "trust",
        outside=finding.outside_gains(Resampling.of(study)).to_dict("records") if has_ahead else [],
        n=len(study.questions),
        n_companies=study.questions["company"].nunique(),
        named=(label == NAMED[0]).mean() if len(label) else None,
        is_small=has_small_models(study),
        models=[models[role]["title"] for role in ("embedder", "rerank", "generator") if role in models],
    ).splitlines()


def has_small_models(study: Study) -> bool:
    """Whether two processor cores run the profile's models: the lock file states that each has few parameters."""
    names = weights_of(study.profile).values()
    return all(lock().get(name, {}).get("parameters", math.inf) < MOST_PARAMETERS for name in names)


def further(study: Study, summary: pd.DataFrame) -> list[str]:
    """What encoder and answers change, with the chapters that say so, or that it was not measured."""
    calculated = finding.calculated_shares(study)
    return filled(
        "further",
        **encoders.titles(study),
        better=finding.with_better_encoder(study, at_k(summary, "page_recall")["mean"], K),
        has_better_encoder=study.profile.name == encoders.BETTER,
        calculated=calculated,
        second=finding.on_second_set(study, K) if calculated else None,
    ).splitlines()


def headline(study: Study, summary: pd.DataFrame) -> str:
    """The fragment that the index page includes: MyST, with paths as from ``book/``."""
    metrics = read_metrics(study.outputs / METRICS_FILE)
    found, *explained = sentences(summary, Metrics(metrics))
    rows, figure, climbed = climb(study, metrics), "", ""
    if (study.outputs / "figures" / f"{FIGURE}.svg").is_file():
        figure = drawing(study, FIGURE, "headline", OF_FIGURE.format(k=K) + intervals(summary), ALT).markdown
    if len(rows) > 1:
        columns = {"What to do": "do", "Needs": "needs", "Page recall": interval("page_recall")}
        columns |= {"Pooled": "page_recall_pooled"} if "page_recall_pooled" in rows else {}
        columns |= {"Gain": gain(), "Seconds": "question_s", "Verdict": "verdict"}
        shown = rows.assign(verdict=verdicts(rows))
        climbed = show(study, shown, "actions", OF_CLIMB, columns=columns, data=rows).markdown
    return filled(
        "headline",
        found=found.rstrip("."),
        sentences=explained,
        n=len(study.questions),
        is_small=has_small_models(study),
        n_filings=len(study.filings),
        trust=trust(study, summary),
        further=further(study, summary),
        figure=figure,
        climbed=climbed,
    )


def readme_text(study: Study, published: Published, figure: str = "") -> str:
    """What the README prints of it, with the path of the figure where there is one."""
    summary, manifest = read_summary(study), published.manifest
    return filled(
        "readme",
        sentences=sentences(summary, Metrics(read_metrics(study.outputs / METRICS_FILE))),
        trust=trust(study, summary),
        figure=f"\n![{ALT}]({figure})\n" if figure else "",
        intervals=intervals(summary),
        manifest=manifest,
        digest=published.digest,
        minutes=round(sum(record["wall_s"] for record in manifest["stages"]) / 60),
    ).replace("\\", "")
