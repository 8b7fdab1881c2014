"""What was found, in one screen, for the book's index and the README: sentences, table and main figure."""

import re
from pathlib import Path

import pandas as pd

from lib.methods import METHODS, TRAINED, baselines
from lib.metrics.frame import HEADLINE, best
from lib.show.display import escape, markdown_table, show_figure, table
from lib.show.tables import REPORTED, metric_cells, reported_cell, reported_figures, title
from lib.study import Study
from lib.words import StudyError

K = 5
FIGURES = {
    "decomposition": "Where the gold evidence is lost: the filing, the page inside it, the chunk of the page.",
    "recall-at-k": "Document and page recall against the number of chunks that are read.",
}
LABELS = ("tab-baselines", "tab-oracles", "fig-decomposition")
BEGIN, END = "<!-- headline: written by `make publish` -->", "<!-- end of headline -->"
PUBLISHED_FIGURE = "book/results/{dataset}/{profile}/shown/figures/decomposition.png"


def headline_rows(summary: pd.DataFrame) -> dict[tuple[str, str, str], pd.DataFrame]:
    """The best baseline, the page scorer and ``ahead`` where they were run, and the best method under oracle document:
    (label, method, condition) to the run's rows of the summary (SUMMARY_COLUMNS) at K chunks.
    """
    at_k = summary[(summary["k"] == K) & summary["metric"].isin(HEADLINE)]
    runs = dict(list(at_k.groupby(["method", "condition"])))
    wanted = [("best baseline", best(at_k[at_k["method"].isin(baselines())])["method"], "standard")]
    wanted += [("trained", name, "standard") for name in TRAINED if name in METHODS]
    if (at_k["condition"] == "oracle-document").any():
        oracle = best(at_k, condition="oracle-document")["method"]
        wanted.append(("told the filing", oracle, "oracle-document"))
    return {row: runs[row[1:]] for row in wanted if row[1:] in runs}


def headline_table(summary: pd.DataFrame, reported: dict) -> pd.DataFrame:
    """The headline table as it is printed: ours with 95 % intervals, and beside them what is reported, if anything.

    ``reported`` is that of :func:`lib.show.tables.reported_figures`.
    """
    rows = []
    for (label, method, condition), part in headline_rows(summary).items():
        row = {"Method": f"{title(method)} ({label})"} | metric_cells(part)
        if reported:
            theirs = {"best baseline": "multi_hyde_rerank", "told the filing": "best"}.get(label, method)
            row[REPORTED] = reported_cell(reported[condition].get(theirs, {}))
        rows.append(row | {"n": int(part["n"].iloc[0])})
    return pd.DataFrame(rows)


def sentences(summary: pd.DataFrame) -> list[str]:
    """What the headline table shows, in three sentences."""
    name, mean = {}, {}
    for (label, method, _), part in headline_rows(summary).items():
        name[label], mean[label] = title(method), part.set_index("metric")["mean"]
    base, pages = mean["best baseline"], {label: means["page_recall"] for label, means in mean.items()}
    found = [
        f"Among the first {K} chunks of the best baseline ({name['best baseline']}) is the right filing for "
        f"{base['doc_recall']:.0%} of the questions, but only {base['page_recall']:.0%} of the gold pages."
    ]
    if (oracle := pages.get("told the filing")) is not None:
        found.append(
            f"Told which filing to read, the best method finds {oracle:.0%} of the gold pages: {1 - oracle:.0%} are "
            f"lost with the right filing in hand, against {1 - base['page_recall']:.0%} without."
        )
    if "trained" in pages:
        found.append(
            f"{name['trained']}, trained on questions other than those that it is scored on, finds "
            f"{pages['trained']:.0%} of the gold pages without being told the filing."
        )
    else:
        overlap = base["ctx_rouge_l"]
        found.append(f"The best of its chunks overlaps with the evidence by a ROUGE-L of {overlap:.2f}.")
    return found


def headline(study: Study, summary: pd.DataFrame) -> str:
    """The fragment that the index page includes: MyST, with paths as from ``book/``."""
    reported, n_questions = reported_figures(study.dataset.name), len(study.questions)
    beside = "; reported: the reproduced study, in the order document recall, page recall, BLEU, ROUGE-L"
    caption = (
        f"The headline: retrieval at {K} chunks on {n_questions} questions ({study.dataset.name}), mean with "
        f"95 % interval{beside if reported else ''}."
    )
    whole = headline_table(summary, reported)
    shown = whole.drop(columns="n") if (whole["n"] == n_questions).all() else whole  # the caption gives n
    columns = [table(study, shown, "headline", caption, data=whole)]
    drawn = [name for name in FIGURES if (study.outputs / "figures" / f"{name}.png").is_file()]
    for name in drawn[:1]:
        columns.append(show_figure(study, name, "headline", FIGURES[name], figure_alt(study, name)))
    items = "\n".join(f":::::{{grid-item}}\n{column.markdown}:::::" for column in columns)
    grid = f"::::::{{grid}} 1 1 1 {len(columns)}\n:class-container: headline\n:gutter: 3\n\n{items}\n::::::"
    found = "\n".join(f"- {escape(sentence)}" for sentence in sentences(summary))
    return f"{found}\n\n{grid}\n\n{made_by(study)}\n"


def figure_alt(study: Study, name: str) -> str:
    """The main figure in words: of the best and the worst method, what was found and where the rest was lost."""
    if name != "decomposition":
        return "Curves, one per method, of document and page recall; the numbers are in the CSV beside it."
    frame = pd.read_csv(study.outputs / "figures" / f"{name}.csv").query("condition == 'standard'")
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


def fill_headline(readme: Path, summary: pd.DataFrame, manifest: dict) -> None:
    """Write sentences, table, main figure and their source between the README's two marks.

    Raises:
        StudyError: a mark is missing.
    """
    text = readme.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise StudyError(
            f"{readme.name} needs one line '{BEGIN}' and one line '{END}' for the headline table"
        )
    rows = markdown_table(headline_table(summary, reported_figures(manifest["dataset"]))).replace("\\", "")
    minutes = sum(record["wall_s"] for record in manifest["stages"]) / 60
    figure = PUBLISHED_FIGURE.format(**manifest)
    is_drawn = (readme.parent / figure).is_file()
    drawn = f"\n\n![Where the gold evidence is lost, by method]({figure})" if is_drawn else ""
    block = (
        f"{' '.join(sentences(summary))}\n\n{rows}{drawn}\n\n"
        f"Means over {manifest['n_questions']} questions at {K} chunks with 95 % intervals; reported: document "
        f"recall / page recall / BLEU / ROUGE-L of the study that this one reproduces. Run of {manifest['date']}, "
        f"commit {manifest['commit'][:10]}, {manifest['machine']}: {minutes:.0f} minutes in the "
        "stages of the store, as timed in their last sitting; what the language model wrote is not counted."
    )
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{block}\n{END}{after}")
