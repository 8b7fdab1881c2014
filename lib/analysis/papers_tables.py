"""The papers' tables that stored runs give here too: what is reported beside what is measured.

Measures are the papers', or the nearest here; a share of questions that the paper prints in percent is a share. What
Kim et al. report is of other data or a total of seven sets, so that only the order of its rows is comparable.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from lib.analysis.answered import CHUNKINGS_READ
from lib.analysis.breakdowns import group_interval
from lib.analysis.facts import facts
from lib.analysis.statistic import correlation_of
from lib.data.chunks import count_tokens
from lib.metrics.frame import Metrics, Run
from lib.schema import or_without_filings
from lib.stats import Resampling, percentiles, resampled_sums
from lib.study import Study

#: What a cell is, what is reported, and what is measured: the mean with its interval, or a level without one.
COLUMNS = ["paper", "table", "row", "measure", "reported", "mean", "low", "high", "n"]
#: Rows of Yepes et al. to ours; the aggregates have no answers.
CHUNKINGS = dict(
    zip(("base_128", "base_256", "base_512", "keywords_chipper", "summary_chipper"), CHUNKINGS_READ, strict=False)
)
CHUNKINGS |= {"prefix_table_chipper": "element_prefix"}
#: Rows of Kobeissi & Langlais whose recall is reported by kind of question or filing.
BY_KIND: dict[str, Run] = {
    "multi_hyde_rerank": ("multi_hyde_rerank", "standard"),
    "page_scorer": ("page_scorer_filing", "standard"),
    "oracle-document": ("dense", "oracle-document"),
}
RECALLS = {"D": "doc_recall", "P": "page_recall"}
CORPUS = "analysis/corpus"  # a stage
CORPUS_VERSION = 3
#: Chunk tables of Yepes et al. whose sizes are counted, by their name there; to cut elements takes minutes.
CUT = {"fixed_128": "base_128", "fixed_256": "base_256", "fixed_512": "base_512"}
#: Rows of Table III of Akarsu et al. to ours, the points of their Figure 4.
READ: dict[str, Run] = {name: (name, "standard") for name in ("bm25", "dense", "hybrid_rrf")}
READ |= {"oracle": ("dense", "oracle-page")}


def papers_tables(study: Study, metrics: Metrics) -> pd.DataFrame:
    """COLUMNS of all tables, NaN where nothing is reported; rows that were not measured are left out.

    ``metrics`` are those of runs and of :func:`lib.analysis.answered.numbers_read`.
    """
    draws = Resampling.of(study)
    makers = (by_kind, by_type, answers, correlated, chunkings, tuned)
    rows = [row for make in makers for row in make(study, metrics, draws)]
    corpus = or_without_filings(partial(corpus_sizes, study))
    rows += [] if corpus is None else list(_of_corpus(corpus))
    return pd.DataFrame(rows, columns=COLUMNS)


def _measured(draws: Resampling, metrics: Metrics, key: tuple, ids: Iterable | None = None) -> tuple | None:
    if key not in metrics:
        return None
    values = metrics[key] if ids is None else metrics[key].reindex(ids)
    return group_interval(draws, values)[0][:4]


def by_kind(study: Study, metrics: Metrics, draws: Resampling) -> Iterator[tuple]:
    """Figure 3 and Table 4 of Kobeissi & Langlais: recall by type of question and by type of filing."""
    questions, known = study.questions.set_index("question_id"), facts()
    for table, column in (("Figure 3", "question_type"), ("Table 4", "doc_type")):
        for row, run in BY_KIND.items():
            reported = known.table(table).get(row) or {}
            for kind, ids in questions.groupby(column, sort=False).groups.items():
                for letter, metric in RECALLS.items():
                    if found := _measured(draws, metrics, (run, metric, 5), ids):
                        given = (reported.get(kind) or {}).get(letter, np.nan)
                        yield known.source["name"], table, row, f"{letter}, {kind}", given, *found


def by_type(study: Study, metrics: Metrics, draws: Resampling) -> Iterator[tuple]:
    """Table II of Akarsu et al., which their Figure 3 draws; their subsets are types of questions here."""
    groups = study.questions.groupby("question_type", sort=False)["question_id"]
    for row in ("bm25", "dense", "hybrid_rrf"):
        for (kind, ids), k in ((group, k) for group in groups for k in (5, 10)):
            if found := _measured(draws, metrics, ((row, "standard"), "doc_recall", k), ids):
                yield facts("akarsu2026").source["name"], "Table II", row, f"R@{k}, {kind}", np.nan, *found


def answers(study: Study, metrics: Metrics, draws: Resampling) -> Iterator[tuple]:
    """Table III of Akarsu et al. and Table 5 of Yepes et al.: right numbers and declined questions, by calculation."""
    known = facts("akarsu2026")
    for row, cells in known.table("Table III").items():
        if found := _measured(draws, metrics, (READ[row], "right", None)):
            yield known.source["name"], "Table III", row, "right numbers", cells["GPT-4.1-mini"], *found
    known = facts("yepes2024")
    for row, cells in known.table("Table 5").items():
        for column, metric, words in (("manual", "right", "right numbers"), ("no_answer", "declined", "declined")):
            if found := _measured(draws, metrics, ((CHUNKINGS[row], "standard"), metric, None)):
                yield known.source["name"], "Table 5", row, words, cells[column] / 100, *found


def correlated(study: Study, metrics: Metrics, draws: Resampling) -> Iterator[tuple]:
    """Figure 4 of Akarsu et al.: Pearson's r of right numbers and recall@5 over Table III's rows, which n counts."""
    known = facts("akarsu2026")
    reported = float(known.table("Figure 4")["pearson_r"].strip("> "))  # "> 0.99"
    for words, metric in (("document recall", "doc_recall"), ("page recall", "page_recall")):
        keys = [(run, of, k) for of, k in ((metric, 5), ("right", None)) for run in READ.values()]
        if not all(key in metrics for key in keys):
            continue
        values = pd.concat([metrics[key] for key in keys], axis=1, keys=range(len(keys)))
        counted = values.notna().to_numpy(float)
        columns = np.hstack([values.fillna(0).to_numpy(), counted])
        company = draws.company.reindex(values.index)
        drawn = resampled_sums(columns, company, draws.n_draws, draws.seed)
        r = correlation_of(_shares(drawn))
        mean = correlation_of(_shares(columns.sum(axis=0, keepdims=True)))[0]
        measure = f"r of right numbers and {words}@5"
        yield known.source["name"], "Figure 4", "all rows", measure, reported, mean, *percentiles(r), len(READ)


def _shares(sums: np.ndarray) -> np.ndarray:
    """Sums and numbers of values side by side, (n, 2 m), as means (n, m); NaN where a draw has no value."""
    totals, numbers = np.split(sums, 2, axis=1)
    return np.divide(totals, numbers, out=np.full(totals.shape, np.nan), where=numbers > 0)


def chunkings(study: Study, metrics: Metrics, draws: Resampling) -> Iterator[tuple]:
    """Table 4 of Yepes et al.: the share of questions with a gold page among the first 10 chunks."""
    known = facts("yepes2024")
    ours = CHUNKINGS | {"base_aggregation": "fixed_aggregate", "chipper_aggregation": "element_aggregate"}
    for row, cells in known.table("Table 4").items():
        if found := _measured(draws, metrics, ((ours[row], "standard"), "page_hit", 10)):
            yield known.source["name"], "Table 4", row, "page accuracy", cells["page_accuracy"] / 100, *found


def tuned(study: Study, metrics: Metrics, draws: Resampling) -> Iterator[tuple]:
    """Tables 2, 8 and 10 of Kim et al.: an encoder, the whole pipeline, and an encoder that was tuned."""
    known = facts("kim2025")
    shown = [("Table 2", "stella_400M", "dense", "ndcg10", "ndcg")]
    shown += [("Table 8", "FT_1.5B_voyage_rerank_2", "stacked_rerank", "ndcg10", "ndcg")]
    tuned_rows = {"accuracy10": "page_hit", "recall10": "page_recall", "ndcg10": "ndcg", "mrr10": "mrr"}
    shown += [("Table 10", row, "page_scorer", "cosine", metric) for row, metric in tuned_rows.items()]
    for table, row, ours, column, metric in shown:
        if found := _measured(draws, metrics, ((ours, "standard"), metric, 10)):
            yield known.source["name"], table, row, f"{metric}@10 of {ours}", known.table(table)[row][column], *found


def corpus_sizes(study: Study) -> pd.DataFrame:
    """The sizes of the collection: ``of`` (pages and chunks of a filing, tokens of a question and of an answer),
    ``total``, ``mean``, ``sd`` and ``n``; stored."""

    def make() -> pd.DataFrame:
        study.need_filings("counting tokens")
        tables = {"": study.chunks} | {name: study.with_chunks(name).chunks for name in CUT}
        counts = {f"chunks {name}".strip(): table.groupby("doc_name").size() for name, table in tables.items()}
        counts = {"pages": study.pages.groupby("doc_name").size()} | counts
        for what in ("a question", "an answer"):
            texts = study.questions[what.split()[1]].tolist()
            counts[f"tokens of {what}"] = pd.Series(count_tokens(texts, study.tokenizer))
        rows = [(what, int(one.sum()), one.mean(), one.std(), len(one)) for what, one in counts.items()]
        return pd.DataFrame(rows, columns=["of", "total", "mean", "sd", "n"])

    params = {name: study.digest(name) for name in ("pages", "chunks", "questions")}
    params["settings"] = study.settings_of(("embedder",))
    return study.store.frame(CORPUS, params, make, CORPUS_VERSION, public=True)


def _of_corpus(found: pd.DataFrame) -> Iterator[tuple]:
    """The French Table 3 and Table 3 of Yepes et al.: sizes of the collection; ``low`` and ``high`` are NaN."""
    known, sizes = facts("kobeissi2026_fr"), found.set_index("of")
    reported = known.table("Table 3")
    cells = {
        "pages": ("pages", "mean_per_document", "sd"),
        "tokens of a question": ("tokens_of_a_question", "mean", "sd"),
    }
    cells["tokens of an answer"] = "tokens_of_an_answer", "mean", "sd"
    for what, (row, mean, sd) in cells.items():
        ours = sizes.loc[what]
        for measure, column in (("mean", mean), ("sd", sd)):
            yield (
                known.source["name"],
                "Table 3",
                what,
                measure,
                reported[row][column],
                ours[measure],
                np.nan,
                np.nan,
                ours["n"],
            )
    total, n = sizes.loc["chunks", ["total", "n"]]
    yield known.source["name"], "Table 3", "chunks", "total", reported["chunks"]["total"], total, np.nan, np.nan, n
    known = facts("yepes2024")
    for name, row in CUT.items():
        cells, of = known.table("Table 3")[row], sizes.loc[f"chunks {name}"]
        for measure, column in (("total", "chunks"), ("mean", "per_document_mean"), ("sd", "sd")):
            yield known.source["name"], "Table 3", row, measure, cells[column], of[measure], np.nan, np.nan, of["n"]
