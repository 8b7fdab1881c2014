"""The first page: where evidence is lost, what to change in which order, and how far to trust that."""

import math
from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from lib.analysis import encoders, finding
from lib.analysis.breakdowns import NAMED, named
from lib.analysis.climb import K, climb, climb_unseen
from lib.analysis.ladder import LADDER, published_name
from lib.analysis.templates import strictest_of
from lib.book.manifest import read_summary
from lib.book.templates import filled
from lib.evaluation import read_metrics
from lib.method_sets import baselines
from lib.metrics.frame import Metrics, best
from lib.models.weights import lock, models_of, weights_of
from lib.published import METRICS_FILE, Published
from lib.show.output import drawing, gain, interval, show
from lib.show.tables import title
from lib.stats import verdicts
from lib.study import Study

FIGURES = ("lost-both", "lost")  # drawn by chapters 11 and 02: the first that is there
ALT = "Stacked bars of the pages with evidence: found, page not retrieved, and filing not retrieved."
MOST_PARAMETERS = 1e9  # of a small model
STRICT = ("ahead", "ahead_general")  # trained rows that the first page shows
Strict = Mapping[str, pd.DataFrame]
NO_FOLDS: Strict = MappingProxyType({})
OF_FIGURE = (
    "Of the pages with evidence, what share is found in the first {k} chunks, and where the rest is lost; "
    "*records* are the filings' metadata. "
)
OF_CLIMB = (
    "Each step beside the one above it: page recall (share of the gold pages in the chunks read) and paired gain with "
    "95 % intervals, n = {n}; what a step needs and its seconds are in the CSV. Verdicts have p corrected (Holm) "
    "within the family of tests of the step's chapter; to read more chunks cannot lose and is not tested. Ahead's "
    "recall is that of its strictest folds, which hold out companies and templates of questions, the mean over "
    "several draws of them; the last step has one draw of folds by company."
)
OF_UNSEEN = (
    " Beside it the same of questions about companies that nobody tuned for, p corrected over the steps; the gains are "
    "in the CSV."
)


def at_k(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric's rows over all filings at K chunks, by method."""
    is_wanted = (summary["k"] == K) & (summary["condition"] == "standard") & (summary["metric"] == metric)
    return summary[is_wanted].set_index("method")


def best_standard(summary: pd.DataFrame) -> str:
    """The standard method with the highest page recall."""
    means = at_k(summary, "page_recall")["mean"]
    return best(means[means.index.isin(baselines())])


def sentences(
    summary: pd.DataFrame,
    metrics: Metrics,
    unseen: finding.Unseen | None = None,
    strict: Strict = NO_FOLDS,
    tokens: Mapping[str, object] | None = None,
) -> list[str]:
    """The finding in one sentence, and those that explain it, with the numbers of a summary (SUMMARY_COLUMNS) and of
    the strictest folds (:func:`lib.analysis.templates.strictest_of`) and of equal numbers of tokens
    (:func:`lib.analysis.finding.by_tokens`)."""
    pages, docs = (at_k(summary, metric)["mean"] for metric in ("page_recall", "doc_recall"))
    base = best_standard(summary)
    without_kinds, whole = rungs(summary)
    return filled(
        "sentences",
        k=K,
        base=base,
        found=pages[base],
        doc=docs[base],
        pooled=finding.lost_by_pooled_gold(metrics, base, K),
        match=[pages[name] for name in ("dense", "dense_records") if name in pages],
        tokens=tokens,
        ahead=strict["ahead"]["page_recall"].mean() if strict else pages.get("ahead") if whole is None else whole,
        general=strict["ahead_general"]["page_recall"].mean() if "ahead_general" in strict else without_kinds,
        strict=bool(strict) and whole is not None,
        whole=whole,
        without_kinds=without_kinds,
        unseen=unseen,
    ).splitlines()


def rungs(summary: pd.DataFrame) -> list[float | None]:
    """Ahead's page recall without and with its page kinds, means over the draws of its folds; None where there are
    none."""
    return [at_k(summary, published_name("page_recall", rung.name))["mean"].get("ahead") for rung in LADDER[-2:]]


def intervals(summary: pd.DataFrame) -> str:
    """What a caption says of the best standard method's shares."""
    base, parts = best_standard(summary), []
    names = {"found": "page_recall", "filing not retrieved": "lost_at_document", "page not retrieved": "lost_at_page"}
    for what, metric in names.items():
        rows = at_k(summary, metric)
        ends = rows[rows.index == base][["low", "high"]].itertuples(index=False)
        parts += [f"{what} {low:.0%} to {high:.0%}" for low, high in ends]
    return f"{title(base)}, which was chosen on these questions, has 95 % intervals of: {', '.join(parts)}."


def trust(study: Study, unseen: finding.Unseen | None = None, strict: Strict = NO_FOLDS) -> list[str]:
    """How far the finding can be relied on."""
    label = named(study).set_index("question_id")["named"]
    models = models_of(study.profile)
    recalls = [strict[name]["page_recall"].mean() for name in STRICT if name in strict]
    return filled(
        "trust",
        unseen=unseen,
        kinds=recalls[0] - recalls[1] if len(recalls) == len(STRICT) else None,
        people=finding.labelled_by_people(study),
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
    unseen, strict = finding.on_unseen(study, K), strictest_of(study, STRICT, K)
    found, *explained = sentences(summary, Metrics(metrics), unseen, strict, finding.by_tokens(study))
    rows, figure, climbed = climb(study, metrics, strict), "", ""
    wanted = FIGURES if unseen else FIGURES[1:]
    drawn = [name for name in wanted if (study.outputs / "figures" / f"{name}.svg").is_file()]
    for name in drawn[:1]:
        figure = drawing(study, name, "headline", OF_FIGURE.format(k=K) + intervals(summary), ALT).markdown
    if len(rows) > 1:
        columns = {"What to do": "do", "Page recall": interval("page_recall"), "Gain": gain(), "Verdict": "verdict"}
        caption = OF_CLIMB + (OF_UNSEEN if unseen else "")
        if unseen:
            rows = rows.join(climb_unseen(study, rows))
            columns |= {"Unseen companies": interval("unseen"), "Verdict there": "unseen_verdict"}
        shown = rows.assign(verdict=verdicts(rows))
        climbed = show(study, shown, "actions", caption, columns=columns, data=rows).markdown
    return filled(
        "headline",
        found=found.rstrip("."),
        sentences=explained,
        n=len(study.questions),
        is_small=has_small_models(study),
        n_filings=len(study.filings),
        trust=trust(study, unseen, strict),
        further=further(study, summary),
        figure=figure,
        climbed=climbed,
    )


def readme_text(study: Study, published: Published, figure: str = "") -> str:
    """What the README prints of it, with the path of the figure where there is one."""
    summary, manifest, unseen = read_summary(study), published.manifest, finding.on_unseen(study, K)
    metrics, strict = Metrics(read_metrics(study.outputs / METRICS_FILE)), strictest_of(study, STRICT, K)
    return filled(
        "readme",
        sentences=sentences(summary, metrics, unseen, strict, finding.by_tokens(study)),
        trust=trust(study, unseen, strict),
        figure=f"\n![{ALT}]({figure})\n" if figure else "",
        intervals=intervals(summary),
        manifest=manifest,
        digest=published.digest,
        minutes=round(sum(record["wall_s"] for record in manifest["stages"]) / 60),
    ).replace("\\", "")
