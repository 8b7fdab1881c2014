"""Silver questions about filings without labels: line items, changes, ratios and sentences, by templates."""

import random
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from string import capwords
from typing import NamedTuple

import pandas as pd
import yaml

from extras.silver.cloze import blank_of, sentences
from extras.silver.statements import Statement, primary_statements
from lib.data.rows import NOTES, Row, accounting, kinds, plain
from lib.files import digest_of, write_atomically
from lib.retrievers.identity import PERIOD_ENDED, dates_in, filing_identity
from lib.retrievers.names import cover_names
from lib.silver import COLUMNS, FILES, Silver, companies, folder, read_silver
from lib.study import Study
from lib.tokens import bare
from lib.words import FILING_COLUMNS, PAGE_COLUMNS, StudyError

QUOTA = {"lookup": 5, "row": 3, "change": 2, "growth": 2, "ratio": 5, "share": 1, "cloze": 8}  # of one filing
NAMELESS = 0.05  # share of questions that say "the company"
SHARE_OF_SENTENCES = 0.2  # that are tried: drawing is cheap, writing them all is not
FIRST_CLEAR_MONTH = 3  # a fiscal year that ends before it may be named after the last calendar year
LABEL_WORDS = 3, 10
TAX_TOLERANCE = 0.25  # of pre-tax income may stay unexplained, such as minority interests
#: A row of a cash flow statement without such a word is a change of a balance, which its label does not say.
FLOW = re.compile(
    r"purchase|proceed|sale|pa(?:yment|id)|acqui|dividend|maturit|issu|gain|loss|amortiz|impair|expense|charge"
)
VAGUE = re.compile(
    r"other|total|share|beginning|end of|year|month|less|add|basic|diluted|^(net )?(increase|decrease)"
)
SPACED = re.compile(r"\b[A-Z]\b")  # a single letter: a name that is set with spaces
QUARTERS = ("first", "second", "third", "fourth")


class Filing(NamedTuple):
    """A filing to ask about: its names of the company, form, fiscal year, last day of its period, pages' texts."""

    doc_name: str
    company: str
    names: tuple[str, ...]
    form: str
    year: int | None
    quarter: int | None
    end: date | None
    texts: tuple[str, ...]


class Figure(NamedTuple):
    """A line item of a filing: page, statement, unit, how it is asked for, this year's and last year's value."""

    page: int
    statement: str
    unit: str
    asked: tuple[str, ...]
    value: float
    before: float | None


@cache
def templates() -> dict:
    """The wordings of ``templates.yaml``."""
    return yaml.safe_load(Path(__file__).with_name("templates.yaml").read_text())


def write_silver(study: Study, source: Path, seed: int = 0) -> Silver:
    """Write silver questions for a study, where :func:`lib.silver.read_silver` finds them; they contain filings' text.

    Args:
        study: its filings' companies name those of the unlabelled ones; its pages are no gold pages.
        source: PAGE_COLUMNS of unlabelled filings as a parquet file.
        seed: of every draw.

    Raises:
        StudyError: there is no such file.
    """
    if not source.is_file():
        raise StudyError(
            f"{source} is missing: give page text of filings as parquet, columns {', '.join(PAGE_COLUMNS)}"
        )
    pages = pd.read_parquet(source)
    questions, filings = make_questions(pages, study.filings, set(study.pages["text"]), seed)
    pages = pages[pages["doc_name"].isin(filings["doc_name"])]
    for name, frame in zip(FILES, (questions, filings, pages), strict=True):
        write_atomically(folder(study) / f"{name}.parquet", frame.to_parquet(index=False))
    return read_silver(study)


def make_questions(
    pages: pd.DataFrame, filings: pd.DataFrame, known: Container[str], seed: int
) -> list[pd.DataFrame]:
    """Silver questions and the filings they are about, see :class:`lib.silver.Silver`.

    Args:
        pages: PAGE_COLUMNS of unlabelled filings.
        filings: the study's; their companies name those of the unlabelled ones.
        known: texts that are no gold pages, such as the study's own pages.
        seed: of every draw.
    """
    company_of = companies(pages["doc_name"].unique().tolist(), filings)
    named, seen, rows, abouts = set(filings["company"]), set(), [], []
    for doc_name, of_filing in pages.groupby("doc_name", sort=True):
        texts = tuple(of_filing.sort_values("page")["text"])
        filing = read_filing(doc_name, company_of[doc_name], company_of[doc_name] in named, texts)
        same = {texts, (filing.company, filing.form, filing.year, filing.quarter or filing.end or doc_name)}
        if not seen & same:
            rows += [
                row for row in questions_of(filing, seed) if not any(texts[page] in known for page in row[-1])
            ]
            abouts.append((doc_name, filing.company, None, filing.form, filing.year, len(texts)))
        seen |= same
    questions = pd.DataFrame(rows, columns=list(COLUMNS))
    questions = questions[~questions["question"].str.lower().duplicated(keep=False)].reset_index(drop=True)
    return [questions, pd.DataFrame(abouts, columns=list(FILING_COLUMNS))]


def read_filing(doc_name: str, company: str, is_name: bool, texts: tuple[str, ...]) -> Filing:
    """What a filing's name and first pages say of it.

    A fiscal year is named after the year in which it ends, or after the one before where it ends in winter and the
    file's name says so.
    """
    cover = "\n".join(texts[:3])
    about = filing_identity(doc_name, company, "", None, cover)
    ends = [day for found in PERIOD_ENDED.findall(cover) for day in dates_in(found)]
    end, year = (ends or [None])[0], about.year
    if end and about.doc_type == "10-K" and not (end.month < FIRST_CLEAR_MONTH and year == end.year - 1):
        year = end.year
    elif (
        end and about.doc_type in ("10-Q", "earnings") and year not in (end.year, end.year + 1)
    ):  # a later fiscal year has begun, or the file's name is wrong
        year = end.year
    written = re.search(r"(?i)\b" + r"[\W_]{0,3}".join(bare(company)), cover)
    shown = [
        name for name in cover_names(cover) if bare(name)[:3] == bare(company)[:3] and not SPACED.search(name)
    ]
    shown = [capwords(name) if name.isupper() and " " in name else name for name in shown]
    names = (company, company, *shown) if is_name else (written[0] if written else capwords(company), *shown)
    return Filing(doc_name, company, names, about.doc_type, year, about.quarter, end, texts)


def figures(filing: Filing) -> tuple[dict[str, Figure], dict[str, Figure]]:
    """The figures of an annual report's statements: the line items, and the other rows by their labels."""
    read = primary_statements(filing.texts) if filing.form == "10-K" and filing.end else []
    read = [statement for statement in read if max(statement.years) in (filing.year, filing.end.year)]
    written = Counter(plain(row.label) for statement in read for row in statement.rows)
    items, others = {}, {}
    for statement in read:
        for name, row in statement.items.items():
            items.setdefault(name, _figure(statement, row, **kinds()[statement.kind]["items"][name]))
        taken = {row.label for row in statement.items.values()}
        for row in statement.rows:
            label, shown = plain(row.label), " ".join(NOTES.sub(" ", row.label).split())
            is_plain = LABEL_WORDS[0] <= len(label.split()) <= LABEL_WORDS[1] and not VAGUE.search(label)
            is_plain = (
                is_plain
                and not re.search(r"\d", shown)
                and (statement.kind != "cash_flow" or FLOW.search(label))
            )
            if is_plain and written[label] == 1 and row.label not in taken:
                others[label] = _figure(statement, row, shown[0].lower() + shown[1:])
    return with_tax_checked(items), {label: figure for label, figure in others.items() if figure.value}


def _figure(
    statement: Statement, row: Row, asked: Sequence[str] | str, per_share=False, is_outflow=False, **_
) -> Figure:
    given, newest = dict(zip(statement.years, row.values, strict=True)), max(statement.years)
    value, before = (abs(v) if v and is_outflow else v for v in (given[newest], given[newest - 1]))
    asked = (asked,) if isinstance(asked, str) else tuple(asked)
    return Figure(statement.page, statement.kind, "" if per_share else statement.unit, asked, value, before)


def with_tax_checked(items: dict[str, Figure]) -> dict[str, Figure]:
    """The items with income tax as an expense: signed so that it leads from pre-tax to net income, else left out."""
    tax, *others = (items.get(name) for name in ("income_tax", "pretax_income", "net_income"))
    kept = {name: figure for name, figure in items.items() if name != "income_tax"}
    if tax and all(others):
        pretax, net = (figure.value for figure in others)
        left, sign = min((abs(pretax - sign * tax.value - net), sign) for sign in (1, -1))
        if left <= TAX_TOLERANCE * abs(pretax):
            before = None if tax.before is None else sign * tax.before
            kept["income_tax"] = tax._replace(value=sign * tax.value, before=before)
    return kept


def questions_of(filing: Filing, seed: int) -> list[tuple]:
    """The silver questions of one filing, at most QUOTA of each kind."""
    rng, items_and_rows = random.Random(f"{seed} {filing.doc_name}"), figures(filing)
    made = {}
    for kind, *candidate in sorted(candidates(filing, *items_and_rows, rng), key=lambda _: rng.random()):
        if len(made.setdefault(kind, [])) < QUOTA[kind]:
            made[kind].append(_question(filing, kind, *candidate, rng))
    return [row for rows in made.values() for row in rows]


def candidates(
    filing: Filing, items: Mapping[str, Figure], others: Mapping[str, Figure], rng: random.Random
) -> Iterator[tuple[str, str, dict[str, str], str, list[int]]]:
    """All that may be asked: kind, ``flow`` or ``stock``, slots of the templates, answer, gold pages."""
    for kind, figure in [*(("lookup", f) for f in items.values()), *(("row", f) for f in others.values())]:
        slots, page = _slots(figure, rng), [figure.page]
        yield kind, _when(figure), slots, money(figure.value, figure.unit), page
        if figure.before and figure.value != figure.before and kind == "lookup":
            yield "change", _when(figure), slots, money(figure.value - figure.before, figure.unit), page
            if figure.before > 0 and figure.unit:
                yield "growth", _when(figure), slots, f"{100 * (figure.value / figure.before - 1):.1f}%", page
    for measure, formula in accounting()["measures"].items():
        names = [name.lstrip("-") for name in (*formula["top"], *formula.get("bottom", ()))]
        pages = sorted({items[name].page for name in names if name in items})
        if (
            all(name in items for name in names)
            and len(pages) <= 2
            and len({items[name].unit for name in names}) == 1
        ):
            top, bottom = (_sum(items, formula.get(part, ())) for part in ("top", "bottom"))
            first = items[names[0]]
            if not formula.get("bottom"):
                yield "ratio", _when(first), {"measure": measure}, money(top, first.unit), pages
            elif bottom > 0:
                value, sign = (
                    formula.get("times", 1) * top / bottom,
                    "%" if formula.get("times") == 100 else "",
                )
                yield "ratio", _when(first), {"measure": measure}, f"{value:.2f}{sign}", pages
    large = sorted(name for name, figure in items.items() if figure.unit and figure.value > 0)
    for name in large:
        one, two = items[name], items[rng.choice(large)]
        if one is not two and one.unit == two.unit:
            slots = {"item": rng.choice(one.asked), "other": rng.choice(two.asked)}
            yield "share", _when(one), slots, f"{one.value / two.value:.2f}", sorted({one.page, two.page})
    whole, last_day = "\n".join(filing.texts), f"{filing.end:%B} {filing.end.day}," if filing.end else "never"
    for page, sentence in sentences(filing.texts):
        if rng.random() < SHARE_OF_SENTENCES and (blank := blank_of(page, sentence, whole, last_day, rng)):
            asks = rng.choice(templates()["asks"][blank.kind]).format(noun=blank.noun)
            yield "cloze", "flow", {"asks": asks, "clause": blank.clause}, blank.answer, [page]


def money(value: float, unit: str) -> str:
    """An amount as an answer: ``$4,478 million``, ``-$12 thousand``, and ``$1.52`` without a unit."""
    return f"{'-' * (value < 0)}${abs(value):,.{0 if unit and value == int(value) else 2}f} {unit.rstrip('s')}".strip()


def _sum(items: Mapping[str, Figure], names: Sequence[str]) -> float:
    return sum(-items[name[1:]].value if name[0] == "-" else items[name].value for name in names)


def _when(figure: Figure) -> str:
    return "stock" if figure.statement == "balance" else "flow"


def _slots(figure: Figure, rng: random.Random) -> dict[str, str]:
    unit = f"in {figure.unit} of dollars" if figure.unit else "in dollars"
    return {
        "item": rng.choice(figure.asked),
        "statement": templates()["statements"][figure.statement],
        "unit": unit,
    }


def _period(filing: Filing, when: str, rng: random.Random) -> dict[str, str]:
    """The words for the filing's period: ``of``, ``now`` and ``before``."""
    of, now = rng.choice(templates()[when]), rng.choice(templates()["years"])
    if filing.form in ("10-Q", "earnings") and filing.quarter and filing.year:
        written = f"the {QUARTERS[filing.quarter - 1]} quarter of {filing.year}"
        now = rng.choice([f"Q{filing.quarter} {filing.year}", f"Q{filing.quarter} FY{filing.year}", written])
        return {"of": f"in {now}", "now": now}
    day = (dates_in(filing.doc_name.replace("_", " ")) or [None])[0]
    if filing.form == "8-K" and day:
        now = f"{day:%B} {day.day}, {day.year}"
        return {"of": f"in its report of {now}", "now": now}
    if not filing.year:
        return {"of": f"in its {filing.form}", "now": f"the {filing.form}"}
    end = f"{filing.end:%B} {filing.end.day}, {filing.end.year}" if filing.end else str(filing.year)
    slots = {"year": filing.year, "short": filing.year % 100, "end": end}
    before = now.format(year=filing.year - 1, short=filing.year % 100 - 1)
    return {"of": of.format(**slots), "now": now.format(**slots), "before": before}


def _question(
    filing: Filing,
    kind: str,
    when: str,
    slots: Mapping[str, str],
    answer: str,
    gold_pages: list[int],
    rng: random.Random,
) -> tuple:
    """A row of the table of silver questions, COLUMNS."""
    company = rng.choice(filing.names) if rng.random() >= NAMELESS else "the company"
    company = company.rstrip(".") if rng.random() < 0.5 else company
    whose = company + ("'" if company.endswith("s") else "'s")
    form = {"10-K": "annual report", "10-Q": "quarterly report", "earnings": "earnings release"}.get(
        filing.form, "8-K"
    )
    words = {"company": company, "whose": whose, "form": form, **_period(filing, when, rng), **slots}
    asks = words.get("asks", "")
    words |= {
        "Whose": "The company's" if company == "the company" else whose,
        "Asks": asks[:1].upper() + asks[1:],
    }
    text = rng.choice(templates()["lookup" if kind == "row" else kind]).format(**words)
    text = text if text.startswith(company) and company != "the company" else text[0].upper() + text[1:]
    made_id = f"silver-{digest_of([filing.doc_name, text, gold_pages])[:12]}"
    kind = {"row": "lookup", "growth": "change", "share": "ratio"}.get(kind, kind)
    return made_id, text, answer, kind, filing.doc_name, filing.company, gold_pages
