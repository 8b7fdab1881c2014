"""The first page, and the page of what to change: where evidence is lost, which method fits which case, what each step
adds, and how far to trust that."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
from docutils.nodes import make_id

from lib.ahead.search import scored_by
from lib.analysis import encoders, finding
from lib.analysis.breakdowns import NAMED, named
from lib.analysis.budget import by_budget
from lib.analysis.climb import CLIMB, climb, climb_unseen
from lib.analysis.decisions import TREE, leaves, measuring
from lib.analysis.ladder import LADDER, rung_recalls
from lib.analysis.strict_folds import strictest_of
from lib.analysis.unseen import better_encoder, fates
from lib.book.page_templates import filled
from lib.evaluation import means_at, read_metrics, read_summary, rows_at
from lib.method import memoized
from lib.method_sets import baselines, best_standard
from lib.metrics.frame import Metrics
from lib.models.weights import lock, models_of, weights_of
from lib.other_sets import BETTER, unseen_beside, with_other_sets
from lib.published import METRICS_FILE, Published
from lib.schema import K
from lib.show import charts
from lib.show.display import Shown, typeset
from lib.show.figures import lost_panels
from lib.show.markup import as_csv
from lib.show.output import gain, interval, show
from lib.show.tables import title
from lib.stats import verdicts
from lib.study import Study

ALT = "Stacked bars of the pages with evidence: found, page not retrieved, and filing not retrieved."  # of the README's
MOST_PARAMETERS = 1e9  # of a small model
SHOWN_MODELS = ("embedder", "spans", "rerank", "generator")  # roles of models that the first page names
STRICT = ("ahead", "ahead_general")  # trained rows that the first page shows
Strict = Mapping[str, pd.DataFrame]
NO_FOLDS: Strict = MappingProxyType({})
OF_FIGURE = "Gold pages by what becomes of them in the first {k} chunks, in percent. "
OF_DESIGN = "Ahead was designed on FinanceBench's questions; nothing was tuned on unseen companies. "
CHART = "Page recall against what is read, chunks or tokens; a line per method."
OF_CHART = (
    "Page recall against the chunks or tokens that a generator reads. Choose the questions, the unit and what your "
    "pipeline may use; point at a line for its interval, click names below to compare a few. Ahead has its strictest "
    "folds where chunks are counted, else folds by company; Ahead from cover pages has folds by company."
)
OF_LEAVES = (
    "The methods of the tree: page recall with 95 % intervals on each question set, and seconds per question on two "
    "processor cores where they were timed. The tree was written by people who had seen these scores. Ahead from cover "
    "pages has folds by company, Ahead its strictest folds where they are known."
)
#: Rows of the first page's figure beside the best standard method.
SHOWN = ("dense", "dense_records", "ahead")
OF_CLIMB = (
    "Each step beside the one above it: page recall (share of the gold pages in the chunks read) and paired gain with "
    "95 % intervals, n = {n}; what a step needs and its seconds are in the CSV. Verdicts have p corrected (Holm) "
    "within the family of tests of the step's chapter; more chunks cannot lower recall, so no test is given. Ahead's "
    "recall is that of its strictest folds, which hold out companies and question templates, averaged over draws."
)
OF_UNSEEN = (
    " Beside it the same of questions about companies that nobody tuned for, p corrected over the steps; the gains are "
    "in the CSV."
)


class Found(NamedTuple):
    """What both pages state."""

    summary: pd.DataFrame  # SUMMARY_COLUMNS
    metrics: pd.DataFrame  # METRIC_COLUMNS
    unseen: finding.Unseen | None = None
    strict: Strict = NO_FOLDS  # of the strictest folds: lib.analysis.strict_folds.strictest_of
    tokens: Mapping[str, object] | None = None  # of equal numbers of tokens: lib.analysis.finding.by_tokens
    budgets: pd.DataFrame | None = None
    encoder: pd.DataFrame | None = None  # a better one on unseen companies: lib.analysis.unseen.better_encoder
    better: Mapping[str, tuple[float, float]] = MappingProxyType({})  # the same here
    rungs: pd.DataFrame | None = None  # page recall of Ahead's steps: lib.analysis.ladder.rung_recalls
    match: str | None = None  # verdict of the metadata match: lib.analysis.finding.of_match
    scored: str = "folds"  # what ranks Ahead's pages: lib.ahead.search.scored_by

    @classmethod
    def of(cls, study: Study) -> "Found":
        """What a study's outputs have."""
        other, summary = unseen_beside(study), read_summary(study.outputs)
        recalls = means_at(summary, "page_recall")
        metrics = read_metrics(study.outputs / METRICS_FILE)
        return cls(
            summary=summary,
            metrics=metrics,
            unseen=finding.on_unseen(study, K),
            strict=strictest_of(study, STRICT, K),
            tokens=finding.by_tokens(study),
            budgets=budgets(study),
            encoder=better_encoder(other, K) if other else None,
            better=finding.with_better_encoder(study, recalls, K),
            rungs=rung_recalls(study, K)["page_recall"] if "ahead" in recalls else None,
            match=finding.of_match(study, metrics, K),
            scored=scored_by(study),
        )

    @property
    def best(self) -> str:
        """The best standard method."""
        return best_standard(means_at(self.summary, "page_recall"))

    @property
    def by_company(self) -> float | None:
        """Ahead's page recall by folds of companies, mean over their draws; None where it has no folds."""
        whole = LADDER[-1].name
        return self.rungs[whole].mean() if self.rungs is not None and whole in self.rungs else None

    @property
    def sentences(self) -> list[str]:
        """The finding in one sentence, and those that explain it."""
        pages, docs = (means_at(self.summary, metric) for metric in ("page_recall", "doc_recall"))
        ahead = pages.get("ahead") if self.by_company is None else self.by_company
        return filled(
            "sentences",
            k=K,
            base=self.best,
            found=pages[self.best],
            doc=docs[self.best],
            pooled=finding.lost_by_pooled_gold(Metrics(self.metrics), self.best, K),
            match=[pages[name] for name in ("dense", "dense_records") if name in pages],
            match_verdict=self.match,
            scored=self.scored,
            tokens=self.tokens,
            ahead=self.strict["ahead"]["page_recall"].mean() if self.strict else ahead,
            strict=bool(self.strict) and self.by_company is not None,
            unseen=self.unseen,
            encoder=None if self.encoder is None else self.encoder.loc["dense_records"],
            better=self.better.get("dense_records"),
            n_standard=int(pages.index.isin(baselines()).sum()),
        ).splitlines()


def intervals(summary: pd.DataFrame) -> str:
    """What a caption says of the best standard method's shares."""
    base, parts = best_standard(means_at(summary, "page_recall")), []
    names = {"found": "page_recall", "filing not retrieved": "lost_at_document", "page not retrieved": "lost_at_page"}
    for what, metric in names.items():
        rows = rows_at(summary, metric, K)
        ends = rows.loc[rows["method"] == base, ["low", "high"]].itertuples(index=False)
        parts += [f"{what} {low:.0%} to {high:.0%}" for low, high in ends]
    return f"{title(base)}, which was chosen on these questions, has 95 % intervals of: {', '.join(parts)}."


def trust(study: Study, found: Found) -> list[str]:
    """How far the finding can be relied on."""
    unseen, strict = found.unseen, found.strict
    label = named(study).set_index("question_id")["named"]
    models = models_of(study.profile)
    recalls = [strict[name]["page_recall"].mean() for name in STRICT if name in strict]
    text = filled(
        "trust",
        unseen=unseen,
        kinds=recalls[0] - recalls[1] if len(recalls) == len(STRICT) else None,
        ahead=ahead_in_tables(found),
        people=finding.labelled_by_people(study),
        n=len(study.questions),
        n_companies=study.questions["company"].nunique(),
        named=(label == NAMED[0]).mean() if len(label) else None,
        is_small=has_small_models(study),
        models=list(dict.fromkeys(models[role]["title"] for role in SHOWN_MODELS if role in models)),
    )
    return [*map(typeset, text.splitlines())]


def ahead_in_tables(found: Found) -> dict[str, float] | None:
    """Ahead's page recall by what its folds hold out: of its run, one draw of folds by company, over several draws of
    these, and over draws of the strictest folds; None where one is not known."""
    pages = means_at(found.summary, "page_recall")
    if "ahead" not in found.strict or found.by_company is None or "ahead" not in pages:
        return None
    strictest = found.strict["ahead"]["page_recall"].mean()
    return {"run": pages["ahead"], "company": found.by_company, "strictest": strictest}


def has_small_models(study: Study) -> bool:
    """Whether two processor cores run the profile's models: the lock file states that each has few parameters."""
    names = weights_of(study.profile).values()
    return all(lock().get(name, {}).get("parameters", math.inf) < MOST_PARAMETERS for name in names)


def further(study: Study, found: Found) -> list[str]:
    """What encoder and answers change, with the chapters that say so, or that it was not measured."""
    calculated = finding.calculated_shares(study)
    return filled(
        "further",
        **encoders.titles(study),
        better=found.better,
        encoder=found.encoder,
        has_better_encoder=study.profile.name == BETTER,
        calculated=calculated,
        second=finding.on_second_set(study, K) if calculated else None,
    ).splitlines()


@memoized
def budgets(study: Study) -> pd.DataFrame:
    """:func:`lib.analysis.budget.by_budget` of the study's question sets."""
    return by_budget(with_other_sets(study))


def write_headline(study: Study) -> None:
    """Write the fragment that the index page includes, with paths as from ``book/``, and the page of what to change:
    ``pages/headline.md`` and ``pages/decide.md``, MyST."""
    found = Found.of(study)
    study.write("pages/headline.md", headline(study, found))
    study.write("pages/decide.md", decide(study, found))


def headline(study: Study, found: Found) -> str:
    """The first page."""
    title_of_page, *explained = found.sentences
    chart = ""
    if len(found.budgets):
        study.write("tables/budget.csv", as_csv(found.budgets))
        drawn = charts.embedded(charts.recall_against_budget(found.budgets), "budget", CHART)
        caption = f"{OF_CHART} {{download}}`CSV <../tables/budget.csv>`"
        chart = f"```{{raw}} html\n{drawn}```\n\n{caption}"
    return filled(
        "headline",
        found=title_of_page.rstrip("."),
        sentences=explained,
        figure=picture(study, found).markdown,
        chart=chart,
        tree=tree_of(leaves(study, found.budgets)),
    )


def picture(study: Study, found: Found) -> Shown:
    """Where gold pages are lost, on the study's questions and on unseen companies."""
    rows, other = dict.fromkeys((found.best, *SHOWN)), unseen_beside(study)
    sets = {charts.SETS.get(study.dataset.name, study.dataset.name): study}
    sets |= {"Unseen companies": other} if other else {}
    lost = fates(sets, rows, K)
    caption = OF_FIGURE.format(k=K) + (OF_DESIGN if other else "") + intervals(found.summary)
    return show(study, lost_panels(lost), "headline", caption, data=lost)


def tree_of(rows: pd.DataFrame) -> str:
    """The decision tree as a list in HTML with the page recall of its leaves (:func:`lib.analysis.decisions.leaves`);
    empty where none was measured."""
    if rows.empty:
        return ""
    anchors = {name: make_id(f"method-{name}") for name in rows["method"]}
    return filled("tree", tree=TREE, leaves=rows.set_index("method"), sets=_sets_of(rows), anchors=anchors)


def decide(study: Study, found: Found) -> str:
    """The page of what to change."""
    deeper = {step.k: strictest_of(study, [step.method], step.k) for step in CLIMB if step.k != K}
    rows, climbed = climb(study, found.metrics, found.strict, deeper, found.rungs), ""
    measured_leaves = leaves(study, found.budgets)
    if len(rows) > 1:
        columns = {"What to do": "do", "Page recall": interval("page_recall"), "Gain": gain(), "Verdict": "verdict"}
        caption = OF_CLIMB + (OF_UNSEEN if found.unseen else "")
        if found.unseen:
            rows = rows.join(climb_unseen(study, rows))
            columns |= {"Unseen companies": interval("unseen"), "Verdict there": "unseen_verdict"}
        climbed = show(
            study, rows.assign(verdict=verdicts(rows)), "actions", caption, columns=columns, data=rows
        ).markdown
    return filled(
        "decide",
        tree=tree_of(measured_leaves),
        leaves=leaves_table(study, measured_leaves) if len(measured_leaves) else "",
        command=measuring(study, measured_leaves["method"]),
        climbed=climbed,
        trust=trust(study, found),
        further=further(study, found),
        unseen=found.unseen,
    )


def leaves_table(study: Study, rows: pd.DataFrame) -> str:
    """The methods of the decision tree (:func:`lib.analysis.decisions.leaves`) with their numbers, as MyST."""
    reads = rows["budget"].map("{:,}".format) + " " + rows["unit"]
    sets = {title: interval(name) for name, title in _sets_of(rows).items()}
    columns = {"Method": "title", "Reads": "reads", **sets, "Seconds per question": "question_s"}
    return show(
        study, rows.assign(reads=reads), "leaves", OF_LEAVES, columns=columns, data=rows.drop(columns="when")
    ).markdown


def _sets_of(rows: pd.DataFrame) -> dict[str, str]:
    """The question sets of leaves, with their titles."""
    names = [name.removesuffix("_low") for name in rows if name.endswith("_low")]
    return {name: charts.SETS.get(name, name) for name in names}


def readme_text(study: Study, published: Published, figure: str = "") -> str:
    """What the README prints of it, with the path of the figure where there is one."""
    manifest, found = published.manifest, Found.of(study)
    return filled(
        "readme",
        sentences=found.sentences,
        trust=trust(study, found),
        figure=f"\n![{ALT}]({figure})\n" if figure else "",
        intervals=intervals(found.summary),
        manifest=manifest,
        digest=published.digest,
        minutes=round(sum(record["wall_s"] for record in manifest["stages"]) / 60),
    ).replace("\\", "")
