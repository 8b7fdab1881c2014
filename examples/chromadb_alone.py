"""A run of Chroma with sentence-transformers: pages cut by letters, one vector a piece.

``python examples/chromadb_alone.py data/demo chroma.jsonl`` reads the folder's ``pdfs/``, answers its questions with 20
passages each and writes them as JSON lines, pages counted from 0.
"""

import json
import sys
from pathlib import Path

import chromadb
import pymupdf
from sentence_transformers import SentenceTransformer

from lib.models.weights import fetch

FOLDER, OUT = [Path(one) for one in (*sys.argv[1:], *["data/demo", "chroma.jsonl"][len(sys.argv) - 1 :])]
MODEL = SentenceTransformer(str(fetch("minilm")))  # any other: its name on the model hub, or its folder
PIECE, STEP = 1000, 800  # letters of a piece, and from one's start to the next one's

store = chromadb.EphemeralClient().create_collection("pages", configuration={"hnsw": {"space": "cosine"}})
for path in sorted(FOLDER.glob("pdfs/*.pdf")):
    with pymupdf.open(path) as pdf:
        texts = [page.get_text() for page in pdf]
    starts = [(page, start) for page, text in enumerate(texts) for start in range(0, len(text), STEP)]
    if not starts:
        continue  # a scan without text has nothing to search
    pieces = [texts[page][start : start + PIECE] for page, start in starts]
    store.add(
        ids=[f"{path.stem} {page} {start}" for page, start in starts],
        documents=pieces,
        embeddings=MODEL.encode(pieces, show_progress_bar=False),
        metadatas=[{"document": path.stem, "page": page} for page, _ in starts],
    )

source = [*FOLDER.glob("data/*open_source*.jsonl"), *FOLDER.glob("data/*questions*.jsonl")][0]
with OUT.open("w") as run:
    for question in map(json.loads, source.read_text().splitlines()):
        asked = MODEL.encode([question["question"]], show_progress_bar=False)
        found = {name: lists[0] for name, lists in store.query(asked, n_results=20).items() if lists}
        rows = zip(found["metadatas"], found["distances"], found["documents"], strict=True)
        results = [place | {"score": 1 - distance, "text": text} for place, distance, text in rows]
        print(json.dumps({"question_id": question["financebench_id"], "results": results}), file=run)
print(f"{OUT}: now retrieval-gap diagnose {OUT} --dataset {FOLDER}")
