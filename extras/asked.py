"""Ten questions that ``ask`` is given on the demo, for a page of the book: ``make asked`` indexes the demo and writes
``lib/book/asked.json``; the demo's texts are invented, and may be committed."""

import json

from lib.archive.ask import Archive
from lib.archive.index import archive_index
from lib.book.pages import ASKED
from lib.data.dataset import read_dataset
from lib.data.locate import DEMO
from lib.metrics.right import figure

N_QUESTIONS, PAGES = 10, 3

if __name__ == "__main__":
    questions = read_dataset(DEMO, "demo").questions
    numeric = questions[list(map(bool, map(figure, questions["answer"], questions["question"])))]
    found = []
    with Archive(archive_index("demo")) as archive:
        for one in numeric.head(N_QUESTIONS).itertuples():
            about = {"reference": one.answer, "document": one.doc_name, "gold": list(map(int, one.gold_pages))}
            found.append(archive.answer(one.question, PAGES) | about)
    ASKED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
