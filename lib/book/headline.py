"""What was found, in one screen: the headline table, the main figure and three sentences, all from the data."""

import pandas as pd

from lib.methods import METHODS, baselines
from lib.show.display import escape, markdown_table, number, with_interval
from lib.show.tables import HEADLINE, METRIC_TITLES, best, published_study, title

K = 5
FIGURES = {
    "decomposition": "Where the gold evidence is lost: the filing, the page inside it, the chunk of the page.",
    "recall-at-k": "Document and page recall against the number of chunks that are read.",
}
LABELS = ("tab-baselines", "tab-oracles", "fig-decomposition")


def headline_rows(summary: pd.DataFrame) -> list[dict]:
    """The rows of the headline table.

    Args:
        summary: SUMMARY_COLUMNS of :mod:`lib.evaluation`.

    Returns:
        For the best baseline, the page scorer and ``ahead`` where they were run, and the best method that is told the
        filing: ``label``, ``method``, ``condition``, the summary's rows by metric, and the published figures.
    """
    at_k = summary[(summary["k"] == K) & summary["metric"].isin(HEADLINE)]
    known, found = published_study(), best(at_k[at_k["method"].isin(baselines())])["method"]
    wanted = [("best baseline", found, "standard", known["standard"].get("multi_hyde_rerank", {}))]
    for name in ("page_scorer", "ahead"):
        if name in METHODS and ((at_k["method"] == name) & (at_k["condition"] == "standard")).any():
            wanted.append(("trained", name, "standard", known["standard"].get(name, {})))
    if (at_k["condition"] == "oracle-document").any():
        told = best(at_k, condition="oracle-document")["method"]
        wanted.append(("told the filing", told, "oracle-document", known["oracle-document"]["best"]))
    rows = []
    for label, method, condition, published in wanted:
        part = at_k[(at_k["method"] == method) & (at_k["condition"] == condition)].set_index("metric")
        rows.append(
            {"label": label, "method": method, "condition": condition, "part": part, "published": published}
        )
    return rows


def headline_table(summary: pd.DataFrame, with_published: bool = True) -> pd.DataFrame:
    """The headline table as it is printed: ours with 95 % intervals, and the published figures beside them."""
    rows = []
    for row in headline_rows(summary):
        shown = {"Method": f"{title(row['method'])} ({row['label']})"}
        for metric in HEADLINE:
            shown[METRIC_TITLES[metric]] = with_interval(*row["part"].loc[metric, ["mean", "low", "high"]])
        published = [number(row["published"].get(metric, float("nan"))) for metric in HEADLINE]
        if with_published:
            shown["Published D / P / B / R"] = " / ".join(published)
        rows.append(shown | {"n": int(row["part"]["n"].iloc[0])})
    return pd.DataFrame(rows)


def sentences(summary: pd.DataFrame) -> list[str]:
    """What the headline table says, in three sentences."""
    rows = {row["label"]: row for row in headline_rows(summary)}

    def mean(row: dict, metric: str = "page_recall") -> float:
        return row["part"].loc[metric, "mean"]

    base = rows["best baseline"]
    found = [
        f"Among the first {K} chunks of the best baseline ({title(base['method'])}) is the right filing for "
        f"{mean(base, 'doc_recall'):.0%} of the questions, but only {mean(base):.0%} of the gold pages."
    ]
    if told := rows.get("told the filing"):
        lost, inside = 1 - mean(base), 1 - mean(told)
        found.append(
            f"Told which filing to read, the best method finds {mean(told):.0%} of the gold pages: {inside:.0%} are "
            f"lost with the right filing in hand, against {lost:.0%} without."
        )
    if trained := rows.get("trained"):
        found.append(
            f"{title(trained['method'])}, trained on questions other than those that it is scored on, finds "
            f"{mean(trained):.0%} of the gold pages without being told the filing."
        )
    else:
        overlap = mean(base, "ctx_rouge_l")
        found.append(f"The best of its chunks overlaps with the evidence by a ROUGE-L of {overlap:.2f}.")
    return found


def headline(study, summary: pd.DataFrame) -> str:
    """The fragment that the index page includes: MyST, with paths as from ``book/``."""
    is_theirs = study.dataset.name == "financebench"
    table = headline_table(summary, is_theirs)
    beside = (
        "; published: the study that this one reproduces, in the order document recall, page recall, BLEU, ROUGE-L"
        if is_theirs
        else ""
    )
    study.write("tables/headline.csv", table.to_csv(index=False))
    if (table["n"] == len(study.questions)).all():
        table = table.drop(columns="n")  # the caption says it
    shown_table = (
        f"::::{{table}} The headline: retrieval at {K} chunks on {len(study.questions)} questions "
        f"({study.dataset.name}), mean with 95 % interval{beside}.{study.provenance} "
        "{download}`CSV <../tables/headline.csv>`\n"
        f":name: tab-headline\n:class: study-table\n\n{markdown_table(table)}\n::::"
    )
    found = "\n".join(f"- {escape(sentence)}" for sentence in sentences(summary))
    name = next((name for name in FIGURES if (study.view / "figures" / f"{name}.png").is_file()), None)
    columns = [shown_table] if name is None else [shown_table, shown_figure(study, name)]
    items = "\n".join(f":::::{{grid-item}}\n{column}\n:::::" for column in columns)
    grid = f"::::::{{grid}} 1 1 1 {len(columns)}\n:class-container: headline\n:gutter: 3\n\n{items}\n::::::"
    return "\n\n".join([found, grid, made_by(study)]) + "\n"


def shown_figure(study, name: str) -> str:
    """The main figure, with what it says in words and its data."""
    return (
        f"::::{{figure}} ../figures/{name}.png\n:name: fig-headline\n:alt: {figure_alt(study, name)}\n\n"
        f"{FIGURES[name]}{study.provenance} {{download}}`CSV <../figures/{name}.csv>`\n::::"
    )


def figure_alt(study, name: str) -> str:
    """The main figure in words: of the best and the worst method, what was found and where the rest was lost."""
    frame = pd.read_csv(study.view / "figures" / f"{name}.csv")
    if name != "decomposition":
        return "Curves, one a method, of document and page recall; the numbers are in the CSV beside it."
    shares = frame[frame["condition"] == "standard"].pivot(index="method", columns="metric", values="mean")
    ordered = shares.sort_values("evidence_found", kind="stable")

    def told(method: str, row: pd.Series) -> str:
        lost = ", ".join(
            f"{row[f'lost_at_{step}']:.0%} at the {step}" for step in ("document", "page", "chunk")
        )
        return f"{title(method)} finds {row['evidence_found']:.0%} and loses {lost}"

    best_row, worst_row = ordered.iloc[-1], ordered.iloc[0]
    return (
        f"Stacked bars, one for each of {len(shares)} methods: the share of the gold evidence that is found, and that "
        f"is lost at each step. {told(best_row.name, best_row)}; {told(worst_row.name, worst_row)}."
    )


def made_by(study) -> str:
    """Where the cells are that made the headline: links to the tables and figures that stand under them."""
    labels = [label for label in LABELS if _is_shown(study, label)]
    links = ", ".join(f"{{numref}}`{label}`" for label in labels)
    pages = "{doc}`../notebooks/03_baselines`, {doc}`../notebooks/02_oracles` and {doc}`../notebooks/05_breakdowns`"
    return f"The numbers are those of {links or pages}; each stands under the notebook cell that made it."


def _is_shown(study, label: str) -> bool:
    """Whether a chapter of this very build has a table or figure of this label."""
    marks = (f":name: {label}\\n", f":name: {label}\n")
    chapters = (path.read_text() for path in (study.view / "notebooks").glob("[0-9]*.ipynb"))
    return any(mark in text for text in chapters for mark in marks)
