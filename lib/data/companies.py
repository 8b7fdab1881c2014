"""One company under several spellings, such as ``Acme, Inc.`` and ``ACME INC``: folds must not separate its filings."""

import re
import unicodedata
from collections.abc import Iterable

LEGAL_FORMS = frozenset(
    "inc incorporated corp corporation co company ltd limited plc llc llp lp nv bv sa ag se spa gmbh kgaa ab asa oyj"
    " pte pty".split()
)


def company_key(name: str) -> str:
    """A name's letters and digits without case, marks, a ``The`` before it and legal forms behind it; with these where
    nothing else is left."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one)).casefold()
    words = [word for word in re.split(r"[\W_]+", re.sub(r"(?<=\w)[.'’](?=\w)|(?<=\w)\.", "", plain)) if word]
    own = words[words[:1] == ["the"] :]
    while own and own[-1] in LEGAL_FORMS:
        own.pop()
    return "".join(own) or "".join(words) or name


def one_spelling(names: Iterable[str]) -> dict[str, str]:
    """Every name to the first one of the same company."""
    first: dict[str, str] = {}
    return {name: first.setdefault(company_key(name), name) for name in names}
