"""What was found, for the book's index and the README: finding, what to change and what not, how far to trust it."""

import pandas as pd

from lib.analysis import encoders
from lib.analysis.breakdowns import NAMED, named
from lib.analysis.compare import actions
from lib.book.manifest import read_summary
from lib.book.templates import filled
from lib.evaluation import SUMMARY_FILE, read_metrics
from lib.methods import MATCHED, METHODS, ORDERED, TRAINED, baselines, of_family
from lib.metrics import METRIC_TITLES
from lib.metrics.frame import HEADLINE, best
from lib.models.weights import models_of
from lib.profile import load_profile
from lib.published import ANSWERS_FILE, Published
from lib.show.display import number, show_figure, table, with_interval
from lib.show.tables import as_table, reported_runs, title
from lib.study import Study
from lib.typed import read_csv

K = 5
OF_DRAW = "rung_page_recall/whole_"  # metric of :mod:`lib.analysis.ladder`, before the seed of the folds
WITHOUT_KINDS = "rung_page_recall/statements"  # the step before the hand-written page kinds
LADDER = "From the best ordinary method to Ahead, one step at a time: page recall with 95 % intervals."
SHOWN = ("doc_recall", "page_recall")
REPORTED = "Reported, document / page"
CALCULATED = {"ahead", "best-baseline", "oracle-page"}


def headline_rows(summary: pd.DataFrame) -> dict[tuple[str, str, str], pd.DataFrame]:
    """The best baseline, the best one with matched filings, the best page order, the page scorer as published with both
    kinds of folds and ``ahead``, where they were run; then the best baseline and ``ahead`` with the filing given.

    Returns:
        (label, method, condition) to the run's rows of the summary (SUMMARY_COLUMNS) at K chunks.
    """
    at_k = summary[(summary["k"] == K) & summary["metric"].isin(HEADLINE)]
    runs = dict(list(at_k.groupby(["method", "condition"])))
    base = best(at_k[at_k["method"].isin(baselines())])["method"]
    wanted = [("best baseline", base, "standard")]
    trained = [name for one in TRAINED for name in (one, f"{one}_filing") if name in METHODS]
    for label, family in (("filings matched", MATCHED), ("trained", ORDERED)):
        found = at_k[at_k["method"].isin(of_family(family)) & (at_k["condition"] == "standard")]
        wanted += [(label, best(found)["method"], "standard")] if len(found) else []
    wanted += [("trained", name, "standard") for name in trained]
    wanted += [("filing given", name, "oracle-document") for name in (base, "ahead")]
    return {row: runs[row[1:]] for row in wanted if row[1:] in runs}


def headline_table(summary: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The headline table as it is printed: ours with 95 % intervals, beside them what the main study reports of the
    same method, and of no other."""
    known, rows = reported_runs(dataset), []
    for (label, method, condition), part in headline_rows(summary).items():
        means = part.set_index("metric")[["mean", "low", "high"]]
        row = {"Method": f"{title(method)} ({label})"}
        row |= {METRIC_TITLES[metric]: with_interval(*means.loc[metric]) for metric in SHOWN}
        if known:
            cells = known.get((method, condition))
            row[REPORTED] = " / ".join(number(cells[metric]) for metric in SHOWN) if cells else "–"
        rows.append(row | {"n": int(part["n"].iloc[0])})
    return pd.DataFrame(rows)


def _known(summary: pd.DataFrame) -> dict:
    """Numbers that the sentences share: page recall of ``ahead``, under each draw of its folds, and without its page
    kinds (None without folds)."""
    rows = headline_rows(summary)
    pages = {row[1:]: part.set_index("metric").at["page_recall", "mean"] for row, part in rows.items()}
    at_k = summary[summary["k"] == K]
    draws = at_k[at_k["metric"].str.startswith(OF_DRAW)]["mean"].tolist()
    bare = next(iter(at_k[at_k["metric"] == WITHOUT_KINDS]["mean"]), None)
    return {"pages": pages, "draws": draws, "bare": bare, "ahead": pages.get(("ahead", "standard"))}


def sentences(summary: pd.DataFrame, n_filings: int) -> list[str]:
    """The finding: each sentence compares a method with itself; of ``ahead``, the mean over the draws of its folds."""
    part = next(iter(headline_rows(summary).values())).set_index("metric")
    base, known = part["method"].iloc[0], _known(summary)
    of_page = part.loc["page_recall"]
    given = {"found": part["mean"], "low": of_page["low"], "high": of_page["high"], "n": int(of_page["n"])}
    given |= {"inside": known["pages"].get((base, "oracle-document"))}
    given |= {"given": known["pages"].get(("ahead", "oracle-document"))}
    return filled("sentences", k=K, base=base, n_filings=n_filings, **given, **known).splitlines()


def trust(study: Study, summary: pd.DataFrame) -> list[str]:
    """How far the finding can be relied on: what is known of questions, models and folds."""
    label = named(study).set_index("question_id")["named"]
    models = models_of(study.profile)
    roles = ("embedder", "rerank", "generator")
    right = summary[(summary["metric"] == "answer_right") & (summary["condition"] == "oracle-page")]
    given = {"named": (label == NAMED[0]).mean() if len(label) else None}
    given |= {"models": [models[role]["title"] for role in roles if role in models], "better": better(study, summary)}
    at_k = summary[(summary["k"] == K) & (summary["condition"] == "standard")].set_index(["metric", "method"])["mean"]
    pooled = at_k[at_k.index.get_level_values("metric") == "page_recall_pooled"].droplevel("metric")
    given |= {"covers": at_k.get(("page_recall", "ahead_covers"))}
    base = next(iter(headline_rows(summary).values()))["method"].iloc[0]
    is_known = {base, "ahead"} <= {*pooled.index}
    given |= {"pooled": {"base": pooled[base], "ahead": pooled["ahead"]} if is_known else None}
    given |= {
        "right": right["mean"].max() if len(right) else None,
        "n_right": right["n"].max() if len(right) else 0,
        "calculated": calculated(study),
    }
    return filled("trust", **given, **_known(summary)).splitlines()


def better(study: Study, summary: pd.DataFrame) -> dict | None:
    """What the better encoder changes, None where that is unknown: its ``title``, and page recall before and after
    (``pages``) of dense search, also behind a match, and of ``ahead``."""
    published = Published.of(study.dataset.name, encoders.BETTER)
    if published is None or study.profile.name == encoders.BETTER:
        return None
    tables = summary, read_csv(published.file(SUMMARY_FILE), k="Int64")
    tables = [
        one[(one["k"] == K) & (one["condition"] == "standard") & (one["metric"] == "page_recall")] for one in tables
    ]
    before, after = (one.set_index("method")["mean"] for one in tables)
    names = ("dense", "dense_records", "ahead")
    if not all(name in one for name in names for one in (before, after)):
        return None
    pages = {name: (before[name], after[name]) for name in names}
    title = models_of(load_profile(encoders.BETTER))["embedder"]["title"]
    return {"title": title, "pages": pages}


def calculated(study: Study) -> dict[str, float]:
    """The share of numbers that calculation gets right, with the generator as fallback, by context; empty unless all of
    CALCULATED were read."""
    path = study.outputs / ANSWERS_FILE
    if not path.is_file():
        return {}
    found = read_metrics(path).query("prompt == 'calculation' and metric == 'answer_right'")
    found = found[found["generator"] == study.profile.generator.weights]
    means = found.groupby("context")["value"].mean().to_dict()
    return means if set(means) >= CALCULATED else {}


def paying_table(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes that pay as they are printed: seconds per question with and without, a dash where not measured."""
    return as_table(changes[changes["pays"].astype(bool)], "actions")


def idle_table(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes that do not pay as they are printed, each by its best form."""
    return as_table(changes[~changes["pays"].astype(bool)], "idle")


def headline(study: Study, summary: pd.DataFrame) -> str:
    """The fragment that the index page includes: MyST, with paths as from ``book/``."""
    changes = actions(study, K)
    paid = (
        "What gained page recall at {k}, n = {n}: each row changes one thing. Paired difference with 95 % interval; "
        "randomisation test by company, corrected (Holm) within the family of tests that the chapter of the change "
        "shows: with p above 0.05 a gain may be luck."
    )
    idle = "Changes whose gain is not distinguishable from zero, each by the best form that was tried, n = {n}."
    methods = "Recall at {k}, n = {n} questions ({dataset}), with 95 % intervals."
    if reported_runs(study.dataset.name):
        methods += " *Reported* is what the reproduced study states of the same method."
    shown = headline_table(summary, study.dataset.name)
    parts = {
        "paying": table(study, paying_table(changes), "actions", paid, data=changes, k=K).markdown,
        "idle": table(study, idle_table(changes), "idle", idle, data=changes).markdown,
        "methods": table(study, shown, "headline", methods, k=K).markdown,
        "ladder": "",
    }
    if (study.outputs / "figures" / "ahead-ladder.png").is_file():
        parts["ladder"] = show_figure(study, "ahead-ladder", "headline", LADDER, figure_alt(study)).markdown
    found = sentences(summary, len(study.filings))
    return filled("headline", sentences=found, trust=trust(study, summary), **parts)


def figure_alt(study: Study) -> str:
    """The ladder in words."""
    steps = pd.read_csv(study.outputs / "figures" / "ahead-ladder.csv")
    listed = ", ".join(f"{row.title.removeprefix('+ ')} {row.page_recall:.0%}" for row in steps.itertuples())
    return f"A waterfall of page recall from step to step: {listed}."


def readme_text(study: Study, published: Published, figure: str = "") -> str:
    """What the README prints of it, with the path of the ladder's figure where there is one."""
    summary, manifest = read_summary(study), published.manifest
    return filled(
        "readme",
        k=K,
        sentences=sentences(summary, len(study.filings)),
        trust=trust(study, summary),
        figure=f"\n![{LADDER}]({figure})\n" if figure else "",
        manifest=manifest,
        digest=published.digest,
        minutes=round(sum(record["wall_s"] for record in manifest["stages"]) / 60),
    ).replace("\\", "")
