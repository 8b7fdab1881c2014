"""The step that maps a filing's file to its part of an archive's index; it writes nothing."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tokenizers import Tokenizer

from lib.ahead.facts import facts_of
from lib.archive.sources import file_stat
from lib.archive.untrusted import trusted
from lib.data.chunks import load_tokenizer, split_pages
from lib.data.pages import read_filing
from lib.files import digest_of, digest_of_file
from lib.filings.fiscal import fiscal_years
from lib.keys import data_file_digests
from lib.models.encoders import Encoder, OnnxEncoder, load_encoder
from lib.models.vectors import encode_filing, filing_digest
from lib.models.weights import fetch
from lib.profile import Settings
from lib.retrievers.spans import in_context
from lib.schema import PAGE_COLUMNS
from lib.text.characters import plain

VERSION = 3  # raised when the same filing gets other pages


class Reading(NamedTuple):
    """What was read of a filing."""

    #: source, size, mtime_ns, sha256, step, spans (their digest), n_pages, n_blank, problem; ``unread``, a message
    #: for each kind of pages that are not searched; ``fiscal_years`` by end date.
    record: dict
    pages: bytes = b""  # a Parquet file of PAGE_COLUMNS and :func:`lib.ahead.facts.facts_of`
    chunk_ids: Sequence[str] = ()  # of each span
    vectors: np.ndarray | None = None  # of spans; None where the index has them


def step_digest() -> str:
    """What a filing's pages depend on beside its file."""
    return digest_of([VERSION, data_file_digests("ahead")])[:20]


class Step:
    """Reads a filing, cuts it, and embeds it unless the collection has its spans: ``digests`` by doc_name."""

    def __init__(self, root: Path, profile: Settings, digests: Mapping[str, str]):
        self.root, self.digests = root, digests
        self.profile = profile

    @cached_property
    def encoder(self) -> Encoder | OnnxEncoder:
        """The encoder; its weights are fetched without a progress bar of their own."""
        return quiet_encoder(self.profile.spans)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that chunks are counted in."""
        return load_tokenizer(fetch(self.profile.embedder.weights))

    def __call__(self, source: Path) -> Reading:
        """What became of a filing; its record has the ``problem`` with one that is left out."""
        record = {"source": source.relative_to(self.root).as_posix(), "n_pages": 0, "n_blank": 0, "spans": ""}
        record |= {"unread": [], "fiscal_years": {}}
        try:
            record |= file_stat(source, self.root) | {"sha256": digest_of_file(source)}
        except OSError as error:  # it was removed meanwhile
            return Reading(record | {"problem": f"{source.name}: cannot be opened ({error.strerror})"})
        texts, problems = read_filing(source, self.root)
        texts, unread = trusted(source, self.root, list(map(plain, texts)))
        n_blank = sum(not text.strip() for text in texts)
        record |= {"step": step_digest(), "n_pages": len(texts), "n_blank": n_blank, "problem": "; ".join(problems)}
        if problems:
            return Reading(record)
        if n_blank == len(texts):
            return Reading(record | {"problem": "; ".join(unread)})
        years = {end.isoformat(): year for end, year in fiscal_years(texts).items()}
        record |= {"unread": unread, "fiscal_years": years}
        pages = pd.DataFrame({"doc_name": source.stem, "page": range(len(texts)), "text": texts})[[*PAGE_COLUMNS]]
        chunks = split_pages(pages, self.tokenizer, self.profile.chunks.size, self.profile.chunks.overlap)
        spans = in_context(chunks, pages, self.tokenizer, self.profile.spans)
        if spans.empty:
            return Reading(record | {"problem": f"{record['source']}: no page has a word; remove the filing"})
        chunk_ids = chunks["chunk_id"].iloc[spans["chunk"]].tolist()
        digest = filing_digest(chunk_ids, spans["text"])
        has_vectors = self.digests.get(source.stem) == digest
        vectors = None if has_vectors else encode_filing(self.encoder, spans["text"])
        table = pa.Table.from_pandas(pages.join(facts_of(texts)), preserve_index=False)
        packed = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata(None), packed, compression="zstd")
        return Reading(record | {"spans": digest}, packed.getvalue().to_pybytes(), chunk_ids, vectors)


def quiet_encoder(embedder: Settings) -> Encoder | OnnxEncoder:
    """The encoder of a profile, without progress bars."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    return load_encoder(fetch(embedder.weights), embedder.window, embedder.precision, embedder.batch_size)
