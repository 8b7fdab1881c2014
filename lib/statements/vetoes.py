"""Reasons why a question gets no answer, whatever was read: a wrong answer that is sure is the worst outcome.

The words and their reasons are in ``vetoes.yaml``.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from lib.files import read_yaml
from lib.filings.identity import Identity
from lib.filings.names import alphanumeric, company_key, forms
from lib.statements.asked import DATE, FILLER, Wanted, asking_of, in_years, is_framing, sentences_of, without_names
from lib.statements.formulas import items, names_in
from lib.statements.grammar import clean, tokens_in
from lib.statements.labels import plain

CAPITALISED = re.compile(r"(?<![\w&])[A-Z][\w&'’.-]*")
ACCRUED = {"income_tax", "interest_expense", "net_interest_expense"}  # an expense that is not what is paid in cash
MOST_WORDS = 6  # unread words that a reason names


@cache
def words() -> dict:
    """``vetoes.yaml`` with compiled expressions."""
    file = read_yaml(Path(__file__).with_name("vetoes.yaml"))

    def compiled(pattern: str) -> re.Pattern:
        return re.compile(rf"(?<![^ ])(?:{pattern})(?![^ ])")

    changed = {reason: compiled(pattern) for reason, pattern in file.pop("changed").items()}
    return {"changed": changed} | {name: compiled(pattern) for name, pattern in file.items()}


def vetoes(question: str, wanted: Wanted, names: Sequence[str], filings: Sequence[Identity]) -> list[str]:
    """Why no answer may be given, a sentence each; none where nothing speaks against one.

    Args:
        question: as it was asked.
        wanted: what :func:`lib.statements.asked.asked_for` read in it; ``unread`` without the words that the rows which
            were found have (:func:`explained`).
        names: of the company that the question names; none where it names none.
        filings: the archive's; none where they are not known.
    """
    bare = without_names(in_years(question), names)
    reasons = [f"{wanted.problem}"] if wanted.problem else []
    reasons += changed(bare, wanted)
    reasons += companies(question, names, filings)
    strange = strangers(bare, wanted.unread)
    if strange:
        reasons.append(f"“{' '.join(strange)}” is no company of the archive, nor anything that is read")
    unread = [word for word in wanted.unread if word not in {one.lower() for one in strange}]
    if unread:
        listed = ", ".join(f"“{word}”" for word in unread[:MOST_WORDS])
        reasons.append(f"words of the question were not read: {listed}")
    return list(dict.fromkeys(reasons))


def explained(wanted: Wanted, labels: Sequence[str]) -> Wanted:
    """What is wanted without the unread words that labels or sections of the rows which were found have."""
    shown = {stem(word) for label in labels for word in plain(label).split()}
    return replace(wanted, unread=tuple(one for one in wanted.unread if not {*map(stem, one.split())} <= shown))


def stem(word: str) -> str:
    """A word without its plural ending."""
    return re.sub(r"(?<=[a-z]{2}[^s])s$", "", word)


def changed(bare: str, wanted: Wanted) -> list[str]:
    """What the words beside line items change: an adjusted figure, a part, a forecast, a choice, a negation."""
    sentences, known = sentences_of(bare), words()
    framing = [one for one in sentences if is_framing(one)]
    text = clean(" . ".join(one for one in sentences if one not in framing))
    reasons = [
        f"{reason}: “{match[0]}”"
        for reason, pattern in known["changed"].items()
        if known["everywhere"].fullmatch(clean(reason).replace(" , ", " "))
        and (match := pattern.search(clean(" . ".join(framing))))
    ]
    free = bytearray(b"\1" * len(text))
    operators = []
    for token in tokens_in(text):
        if token.kind in ("NAME", "BOTH_ENDS"):
            free[token.place : token.place + len(token.text)] = bytes(len(token.text))
        elif token.kind in ("EXCEPT", "MINUS") and not wanted.problem and wanted.source in ("two", "question"):
            operators.append((token.place, token.place + len(token.text)))
    for start, end in operators:
        free[start:end] = bytes(end - start)
    is_change = "prev(" in wanted.formula or "at(" in wanted.formula

    of_rows = {word for name, row in wanted.rows.items() if name.startswith("row_") for word in row.split()}

    def is_free(match: re.Match) -> bool:
        is_of_row = {*match[0].split()} <= of_rows - {*wanted.unread}
        return any(free[match.start() : match.end()]) and not is_of_row

    for reason, pattern in known["changed"].items():
        found = [match for match in pattern.finditer(text) if is_free(match)]
        if is_change:
            found = [match for match in found if not known["beside_change"].fullmatch(match[0])]
        reasons += [f"{reason}: “{found[0][0]}”"] if found else []
    asking = clean(asking_of(sentences_of(bare)))
    if known["yes_or_no"].match(asking) and not re.search(rf"{known['polite'].pattern}", asking.partition(" ")[2][:40]):
        reasons.append("the question is answered with yes or no")
    paid = next(filter(is_free, known["paid"].finditer(text)), None)
    if wanted.source == "item" and paid and wanted.formula in ACCRUED:
        reasons.append(f"“{paid[0]}” may ask for an expense or for what was paid in cash")
    balances = [name for name in names_in(wanted.formula) if items().get(name, {}).get("kind") == "balance"]
    if wanted.source == "item" and balances and "prev(" in wanted.formula and "cash flow" in text:
        reasons.append("a change as the cash flow statement has it is no difference of two balances")
    days = {match[0].lower() for match in DATE.finditer(bare) if match[0].lower() != "may"}
    if len(days) > 1 and not is_change:
        reasons.append("several dates are named")
    if wanted.source == "item" and balances and (verb := next(filter(is_free, known["flows"].finditer(text)), None)):
        reasons.append(f"“{verb[0]}” is asked of a balance, which has no flow")
    return reasons


def companies(question: str, names: Sequence[str], filings: Sequence[Identity]) -> list[str]:
    """What is wrong with the company that a question names: none of several, or more than one."""
    all_of = {company_key(one.company) for one in filings if one.company}
    lowered = {name.lower() for name in names}
    named = {company_key(one.company) for one in filings if lowered & {name.lower() for name in one.names}}
    if not names and len(all_of) > 1:
        return ["the question names no company, and the archive has several"]
    if len(named) > 1:
        return ["the question names several companies"]
    others = [one for one in filings if company_key(one.company) not in named]
    written = {
        alphanumeric(word) for word in CAPITALISED.findall(re.sub(r"['’]s\b", "", without_names(question, names)))
    }
    for one in others:
        first, *_ = forms(one.company)
        if first and first in written and names and not tokens_of_item(first):
            return [f"the question names {one.company} beside another company"]
    return []


def tokens_of_item(word: str) -> bool:
    """Whether a word alone is passed or names a line item."""
    return all(token.kind != "WORD" for token in tokens_in(word))


def strangers(bare: str, unread: Sequence[str]) -> list[str]:
    """The capitalised words of a question which no rule knows: most likely a company's name."""
    known, out = words(), []
    for sentence in sentences_of(bare):
        for match in CAPITALISED.finditer(sentence):
            word = re.sub(r"['’]s?$|[.]$", "", match[0])
            if (
                {*clean(word).split()} & {*unread}
                and not known["capitals"].fullmatch(word.lower())
                and not FILLER.fullmatch(word)
            ):
                out.append(word)
    return list(dict.fromkeys(out))
