"""What was found, in one screen, for the book's index and the README: sentences, table and main figure."""

import re

import pandas as pd

from lib.book.templates import filled
from lib.methods import MATCHED, METHODS, ORDERED, TRAINED, baselines, of_family
from lib.metrics.frame import HEADLINE, best
from lib.show.display import escape, show_figure, table
from lib.show.tables import REPORTED, metric_cells, reported_cell, reported_runs, title
from lib.study import Study

K = 5
OF_DRAW = "rung_page_recall/whole_"  # metric of :mod:`lib.ahead.ladder`, before the seed of the folds
FIGURE = "Where the gold evidence is lost: the filing, the page inside it, the chunk of the page."
LABELS = ("tab-baselines", "tab-oracles", "fig-decomposition")


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
    """The headline table as it is printed: ours with 95 % intervals, beside them what the main study reports."""
    known, rows = reported_runs(dataset), []
    for (label, method, condition), part in headline_rows(summary).items():
        row = {"Method": f"{title(method)} ({label})"} | metric_cells(part)
        if known:
            row[REPORTED] = reported_cell(known.get((method, condition), {}))
        rows.append(row | {"n": int(part["n"].iloc[0])})
    return pd.DataFrame(rows)


def sentences(summary: pd.DataFrame) -> list[str]:
    """What the headline table shows; each sentence compares a method with itself or names what differs.

    Of ``ahead`` it is the mean over the draws of its folds, where they were measured.
    """
    rows = headline_rows(summary)
    pages = {row: part.set_index("metric").at["page_recall", "mean"] for row, part in rows.items()}
    base = next(iter(rows))[1]
    known = {
        "inside": pages.get(("filing given", base, "oracle-document")),
        "ahead": pages.get(("trained", "ahead", "standard")),
        "given": pages.get(("filing given", "ahead", "oracle-document")),
    }
    draws = summary[summary["metric"].str.startswith(OF_DRAW) & (summary["k"] == K)]["mean"].tolist()
    matched = [(method, share) for (label, method, _), share in pages.items() if label == "filings matched"]
    ordered = [(name, share) for (_, name, _), share in pages.items() if METHODS[name].family == ORDERED]
    found = rows["best baseline", base, "standard"].set_index("metric")["mean"]
    given = {"found": found, "matched": matched, "ordered": ordered, "draws": draws}
    return filled("sentences", k=K, base=base, **given, **known).splitlines()


def headline(study: Study, summary: pd.DataFrame) -> str:
    """The fragment that the index page includes: MyST, with paths as from ``book/``."""
    reported, n_questions = reported_runs(study.dataset.name), len(study.questions)
    beside = "; reported: the reproduced study's Tables 2 and 3, document recall, page recall, BLEU, ROUGE-L"
    caption = (
        f"The headline: retrieval at {K} chunks on {n_questions} questions ({study.dataset.name}), mean with "
        f"95 % interval{beside if reported else ''}."
    )
    whole = headline_table(summary, study.dataset.name)
    shown = whole.drop(columns="n") if (whole["n"] == n_questions).all() else whole  # the caption gives n
    columns = [table(study, shown, "headline", caption, data=whole)]
    if (study.outputs / "figures" / "decomposition.png").is_file():
        columns.append(show_figure(study, "decomposition", "headline", FIGURE, figure_alt(study)))
    items = "\n".join(f":::::{{grid-item}}\n{column.markdown}:::::" for column in columns)
    grid = f"::::::{{grid}} 1 1 1 {len(columns)}\n:class-container: headline\n:gutter: 3\n\n{items}\n::::::"
    found = "\n".join(f"- {escape(sentence)}" for sentence in sentences(summary))
    return f"{found}\n\n{grid}\n\n{made_by(study)}\n"


def figure_alt(study: Study) -> str:
    """The main figure in words: of the best and the worst method, what was found and where the rest was lost."""
    frame = pd.read_csv(study.outputs / "figures" / "decomposition.csv").query("condition == 'standard'")
    shares = frame.pivot(index="method", columns="metric", values="mean")
    ordered, in_words = shares.sort_values("evidence_found", kind="stable"), []
    for _, row in ordered.iloc[[-1, 0]].iterrows():
        lost = [f"{row[f'lost_at_{step}']:.0%} at the {step}" for step in ("document", "page", "chunk")]
        in_words.append(f"{title(row.name)} finds {row['evidence_found']:.0%} and loses {', '.join(lost)}")
    return (
        f"Stacked bars, one for each of {len(shares)} methods: the share of the gold evidence that is found, and that "
        f"is lost at each step. {'; '.join(in_words)}."
    )


def made_by(study: Study) -> str:
    """Links to the cells that made the headline: the tables and figures of LABELS that this very build contains."""
    chapters = [path.read_text() for path in (study.outputs / "notebooks").glob("[0-9]*.ipynb")]
    labels = [name for name in LABELS if any(re.search(rf":name: {name}(\\n|\n)", text) for text in chapters)]
    links = ", ".join(f"{{numref}}`{label}`" for label in labels)
    pages = "{doc}`../notebooks/03_baselines`, {doc}`../notebooks/02_oracles` and {doc}`../notebooks/05_breakdowns`"
    return f"The numbers are those of {links or pages}; each stands under the notebook cell that made it."
