"""The pages that the build writes, from method table, manifest and metrics: MyST files in ``pages/`` of the view."""

import inspect
import re
from collections.abc import Sequence

import pandas as pd
import yaml

from lib.book.appendix import appendix
from lib.book.headline import headline, made_by
from lib.book.results import read_summary
from lib.methods import METHODS, Method, of_family, siblings
from lib.metrics.frame import HEADLINE, METRIC_TITLES
from lib.show.display import markdown_table
from lib.show.tables import metric_cells, reported_figures
from lib.study import Study
from lib.words import CONDITIONS

K = 5
ROLE = re.compile(r":(?:func|mod|class|data|meth):`~?([\w.]+)`")


def write_pages(study: Study, manifest: dict) -> None:
    """Write ``pages/methods.md``, ``siblings.md``, ``appendix.md`` and ``headline.md`` of the view.

    Args:
        study: one dataset under one profile, its results written.
        manifest: what the numbers were made from: the view's, or the published one where there are no filings.
    """
    summary, others = read_summary(study), siblings(study.profile)
    pages = {
        "methods": methods_page(study, summary, "Methods", of_family()),
        "siblings": methods_page(study, summary, "Methods of the sibling studies", others),
        "appendix": appendix(study, manifest),
        "headline": headline(study, summary),
    }
    for name, text in pages.items():
        study.write(f"pages/{name}.md", text)


def methods_page(study: Study, summary: pd.DataFrame, heading: str, names: Sequence[str]) -> str:
    """One card per method: what happens to a question, source, settings, numbers, and how to run it alone."""
    head = (
        f"# {heading}\n\nOne card per method. All search the same chunks; a card gives what happens to a question, "
        f"whose idea it is, with which settings (profile `{study.profile.name}`), and how well it does at {K} "
        f"chunks on {len(study.questions)} questions ({study.dataset.name}).{study.provenance}\n\n{made_by(study)}\n"
    )
    at_k = summary[(summary["k"] == K) & summary["metric"].isin(HEADLINE)]
    return "\n".join([head, *(card(study, METHODS[name], at_k[at_k["method"] == name]) for name in names)])


def card(study: Study, method: Method, summary: pd.DataFrame) -> str:
    """One method's card."""
    module = inspect.getmodule(method.score)
    settings = {section: _plain(study.profile[section]) for section in ("chunks", *method.settings)}
    uses = f" It reads the runs of {', '.join(f'`{name}`' for name in method.uses)}." if method.uses else ""
    return f"""
(method-{method.name})=
## {method.title}

`{method.name}`: {method.pipeline}. Source: {method.citation()}.{uses}

{as_markdown(inspect.getdoc(module) or "")}

{numbers_table(study, method, summary)}

:::{{dropdown}} Settings, code and a run of its own
{as_markdown(inspect.getdoc(method.score) or "")}

```yaml
{yaml.safe_dump(settings, sort_keys=False, default_flow_style=None).strip()}
```

The code is in `{module.__name__.replace(".", "/")}.py`. To run this method alone:

```bash
make notebook NB=03_baselines PARAMS='-p methods "[{method.name}]"'
```
:::
"""


def numbers_table(study: Study, method: Method, summary: pd.DataFrame) -> str:
    """The headline metrics of one method by condition, and the reported figures where there are any."""
    parts = dict(list(summary.groupby("condition")))
    rows = [
        {"Condition": condition} | metric_cells(parts[condition]) | {"n": int(parts[condition]["n"].iloc[0])}
        for condition in CONDITIONS
        if condition in parts
    ]
    if known := reported_figures(study.dataset.name, "standard", method.name):
        figures = {METRIC_TITLES[m]: known.get(m) for m in HEADLINE}
        rows.append({"Condition": "standard, reported"} | figures | {"n": 150})
    return markdown_table(pd.DataFrame(rows)) if rows else "Not run on this dataset."


def as_markdown(docstring: str) -> str:
    """A docstring as MyST: code marks and roles as code, argument sections left out."""
    text = re.split(r"\n(?:Args|Returns|Raises|Attributes):\n", docstring)[0]
    return ROLE.sub(r"`\1`", text).replace("``", "`").strip()


def _plain(settings: object) -> object:
    return {name: _plain(item) for name, item in settings.items()} if isinstance(settings, dict) else settings
