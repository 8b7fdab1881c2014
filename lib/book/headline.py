"""The first page: where evidence is lost, what to change in which order, and how far to trust that."""

import math

import pandas as pd

from lib.ahead.sets import SETS
from lib.analysis import encoders
from lib.analysis.answered import RANKER
from lib.analysis.breakdowns import NAMED, named
from lib.analysis.climb import K, climb
from lib.analysis.ladder import LADDER, published_name
from lib.book.manifest import read_summary
from lib.book.templates import filled
from lib.evaluation import SUMMARY_FILE, read_metrics
from lib.method_sets import baselines
from lib.metrics.frame import best
from lib.models.weights import lock, models_of, weights_of
from lib.profile import load_profile
from lib.published import ANSWERS_FILE, METRICS_FILE, Published
from lib.show.output import drawing, gain, interval, show
from lib.show.tables import title
from lib.stats import tier, verdicts
from lib.study import Study
from lib.typed import read_csv

#: Tables of chapters that are read: right numbers by question set, Ahead on unseen sets, losses by pooled gold.
READ = OF_SETS, OUTSIDE, POOLED = ("tables/answers-sets.csv", "tables/outside-contrasts.csv", "tables/pooled.csv")
FIGURE = "lost"  # drawn by chapter 02
ALT = "Stacked bars of the pages with evidence: found, right filing but wrong page, and wrong filing."
MOST_PARAMETERS = 1e9  # of a small model
CALCULATED = {"ahead", "best-baseline", "oracle-page"}


def at_k(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric's rows over all filings at K chunks, by method."""
    is_wanted = (summary["k"] == K) & (summary["condition"] == "standard") & (summary["metric"] == metric)
    return summary[is_wanted].set_index("method")


def ordinary(summary: pd.DataFrame) -> str:
    """The ordinary method with the highest page recall."""
    return best(summary[(summary["k"] == K) & summary["method"].isin(baselines())])["method"]


def sentences(study: Study, summary: pd.DataFrame) -> list[str]:
    """The finding in one sentence, and three that explain it, with the numbers of a summary (SUMMARY_COLUMNS)."""
    pages, docs = (at_k(summary, metric)["mean"] for metric in ("page_recall", "doc_recall"))
    base, path = ordinary(summary), study.outputs / POOLED
    pooled = pd.read_csv(path, index_col="method")["lost_pooled"] if path.is_file() else {}
    bare, whole = (at_k(summary, published_name("page_recall", rung.name))["mean"].get("ahead") for rung in LADDER[-2:])
    return filled(
        "sentences",
        k=K,
        base=base,
        found=pages[base],
        doc=docs[base],
        pooled=pooled.get(base),
        match=[pages[name] for name in ("dense", "dense_records") if name in pages],
        ahead=pages.get("ahead") if whole is None else whole,
        bare=bare,
    ).splitlines()


def intervals(summary: pd.DataFrame) -> str:
    """What a caption says of the best ordinary method's shares."""
    base, said = ordinary(summary), []
    names = {"found": "page_recall", "lost with the filing": "lost_at_document", "lost inside it": "lost_at_page"}
    for what, metric in names.items():
        rows = at_k(summary, metric)
        said += [
            f"{what} {low:.0%} to {high:.0%}" for low, high in rows[rows.index == base][["low", "high"]].to_numpy()
        ]
    drawn = f" {title('ahead')} has the first draw of its folds." if "ahead" in {*summary["method"]} else ""
    return f"{title(base)}, which was chosen on these questions, has 95 % intervals of: {', '.join(said)}.{drawn}"


def trust(study: Study, summary: pd.DataFrame) -> list[str]:
    """How far the finding can be relied on: the two largest cautions."""
    label = named(study).set_index("question_id")["named"]
    models = models_of(study.profile)
    return filled(
        "trust",
        has_ahead="ahead" in at_k(summary, "page_recall").index,
        is_designed_on=study.dataset.collection in SETS,
        n=len(study.questions),
        n_companies=study.questions["company"].nunique(),
        named=(label == NAMED[0]).mean() if len(label) else None,
        is_small=has_small_models(study),
        models=[models[role]["title"] for role in ("embedder", "rerank", "generator") if role in models],
        outside=[one for one in shown(study, OUTSIDE) if "matched dense" in one["contrast"]],
    ).splitlines()


def has_small_models(study: Study) -> bool:
    """Whether two processor cores run the profile's models: the lock file states that each has few parameters."""
    names = weights_of(study.profile).values()
    return all(lock().get(name, {}).get("parameters", math.inf) < MOST_PARAMETERS for name in names)


def further(study: Study, summary: pd.DataFrame) -> list[str]:
    """What encoder and answers change, with the chapters that say so."""
    second = next((one for one in shown(study, OF_SETS) if one["set"] != study.dataset.name), None)
    given = {"better": better(study, summary), "calculated": calculated(study), "second": second}
    return filled("further", **given).splitlines()


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
    found, *explained = sentences(study, summary)
    rows, figure, climbed = climb(study, read_metrics(study.outputs / METRICS_FILE)), "", ""
    if (study.outputs / "figures" / f"{FIGURE}.svg").is_file():
        caption = (
            "Of the pages with evidence, what share is found in the first {k} chunks, and where the rest is lost; "
            "*records* are the filings' metadata. "
        )
        figure = drawing(study, FIGURE, "headline", caption.format(k=K) + intervals(summary), ALT).markdown
    if len(rows) > 1:
        caption = (
            "Each step beside the one above it: page recall (share of the gold pages in the chunks read; *pooled* "
            "counts every page that two readers, language models, found to answer in full), paired gain with 95 % "
            "interval, seconds per question, n = {n}. Verdicts have p corrected (Holm) within the family of tests of "
            "the step's chapter; to read more chunks cannot lose and is not tested. Ahead's recall is the mean over "
            "several draws of its folds; the last step and *pooled* have the first draw."
        )
        columns = {"What to do": "do", "Needs": "needs", "Page recall": interval("page_recall")}
        columns |= {"Pooled": "page_recall_pooled"} if "page_recall_pooled" in rows else {}
        columns |= {"Gain": gain(), "Seconds": "question_s", "Verdict": "verdict"}
        shown = rows.assign(verdict=verdicts(rows))
        climbed = show(study, shown, "actions", caption, columns=columns, data=rows).markdown
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
        sentences=sentences(study, summary),
        trust=trust(study, summary),
        figure=f"\n![{ALT}]({figure})\n" if figure else "",
        intervals=intervals(summary),
        manifest=manifest,
        digest=published.digest,
        minutes=round(sum(record["wall_s"] for record in manifest["stages"]) / 60),
    ).replace("\\", "")
