"""The pages that the build writes, from method table, manifest and metrics: MyST files in ``pages/`` of the outputs."""

import inspect
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pandas as pd
import yaml

from lib.analysis import left_out
from lib.analysis.facts import SOURCES, facts
from lib.book.environment import licence_of
from lib.book.headline import write_headline
from lib.book.leaderboard import leaderboard_page
from lib.book.page_templates import filled
from lib.book.questions import questions_page
from lib.book.reported import reported_page
from lib.book.walkthrough import walkthrough_page
from lib.evaluation import read_summary
from lib.files import ROOT
from lib.method import AHEAD, MATCHED, OWN, SCORERS, STORED, Method
from lib.method_sets import of_family, siblings
from lib.methods import METHODS
from lib.metrics import METRIC_TITLES
from lib.metrics.frame import HEADLINE
from lib.metrics.right import answer_right
from lib.models.weights import lock
from lib.published import Published
from lib.schema import CONDITIONS, IN_WORDS, K
from lib.show.display import markdown_table, number, with_interval
from lib.show.markup import escape, explorer_link
from lib.show.tables import metric_cells, reported_runs
from lib.statements.sure import fitted
from lib.study import Study

ASKED = Path(__file__).with_name("asked.json")  # of ``extras.asked``: questions on the demo with their answers
ROLE = re.compile(r":(?:func|mod|class|data|meth):`~?([\w.]+)`")


def write_pages(study: Study, manifest: dict) -> None:
    """Write the generated pages, and the fragments that written ones include, into ``pages/``."""
    summary, others = read_summary(study.outputs), siblings(study.profile)
    own = [name for family in OWN for name in of_family(family)]
    pages = {
        "methods": methods_page(study, summary, "Methods", own),
        "siblings": methods_page(study, summary, "Methods of the other studies", others),
        "reported": reported_page(study),
        "appendix": appendix(study, manifest),
        "leaderboard": leaderboard_page(study),
        "questions": questions_page(study),
        "walkthrough": walkthrough_page(study),
        "asked": asked_page(),
    }
    for name, text in pages.items():
        study.write(f"pages/{name}.md", text)
    write_headline(study)


def methods_page(study: Study, summary: pd.DataFrame, heading: str, names: Sequence[str]) -> str:
    """One card per method, by group: what happens to a question, source, settings, numbers, and how to run it alone;
    then what the other studies state of their rows that are here, and what these do instead."""
    at_k, groups = summary[(summary["k"] == K) & summary["metric"].isin(HEADLINE)], {}
    for name in names:
        groups.setdefault(group_of(METHODS[name]), []).append(card(study, METHODS[name], at_k[at_k["method"] == name]))
    sources = [facts(source) for source in SOURCES if heading != "Methods"]
    return filled("methods", study=study, heading=heading, k=K, groups=groups, sources=sources)


def group_of(method: Method) -> str:
    """The heading that a method's card is under."""
    if method.family not in OWN:
        sources = [known.source for known in map(facts, SOURCES)]
        return next(one["name"] for one in sources if one["bibliography"].startswith(method.family))
    if method.family == MATCHED:
        return "After the metadata match"
    if method.family == STORED:
        return "Vector store"
    has_own = method.purpose == AHEAD or (method.purpose == SCORERS and method.is_trained)
    return method.purpose if has_own else "Standard methods"


def card(study: Study, method: Method, summary: pd.DataFrame) -> str:
    """One method's card."""
    module = inspect.getmodule(method.score)
    sections = {section: study.profile[section] for section in ("chunks", *method.settings)}
    settings = json.loads(json.dumps(sections))  # as plain dictionaries
    over_all = summary[(summary["condition"] == CONDITIONS[0]) & (summary["metric"] == "page_recall")]
    recalls = [with_interval(*row) for row in over_all[["mean", "low", "high"]].itertuples(index=False)]
    return filled(
        "card",
        method=method,
        recall=next(iter(recalls), ""),
        about=as_markdown(inspect.getdoc(module) or ""),
        numbers=numbers_table(study, method, summary),
        found=explorer_link("Results question by question", method=method.name) if len(summary) else "",
        details=as_markdown(inspect.getdoc(method.score) or ""),
        settings=yaml.safe_dump(settings, sort_keys=False, default_flow_style=None).strip(),
        path=f"{module.__name__.replace('.', '/')}.py",
        variables=study.names.make_variables(),
    )


def numbers_table(study: Study, method: Method, summary: pd.DataFrame) -> str:
    """The headline metrics of one method by condition, and the reported figures where there are any."""
    parts = dict(list(summary.groupby("condition")))
    rows = [
        {"Condition": IN_WORDS[condition]} | metric_cells(parts[condition]) | {"n": int(parts[condition]["n"].iloc[0])}
        for condition in CONDITIONS
        if condition in parts
    ]
    for (name, condition), known in reported_runs(study.dataset.name).items():
        if name == method.name:
            figures = {METRIC_TITLES[metric]: number(known[metric]) for metric in HEADLINE}
            rows.append({"Condition": f"{IN_WORDS[condition]}, reported"} | figures | {"n": 150})
    return markdown_table(pd.DataFrame(rows)) if rows else "Not run on this dataset."


def as_markdown(docstring: str) -> str:
    """A docstring as MyST: code marks and roles as code, argument sections left out."""
    text = re.split(r"\n(?:Args|Returns|Raises|Attributes):\n", docstring)[0]
    return ROLE.sub(r"`\1`", text).replace("``", "`").strip()


def asked_page() -> str:
    """Ten questions on the demo with what ``ask`` answers, and how often it is right on both sets, in folds by
    company."""
    found = json.loads(ASKED.read_text(encoding="utf-8"))
    for one in found:
        is_right = one["answer"] is not None and answer_right(one["answer"], one["reference"], one["question"])
        one["outcome"] = "no answer" if one["answer"] is None else "right" if is_right else "wrong"
    return filled("asked", asked=found, model=fitted())


def appendix(study: Study, manifest: dict) -> str:
    """What the numbers were made from, how long it took, whose licences apply, and how to cite."""
    pinned, text = [], (ROOT / "requirements.txt").read_text(encoding="utf-8")
    for name, version in re.findall(r"^([^\s#=]+)==(\S+)", text, flags=re.M):
        with suppress(PackageNotFoundError):  # which is for another platform
            pinned.append((name, version, licence_of(name)))
    return filled(
        "appendix",
        manifest=manifest,
        origins=pd.Series([one["origin"] for one in manifest["stages"]], dtype=str).value_counts(),
        locked=lock(),
        signed=f"their manifest has the SHA-256 {breakable(study.published.digest)}" if study.published else "none",
        what_fixes=what_fixes,
        stages_table=stages_table,
        pinned=pinned,
        left_out=left_out_table() if study.dataset.name == left_out.TIMED_ON else None,
        cited=citation(3),
    )


def left_out_table() -> pd.DataFrame | None:
    """What :mod:`lib.analysis.left_out` lists of the default profile, by kind of row; None where nothing was timed."""
    found = left_out.by_kind(left_out.left_out(Published.all("default")))
    found["minutes"] = [f"{row.fewest:.0f} to {row.most:.0f}" for row in found.itertuples()]
    heads = {"set": "Question set", "kind": "A row that …", "rows": "Rows", "minutes": "Minutes of one"}
    return found[[*heads]].rename(columns=heads) if len(found) else None


def what_fixes(model: dict) -> str:
    """The hashes of a model's weight files, and the hub's commit where the hub alone has the files."""
    record = lock().get(model["name"], {"files": {}, "hub": {}})
    hub, files, commit = record["hub"] or {}, model["files"], []
    if hub.get("revision") and not record["files"]:
        commit = [f"commit `{hub['revision']}` of `{hub['id']}`"]
        files = files or hub.get("sha256", {})
    hashes = [f"{escape(file)}: {breakable(sha)}" for file, sha in files.items()]
    return "<br>".join([*commit, *hashes]) or f"`{model['weights']}` over all files"


def breakable(sha256: str) -> str:
    """A hash as code that may be broken into lines and is copied whole."""
    return f"<code>{'<wbr>'.join(re.findall('.{1,16}', sha256))}</code>"


def stages_table(stages: list[dict], whole: bool = False) -> pd.DataFrame:
    """Seconds and MiB by stage, summed over stages of one kind unless ``whole``."""
    frame = pd.DataFrame(stages, columns=["stage", "origin", "wall_s", "peak_mib"])
    frame["Stage"] = "`" + (frame["stage"] if whole else frame["stage"].str.split("/").str[0]) + "`"
    table = frame.groupby("Stage", sort=False).agg(
        Results=("stage", "size"),
        Origin=("origin", lambda column: ", ".join(sorted(set(column)))),
        Seconds=("wall_s", lambda column: f"{column.sum():.1f}"),
        MiB=("peak_mib", lambda column: f"{column.max():.0f}"),
    )
    return table.reset_index()


def citation(n: int) -> str:
    """BibTeX by ``CITATION.cff`` of its first works: this study, the one that it reproduces, and the dataset."""
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    works = [about | {"year": str(about["date-released"])[:4]}, *about["references"]]
    cited = []
    for work in works[:n]:
        people = [
            f"{{{one['name']}}}" if "name" in one else f"{one['family-names']}, {one['given-names']}"
            for one in work["authors"]
        ]
        key = f"{people[0].partition(',')[0].lower()}{work['year']}"
        kind, key = ("misc", key) if cited else ("software", "retrievalgap")
        cited.append((kind, key, " and ".join(people), work))
    return filled("citation", works=cited)
