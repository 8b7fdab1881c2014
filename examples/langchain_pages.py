"""A run of LangChain: its PDF loader, recursive splitter and vector store in memory.

``python examples/langchain_pages.py data/demo langchain.trec`` reads the folder's ``pdfs/``, answers its questions with
20 passages each and writes them in TREC's format, pages counted from 0.
"""

import json
import sys
from pathlib import Path

from langchain_community.document_loaders import PyPDFDirectoryLoader
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from sentence_transformers import SentenceTransformer

from lib.models.weights import fetch

FOLDER, OUT = [Path(one) for one in (*sys.argv[1:], *["data/demo", "langchain.trec"][len(sys.argv) - 1 :])]
MODEL = SentenceTransformer(str(fetch("minilm")))  # any other: its name on the model hub, or its folder


class Embedding(Embeddings):
    """The model as LangChain wants it; its own integrations, such as HuggingFaceEmbeddings, can stand here."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return MODEL.encode(texts, show_progress_bar=False).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


pages = PyPDFDirectoryLoader(FOLDER / "pdfs").load()  # one document a page: "source" is a path, "page" is from 0
splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
store = InMemoryVectorStore(Embedding())
store.add_documents(splitter.split_documents(pages))

source = [*FOLDER.glob("data/*open_source*.jsonl"), *FOLDER.glob("data/*questions*.jsonl")][0]
with OUT.open("w") as run:
    for question in map(json.loads, source.read_text().splitlines()):
        found = store.similarity_search_with_score(question["question"], k=20)
        for rank, (passage, score) in enumerate(found, 1):
            document, page = Path(passage.metadata["source"]).stem, passage.metadata["page"]
            # docno: filing and page, and after a second # what tells the passages of a page apart
            docno = f"{document}#p{page:04d}#{rank}"
            print(question["financebench_id"], "Q0", docno, rank, score, "langchain", file=run)
print(f"{OUT}: now retrieval-gap diagnose {OUT} --dataset {FOLDER}")
