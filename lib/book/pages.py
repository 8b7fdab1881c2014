"""The pages that write themselves, from method table, manifest and metrics: MyST files in ``pages/`` of the view."""

import importlib
import inspect
import re
from collections.abc import Sequence

import pandas as pd
import yaml

from lib.book.appendix import appendix
from lib.book.headline import headline, made_by
from lib.book.results import read_summary
from lib.methods import METHODS, Method, of_family, siblings
from lib.show.display import markdown_table, with_interval
from lib.show.tables import HEADLINE, METRIC_TITLES, published_study
from lib.words import CONDITIONS

K = 5
ROLE = re.compile(r":(?:func|mod|class|data|meth):`~?([\w.]+)`")


def write_pages(study, manifest: dict) -> None:
    """Write ``pages/methods.md``, ``siblings.md``, ``appendix.md`` and ``headline.md`` of the view.

    Args:
        study: one dataset under one profile, its results written.
        manifest: what the numbers were made from: the view's, or the published one where there are no filings.
    """
    summary = read_summary(study)
    study.write("pages/methods.md", methods_page(study, summary, "Methods", of_family()))
    study.write(
        "pages/siblings.md",
        methods_page(study, summary, "Methods of the sibling studies", siblings(study.profile)),
    )
    study.write("pages/appendix.md", appendix(study, manifest))
    study.write("pages/headline.md", headline(study, summary))


def methods_page(study, summary: pd.DataFrame, heading: str, names: Sequence[str]) -> str:
    """One card a method: what happens to a question, source, settings, numbers, and how to run it alone."""
    head = (
        f"# {heading}\n\nOne card a method. All search the same chunks; a card says what happens to a question, whose "
        f"idea it is, with which settings (profile `{study.profile.name}`), and how well it does at {K} chunks on "
        f"{len(study.questions)} questions ({study.dataset.name}).{study.provenance}\n\n{made_by(study)}\n"
    )
    at_k = summary[(summary["k"] == K) & summary["metric"].isin(HEADLINE)]
    return "\n".join([head, *(card(study, METHODS[name], at_k[at_k["method"] == name]) for name in names)])


def card(study, method: Method, summary: pd.DataFrame) -> str:
    """One method's card."""
    module = importlib.import_module(method.module)
    function = inspect.getdoc(getattr(module, method.function)) or ""
    settings = {section: _plain(study.profile[section]) for section in ("chunks", *method.settings)}
    uses = f" It reads the runs of {', '.join(f'`{name}`' for name in method.uses)}." if method.uses else ""
    return f"""
(method-{method.name})=
## {method.title}

`{method.name}`: {method.pipeline}. Source: {method.citation()}.{uses}

{as_markdown(inspect.getdoc(module) or "")}

{numbers_table(method, summary)}

:::{{dropdown}} Settings, code and a run of its own
{as_markdown(function)}

```yaml
{yaml.safe_dump(settings, sort_keys=False, default_flow_style=None).strip()}
```

The code is in `{method.module.replace(".", "/")}.py`. To run this method alone:

```bash
make notebook NB=03_baselines PARAMS='-p methods "[{method.name}]"'
```
:::
"""


def numbers_table(method: Method, summary: pd.DataFrame) -> str:
    """The headline metrics of one method by condition, and the published figures where there are any."""
    rows = []
    for condition in CONDITIONS:
        part = summary[summary["condition"] == condition].set_index("metric")
        if not part.empty:
            row = {"Condition": condition}
            for metric in HEADLINE:
                row[METRIC_TITLES[metric]] = with_interval(*part.loc[metric, ["mean", "low", "high"]])
            rows.append(row | {"n": int(part["n"].iloc[0])})
    known = published_study()["standard"].get(method.name, {})
    if known:
        rows.append(
            {"Condition": "standard, published"}
            | {METRIC_TITLES[m]: known.get(m) for m in HEADLINE}
            | {"n": 150}
        )
    return markdown_table(pd.DataFrame(rows)) if rows else "Not run on this dataset."


def as_markdown(docstring: str) -> str:
    """A docstring as MyST: code marks and roles as code, argument sections left out."""
    text = re.split(r"\n(?:Args|Returns|Raises|Attributes):\n", docstring)[0]
    return ROLE.sub(r"`\1`", text).replace("``", "`").strip()


def _plain(settings: object) -> object:
    return {name: _plain(item) for name, item in settings.items()} if isinstance(settings, dict) else settings
