"""What of a publication follows without any text: from runs and gold pages their metrics, from these losses and means.

The published ranked measures are those of ``ir_measures``; here they are computed again by their formulas, from the
places of the gold pages, for all runs at once.
"""

import re
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pandas as pd

from lib.evaluation import ANSWER_COLUMNS, METRIC_COLUMNS, SUMMARY_COLUMNS, SUMMARY_FILE, read_metrics, summarise
from lib.metrics.pooled import FULL, pooled_gold
from lib.metrics.retrieval import gold_pages
from lib.published import ANSWERS_FILE, Published
from lib.stats import Resampling
from lib.typed import read_csv
from lib.words import CONDITIONS

EXACT = 1e-9
LAST_DIGIT = 5.1e-7  # half of the last digit that summary.csv has
CUTOFFS = (3, 5, 10)  # of the measures of ir_measures; MAP and recall of distinct pages have the last one
NO_DEPTH, BASE = 0, 10_000  # of k; a metric and its k are one number
NAMED_BY_YEAR = ("financebench", "demo")  # collections whose filings' names have the fiscal year
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
Values = dict[tuple[str, int], np.ndarray]


class Follows:
    """The checks of one publication; each yields what differs, a line a fault."""

    def __init__(self, published: Published):
        self.published, self.table, chunks = published, published.runs.table, published.runs.chunks
        self.questions, self.filings = published.dataset().questions, published.filings
        self.ids, self.docs = pd.Index(self.questions["question_id"]), pd.Index(self.filings["doc_name"])
        self.runs, self.ks = list(published.runs), published.manifest["settings"]["metrics"]["ks"]
        self.n = len(self.runs) * len(self.ids)
        self.own = self.docs.get_indexer(self.questions["doc_name"])  # the filing of each question, by its place
        # of each ranked chunk the places of its question and filing, -1 where there is none; its run and question, and
        # its question, filing and page, as one number each
        self.asked = codes_of(self.table["question_id"], self.ids)
        at = self.table["chunk_id"].cat.codes.to_numpy()
        self.doc, self.page = self.docs.get_indexer(chunks["doc_name"])[at], chunks["page"].to_numpy()[at]
        self.group = self.run_of(self.table) * len(self.ids) + self.asked
        self.key = self.key_of(self.asked, self.doc, self.page)
        self.starts = np.flatnonzero(np.diff(self.group, prepend=-1) != 0)  # of each run's questions
        self.lengths = np.diff(self.starts, append=len(self.table))

    def lines(self) -> Iterator[str]:
        """All that differs; metrics are compared where the runs have their shape."""
        yield from self.of_filings()
        wrong = list(self.of_shape())
        yield from wrong or self.of_metrics()
        yield from self.of_answers()
        yield from self.of_summary()

    def of_filings(self) -> Iterator[str]:
        """Companies, types and gold pages of the questions, and years, that are not those of the filings."""
        about = self.filings.set_index("doc_name").reindex(self.questions["doc_name"])
        for name in ("company", "doc_type"):
            is_apart = self.questions[name].to_numpy() != about[name].to_numpy()
            for row in self.questions[is_apart].to_dict("records"):
                yield f"{name} of {row['question_id']}, {row[name]!r}, is not that of {row['doc_name']}"
        for row, n_pages in zip(self.questions.itertuples(), about["n_pages"], strict=True):
            if not max(row.gold_pages) < n_pages:
                yield f"gold page {max(row.gold_pages)} of {row.question_id} is past the end of {row.doc_name}"
        if self.published.manifest.get("collection") in NAMED_BY_YEAR:
            for name, year in zip(self.filings["doc_name"], self.filings["doc_period"], strict=True):
                if (stated := YEAR.findall(re.sub(r"Q\d", "", name))) and str(year) not in stated:
                    yield f"the year of {name}, {year}, is not that of its name"

    def run_of(self, table: pd.DataFrame) -> np.ndarray:
        """The run of each row, by its place; -1 where there is none."""
        conditions, methods = (table[name].cat for name in ("condition", "method"))
        pairs = pd.MultiIndex.from_product([conditions.categories, methods.categories])
        found = pd.MultiIndex.from_tuples(self.runs).get_indexer(pairs)
        return found[conditions.codes.to_numpy(int) * len(methods.categories) + methods.codes]

    def key_of(self, asked: np.ndarray, doc: np.ndarray, page: np.ndarray) -> np.ndarray:
        """Question, filing and page as one number."""
        return (asked * len(self.docs) + doc) * int(self.filings["n_pages"].max() + 1) + page

    def is_on(self, pages: pd.DataFrame) -> np.ndarray:
        """Whether each ranked chunk is on one of these pages of its question."""
        asked, doc = self.ids.get_indexer(pages["question_id"]), self.docs.get_indexer(pages["doc_name"])
        keys = self.key_of(asked, doc, pages["page"].to_numpy(int))
        return np.isin(self.key, keys[(asked >= 0) & (doc >= 0)])

    def of_shape(self) -> Iterator[str]:
        """Runs whose ranks are not 1, 2, 3 and so on, whose scores rise, or with what cannot have been retrieved."""
        table, doc, page = self.table, self.doc, self.page
        expected = np.arange(len(table)) - np.repeat(self.starts, self.lengths) + 1
        again = np.repeat(pd.Series(self.group[self.starts]).duplicated().to_numpy(), self.lengths)
        condition, score = table["condition"].to_numpy(), table["score"].to_numpy(float)
        is_gold = self.is_on(gold_pages(self.questions))
        wrong = {
            "a question that is not asked": self.asked < 0,
            "a chunk that is on no page of filings.csv": (doc < 0) | ~(page < self.filings["n_pages"].to_numpy()[doc]),
            "ranks that are not 1, 2, 3 and so on": (table["rank"].to_numpy() != expected) | again,
            "a score that rises": (np.diff(score, prepend=np.inf) > 0) & (expected > 1) | ~np.isfinite(score),
            "a chunk twice": pd.DataFrame({"group": self.group, "at": table["chunk_id"].cat.codes}).duplicated(),
            "a chunk of another filing": (condition != CONDITIONS[0]) & (doc != self.own[self.asked]),
            "a chunk of another page": (condition == CONDITIONS[2]) & ~is_gold,
        }
        for what, rows in wrong.items():
            for row in table[np.asarray(rows)].drop_duplicates(["condition", "method"]).itertuples():
                yield f"{row.condition}/{row.method} has {what}: {row.question_id}, rank {row.rank}, {row.chunk_id}"

    def first(self, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether each ranked chunk is the first of its question with this key, and how many distinct keys there are
        down to it."""
        is_first = ~pd.DataFrame({"group": self.group, "key": key}).duplicated().to_numpy()
        return is_first, self.count_to(is_first)

    def count_to(self, rows: np.ndarray) -> np.ndarray:
        """How many of ``rows`` (a mask) there are of the same run and question down to each ranked chunk."""
        seen = np.cumsum(rows)
        return seen - np.repeat(seen[self.starts] - rows[self.starts], self.lengths)

    def counts(self, rows: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """The number or the sum of ``rows`` (a mask) for every run and question."""
        return np.bincount(self.group[rows], None if weights is None else weights[rows], self.n)

    @cached_property
    def values(self) -> Values:
        """Metric and k to the value of every run and question."""
        rank, own, gold = self.table["rank"].to_numpy(), self.own[self.asked], gold_pages(self.questions)
        n_gold = np.bincount(self.ids.get_indexer(gold["question_id"]), minlength=len(self.ids))
        is_first, place = self.first(self.key)
        is_first_doc, place_doc = self.first(self.doc)
        hit, hit_doc = is_first & self.is_on(gold), is_first_doc & (self.doc == own)
        n_gold, one, found = np.tile(n_gold, len(self.runs)), np.ones(self.n, int), {}
        judged = pooled_gold(self.published.manifest["dataset"])
        company, is_full = pd.factorize(self.filings["company"])[0], self.is_on(judged[judged["label"] == FULL])
        unjudged = is_first & (company[self.doc] == company[own]) & ~self.is_on(judged)
        for k in self.ks:
            top = rank <= k
            found["doc_recall", k] = self.counts(hit_doc & top)
            found["page_recall", k] = self.counts(hit & top) / n_gold
            found["page_hit", k] = found["page_recall", k] > 0
            found["lost_at_document", k] = 1 - found["doc_recall", k]
            found["lost_at_page", k] = found["doc_recall", k] - found["page_recall", k]
            if len(judged):
                answered = self.counts(is_full & top) > 0
                found["page_recall_pooled", k] = np.where(answered, 1.0, found["page_recall", k])
                shown = np.maximum(self.counts(is_first & top), 1)
                found["pages_unjudged", k] = self.counts(unjudged & top) / shown
        found |= self.ranked(hit, place, n_gold)
        return found | {(f"doc_{name}", k): v for (name, k), v in self.ranked(hit_doc, place_doc, one, False).items()}

    def ranked(self, hit: np.ndarray, place: np.ndarray, n_gold: np.ndarray, is_page: bool = True) -> Values:
        """nDCG and MRR, of pages also MAP and recall, from the places of what is gold among distinct ones."""
        found, gains, nth = {}, 1 / np.log2(place + 1.0), self.count_to(hit)
        for k in CUTOFFS:
            top, ideal = hit & (place <= k), np.cumsum(1 / np.log2(np.arange(k) + 2.0))
            found["ndcg", k] = self.counts(top, gains) / ideal[np.minimum(n_gold, k) - 1]
            found["mrr", k] = self.counts(top & (nth == 1), 1 / place)
        if is_page:
            found["map", k], found["recall", k] = self.counts(top, nth / place) / n_gold, self.counts(top) / n_gold
        return found

    def of_metrics(self) -> Iterator[str]:
        """Metrics of runs that do not follow, are missing, doubled or invented."""
        table = self.published.metrics
        run, asked = self.run_of(table), codes_of(table["question_id"], self.ids)
        metric, k = table["metric"].cat, table["k"].fillna(NO_DEPTH).to_numpy(int)
        kind = metric.codes.to_numpy(int) * BASE + k
        names = {name: code * BASE for code, name in enumerate(metric.categories)}
        about = (f"{r.method}, {r.condition}, {r.question_id}, {r.metric}@{r.k}" for r in table[asked < 0].itertuples())
        yield from (f"a question that is not asked: {line}" for line in about)
        keys = pd.DataFrame({"kind": kind, "asked": asked, **{n: table[n].cat.codes for n in METRIC_COLUMNS[:2]}})
        for row in table[keys.duplicated()].itertuples():
            yield f"a row twice: {row.method}, {row.condition}, {row.question_id}, {row.metric}@{row.k}"
        sizes = table[k != NO_DEPTH].groupby([*METRIC_COLUMNS[:2], "metric", "k"], observed=True).size()
        for where, size in sizes[sizes != len(self.ids)].items():
            yield f"{size} questions in place of {len(self.ids)}: {where[0]}, {where[1]}, {where[2]}@{where[3]}"
        is_run = (run >= 0) & (asked >= 0)
        place, value, published = run * len(self.ids) + asked, table["value"].to_numpy(), {}
        order = np.argsort(kind, kind="stable")
        kinds, starts = np.unique(kind[order], return_index=True)
        rows_of = dict(zip(kinds.tolist(), np.split(order, starts[1:]), strict=True))

        def of(name: str, k: int) -> np.ndarray:
            rows, found = rows_of.get(names.get(name, -BASE) + k, np.array([], int)), np.full(self.n, np.nan)
            rows = rows[is_run[rows]]
            found[place[rows]] = value[rows]
            return found

        for (name, k), fresh in self.values.items():
            published[name, k] = of(name, k)
            yield from self._apart(name, k, published[name, k], fresh)
        for k in self.ks:
            whole = of("evidence_found", k) + of("lost_at_chunk", k)
            yield from self._apart("lost_at_chunk", k, whole, self.values["page_recall", k])

    def _apart(self, name: str, k: int, published: np.ndarray, fresh: np.ndarray) -> Iterator[str]:
        is_there = ~np.isnan(published.reshape(len(self.runs), -1)).all(axis=1)
        if not is_there.all() and not name.startswith("lost_"):  # losses are measured for some runs, at one depth
            yield f"{np.sum(~is_there)} runs have no {name}@{k}, such as {'/'.join(self.runs[np.argmin(is_there)])}"
        is_apart = ~(np.abs(published - fresh) <= EXACT) & np.repeat(is_there, len(self.ids))
        for at in np.flatnonzero(is_apart):
            condition, method = self.runs[at // len(self.ids)]
            where = f"{method}, {condition}, {self.ids[at % len(self.ids)]}, {name}@{k}"
            yield f"{where}: published {published[at]:g}, now {float(fresh[at]):g}"

    def of_answers(self) -> Iterator[str]:
        """Scores of answers twice, of no question, or other ones than the metrics have of their contexts."""
        if ANSWERS_FILE not in self.published.manifest["files"]:
            return
        table = read_metrics(self.published.file(ANSWERS_FILE))
        wrong = {
            "twice": table.duplicated(ANSWER_COLUMNS[:-1]),
            "of a question that is not asked": ~table["question_id"].isin(self.ids),
            "without a value": table["value"].isna(),
        }
        for what, rows in wrong.items():
            for row in table[rows].itertuples():
                yield f"an answer's score {what}: {row.context}, {row.prompt}, {row.question_id}, {row.metric}"
        weights = self.published.manifest["settings"]["generator"]["weights"]
        plain = table[(table["prompt"] == "plain") & (table["generator"] == weights)]
        metrics, names = self.published.metrics, set(plain["context"])
        metrics = metrics[metrics["metric"].isin(set(plain["metric"]))]
        metrics = metrics.astype(dict.fromkeys(METRIC_COLUMNS[:4], object))
        context = metrics["method"].where(metrics["method"].isin(names), "best-baseline")
        context = context.where(metrics["condition"] == CONDITIONS[0], metrics["condition"])
        on = ["context", "question_id", "metric"]
        both = metrics.assign(context=context).merge(plain, on=on, how="outer", suffixes=("_metrics", "_answers"))
        for row in both[~((both["value_metrics"] - both["value_answers"]).abs() <= EXACT)].itertuples():
            where = f"{row.context}, {row.question_id}, {row.metric}"
            yield f"{where}: the metrics have {row.value_metrics:g}, {ANSWERS_FILE} {row.value_answers:g}"

    def of_summary(self) -> Iterator[str]:
        """Runs without metrics, metrics without a run, and rows of the summary that are not those of the metrics."""
        metrics = self.published.metrics
        measured = metrics.loc[metrics["metric"] == "page_recall", ["condition", "method"]].drop_duplicates()
        places = set(map("/".join, measured.itertuples(index=False))) ^ set(self.published.manifest["runs"])
        yield from (f"{place} has a run or metrics, not both" for place in sorted(places))
        is_sound = metrics["value"].notna() & metrics["question_id"].isin(self.ids)
        for row in metrics[~is_sound].drop_duplicates(METRIC_COLUMNS[:2]).itertuples():
            yield f"no mean is defined: {row.method}, {row.condition}, {row.question_id}, {row.metric} is {row.value}"
        summary, keys = read_csv(self.published.file(SUMMARY_FILE), k="Int64"), SUMMARY_COLUMNS[:4]
        settings = self.published.manifest["settings"]["significance"]
        company = self.questions.set_index("question_id")["company"]
        draws = Resampling(company, settings["n_draws"], settings["seed"])
        metrics = metrics[is_sound].astype({"question_id": object}).sort_values("question_id", kind="stable")
        fresh = summarise(metrics, draws).astype(dict.fromkeys(keys[:3], object) | {"k": "Int64"})
        both = summary.merge(fresh, on=keys, how="outer", suffixes=("", "_fresh"), indicator=True)
        said = {"left_only": "summary.csv has a row that no metric gives", "right_only": "summary.csv lacks a row"}
        is_twice = summary.duplicated(keys)
        for row in summary[is_twice].itertuples():
            yield f"summary.csv has a row twice: {row.condition}/{row.method}, {row.metric}@{row.k}"
        for row in both[both["_merge"] != "both"].itertuples():
            yield f"{said[row[-1]]}: {row.condition}/{row.method}, {row.metric}@{row.k}"
        for name in SUMMARY_COLUMNS[4:]:
            limit = 0 if name.startswith("n") else LAST_DIGIT
            is_apart = ~((both[name] - both[f"{name}_fresh"]).abs() <= limit) & (both["_merge"] == "both")
            for row in both[is_apart].to_dict("records"):
                has = f"summary.csv has {name} {row[name]}, the metrics give {row[f'{name}_fresh']:.6f}"
                yield f"{has}: {row['condition']}/{row['method']}, {row['metric']}@{row['k']}"


def codes_of(column: pd.Series, known: pd.Index) -> np.ndarray:
    """The place of each value (categorical) among known ones; -1 where it is none."""
    return known.get_indexer(column.cat.categories.astype(object))[column.cat.codes]
