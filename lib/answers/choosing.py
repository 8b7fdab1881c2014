"""Rows that the reader's rules do not find: the language model chooses one of the candidates, held to it by a grammar.

The model writes a number and cannot write anything else; 0 stands for none of the rows. What it chose is kept in the
study's log like every text.
"""

from collections.abc import Sequence

from lib.answers.reading import Cell
from lib.models.prompts import Prompt, Sampling
from lib.models.written import Item
from lib.study import Study
from lib.words import StudyError

N_CANDIDATES = 12
SYSTEM = "You read tables of financial filings. You answer with the number of a row and nothing else."
TEMPLATE = (
    "Rows of tables:\n{rows}\n\nQuestion: {question}\n\nTo answer it, the value of '{words}' is needed. Which row has "
    "it? Write the row's number, or 0 if none has it.\nNumber:"
)


class Chooser:
    """Chooses cells by what is known of them; what is not yet known waits until :meth:`ask`.

    Args:
        study: gives the generator, its log and the seed.
    """

    def __init__(self, study: Study):
        self.study = study
        self.known: dict[str, int] = {}
        self.waiting: dict[str, Item] = {}

    def __call__(self, question_id: str, question: str, words: str, cells: Sequence[Cell]) -> Cell | None:
        """The cell that the model chose for what ``words`` name; None for none, or where it is not yet known."""
        cells = cells[:N_CANDIDATES]
        if not cells:
            return None
        rows = "\n".join(f"{n}: {cell.label}: {cell.shown:,g} {cell.unit}" for n, cell in enumerate(cells, 1))
        numbers = " | ".join(f'"{n}"' for n in range(len(cells) + 1))
        prompt = Prompt(TEMPLATE.format(rows=rows, question=question, words=words), SYSTEM)
        sampling = Sampling(max_tokens=4, grammar=f"root ::= {numbers}", seed=self.study.profile.answers.seed)
        item = Item(f"{question_id}/{words}/{rows}", question_id, prompt, sampling)
        if item.id not in self.known:
            self.waiting[item.id] = item
            return None
        number = self.known[item.id]
        return cells[number - 1] if number else None

    def ask(self) -> bool:
        """Have the model choose where it has not; whether there was anything to choose.

        Raises:
            StudyError: the model gave no answer to one of them.
        """
        items, self.waiting = list(self.waiting.values()), {}
        filled = self.study.generation_log().fill("choice", items, self.study.make_generator, may_be_cut=True)
        if filled.missing:
            raise StudyError(f"{len(filled.missing)} rows were not chosen; run again to try them again")
        self.known |= {name: int(text) for name, text in filled.texts.items()}
        return bool(items)
