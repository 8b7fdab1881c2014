"""The first page: where evidence is lost, what to change in which order, and how far to trust that."""

import pandas as pd

from lib.ahead.sets import SETS
from lib.analysis import encoders
from lib.analysis.answered import RANKER
from lib.analysis.breakdowns import NAMED, named
from lib.analysis.climb import K, climb
from lib.analysis.families import RUNG
from lib.analysis.ladder import LADDER
from lib.book.manifest import read_summary
from lib.book.templates import filled
from lib.evaluation import SUMMARY_FILE, read_metrics
from lib.method_sets import baselines
from lib.metrics.frame import best
from lib.models.weights import models_of
from lib.profile import load_profile
from lib.published import ANSWERS_FILE, METRICS_FILE, Published
from lib.show.display import show_figure, table
from lib.stats import tier
from lib.study import Study
from lib.typed import read_csv

#: Tables of chapters that are read: right numbers by question set, and Ahead on sets that nobody here had seen.
READ = OF_SETS, OUTSIDE = ("tables/answers-sets.csv", "tables/outside-contrasts.csv")
FIGURE = "lost"  # drawn by chapter 02
ALT = "Stacked bars of the pages with evidence: found, right filing but wrong page, and wrong filing."
CALCULATED = {"ahead", "best-baseline", "oracle-page"}


def at_k(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric's rows over all filings at K chunks, by method."""
    is_wanted = (summary["k"] == K) & (summary["condition"] == "standard") & (summary["metric"] == metric)
    return summary[is_wanted].set_index("method")


def sentences(summary: pd.DataFrame, n_filings: int) -> list[str]:
    """The finding in one sentence, and three that explain it, with the numbers of a summary (SUMMARY_COLUMNS)."""
    pages, docs, pooled = (at_k(summary, metric) for metric in ("page_recall", "doc_recall", "page_recall_pooled"))
    base = best(summary[(summary["k"] == K) & summary["method"].isin(baselines())])["method"]
    whole = at_k(summary, f"{RUNG}{LADDER[-1].name}")
    ahead = whole if len(whole) else pages[pages.index == "ahead"]
    bare = at_k(summary, f"{RUNG}{LADDER[-2].name}")["mean"]
    lost = {step: at_k(summary, f"lost_at_{step}") for step in ("document", "page")}
    ends = {step: rows.loc[[base] if base in rows.index else [], ["low", "high"]] for step, rows in lost.items()}
    return filled(
        "sentences",
        k=K,
        n_filings=n_filings,
        base=base,
        found=pages.loc[base],
        doc=docs.loc[base, "mean"],
        between={step: "".join(map(" ({:.0%} to {:.0%})".format, of.low, of.high)) for step, of in ends.items()},
        match=[pages.loc[name, "mean"] for name in ("dense", "dense_records") if name in pages.index],
        ahead=ahead.iloc[0] if len(ahead) else None,
        bare=bare.iloc[0] if len(bare) else None,
        pooled=pooled["mean"].to_dict() if {base, "ahead"} <= {*pooled.index} else None,
    ).splitlines()


def trust(study: Study, summary: pd.DataFrame) -> list[str]:
    """How far the finding can be relied on: the two largest cautions, and what encoder and answers change."""
    label = named(study).set_index("question_id")["named"]
    models = models_of(study.profile)
    return filled(
        "trust",
        has_ahead="ahead" in at_k(summary, "page_recall").index,
        is_designed_on=study.dataset.collection in SETS,
        n=len(study.questions),
        n_companies=study.questions["company"].nunique(),
        named=(label == NAMED[0]).mean() if len(label) else None,
        models=[models[role]["title"] for role in ("embedder", "rerank", "generator") if role in models],
        better=better(study, summary),
        calculated=calculated(study),
        second=next((one for one in shown(study, OF_SETS) if one["set"] != study.dataset.name), None),
        outside=[one for one in shown(study, OUTSIDE) if "matched dense" in one["contrast"]],
    ).splitlines()


def better(study: Study, summary: pd.DataFrame) -> dict | None:
    """What the better encoder changes, None where that is unknown: its ``title``, and page recall before and after
    (``pages``) of dense search, also behind a match, and of ``ahead``."""
    published = Published.of(study.dataset.name, encoders.BETTER)
    if published is None or study.profile.name == encoders.BETTER:
        return None
    both = summary, read_csv(published.file(SUMMARY_FILE), k="Int64")
    before, after = (at_k(one, "page_recall")["mean"] for one in both)
    names = [name for name in ("dense", "dense_records", "ahead") if name in before and name in after]
    title_of = models_of(load_profile(encoders.BETTER))["embedder"]["title"]
    return {"title": title_of, "pages": {name: (before[name], after[name]) for name in names}} if names else None


def calculated(study: Study) -> dict[str, float]:
    """The share of numbers that calculation gets right, with the generator as fallback, by context, and their number
    ``n``; empty unless all of CALCULATED were read."""
    path = study.outputs / ANSWERS_FILE
    if not path.is_file():
        return {}
    found = read_metrics(path).query("prompt == 'calculation' and metric == 'answer_right'")
    found = found[found["generator"] == study.profile.generator.weights]
    means = found.groupby("context")["value"].mean().to_dict()
    return means | {"n": found["question_id"].nunique()} if set(means) >= CALCULATED else {}


def shown(study: Study, name: str) -> list[dict]:
    """The rows of a chapter's table READ that have a difference, each with its ``tier``; of answers RANKER's alone."""
    path = study.outputs / name
    rows = pd.read_csv(path).dropna(subset="difference").to_dict("records") if path.is_file() else []
    ends = ("difference_low", "difference_high", "p_holm")
    return [one | {"tier": tier(*map(one.get, ends))} for one in rows if one.get("context", RANKER) == RANKER]


def headline(study: Study, summary: pd.DataFrame) -> str:
    """The fragment that the index page includes: MyST, with paths as from ``book/``."""
    found, *explained = sentences(summary, len(study.filings))
    rows, figure, climbed = climb(study, read_metrics(study.outputs / METRICS_FILE)), "", ""
    if (study.outputs / "figures" / f"{FIGURE}.svg").is_file():
        caption = "Of the pages with evidence, what share is found in the first {k} chunks, and where the rest is lost."
        figure = show_figure(study, FIGURE, "headline", caption.format(k=K), ALT).markdown
    if len(rows) > 1:
        caption = (
            "Each step beside the one above it: page recall (share of the gold pages in the chunks read; *pooled* "
            "counts every page that answers in full), paired gain with 95 % interval, seconds per question, n = {n}. "
            "Verdicts have p corrected (Holm) within the family of tests of the step's chapter. Ahead's recall is the "
            "mean over several draws of its folds; the last step, *pooled* and the figure above have the first draw."
        )
        show = {"What to do": "do", "Needs": "needs", "Page recall": "page_recall", "Pooled": "page_recall_pooled"}
        show |= {"Gain": "difference", "Seconds": "question_s"}
        show = {head: name for head, name in show.items() if name in rows}
        climbed = table(study, rows, "actions", caption, show=show).markdown
    return filled(
        "headline", found=found, sentences=explained, trust=trust(study, summary), figure=figure, climbed=climbed
    )


def readme_text(study: Study, published: Published, figure: str = "") -> str:
    """What the README prints of it, with the path of the figure where there is one."""
    summary, manifest = read_summary(study), published.manifest
    return filled(
        "readme",
        sentences=sentences(summary, len(study.filings)),
        trust=trust(study, summary),
        figure=f"\n![{ALT}]({figure})\n" if figure else "",
        manifest=manifest,
        digest=published.digest,
        minutes=round(sum(record["wall_s"] for record in manifest["stages"]) / 60),
    ).replace("\\", "")
