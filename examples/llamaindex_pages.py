"""A run of LlamaIndex: its PDF reader, token splitter, vector store and retriever.

``python examples/llamaindex_pages.py data/demo llamaindex.jsonl`` reads the folder's ``pdfs/``, answers its questions
with 20 passages each and writes them as JSON lines, with names of files as LlamaIndex has them and pages from 0.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import TokenTextSplitter
from sentence_transformers import SentenceTransformer

from lib.models.weights import fetch

FOLDER, OUT = [Path(one) for one in (*sys.argv[1:], *["data/demo", "llamaindex.jsonl"][len(sys.argv) - 1 :])]
MODEL = SentenceTransformer(str(fetch("minilm")))  # any other: its name on the model hub, or its folder


class Embedding(BaseEmbedding):
    """The model as LlamaIndex wants it; its own integrations, such as HuggingFaceEmbedding, can stand here."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return MODEL.encode(texts, show_progress_bar=False).tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


pages = SimpleDirectoryReader(FOLDER / "pdfs", required_exts=[".pdf"]).load_data()
place, counted = {}, Counter()
for page in pages:  # "page_label" is what the PDF prints, such as "ii" or "F-3": pages are counted instead
    name = page.metadata["file_name"]
    place[page.id_] = {"document": name, "page": counted[name]}
    counted[name] += 1

splitter = TokenTextSplitter(chunk_size=256, chunk_overlap=32)
embedding = Embedding(embed_batch_size=64)
index = VectorStoreIndex.from_documents(pages, transformations=[splitter], embed_model=embedding)
retriever = index.as_retriever(similarity_top_k=20)

source = [*FOLDER.glob("data/*open_source*.jsonl"), *FOLDER.glob("data/*questions*.jsonl")][0]
with OUT.open("w") as run:
    for question in map(json.loads, source.read_text().splitlines()):
        found = retriever.retrieve(question["question"])
        results = [place[hit.node.ref_doc_id] | {"score": hit.score, "text": hit.text} for hit in found]
        print(json.dumps({"question_id": question["financebench_id"], "results": results}), file=run)
print(f"{OUT}: now retrieval-gap diagnose {OUT} --dataset {FOLDER}")
