"""What the combiner looks at: each page's head behind a line that says whose it is, its windows, its words."""

import numpy as np

from lib.ahead.identity import FilingIdentity, filing_identities
from lib.models import index


def identities(study) -> list[FilingIdentity]:
    """The identity of every filing, in the order of ``study.filings``."""
    return study.memo("ahead_identities", lambda: filing_identities(study.filings, study.pages))


def head_texts(study) -> list[str]:
    """Each page behind its filing's identity: ``3M 2018 10-K`` and the beginning of the page.

    A contextual header costs nothing at indexing, and tells apart the same statement in filings of other years.
    """
    header = {identity.doc_name: identity.header for identity in identities(study)}
    limit = study.profile.ahead.head_characters
    pages = zip(study.pages["doc_name"], study.pages["text"], strict=True)
    return [f"{header[doc_name]}\n{' '.join(text.split())[:limit]}" for doc_name, text in pages]


def head_vectors(study) -> np.ndarray:
    """Unit vectors of the page heads, shape (n_pages, dimension)."""
    return study.memo(
        "ahead_heads",
        lambda: np.asarray(index.encode_texts(study, "embeddings/ahead-heads", head_texts(study))),
    )
