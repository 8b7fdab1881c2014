"""A filing while it is being written: the sheets, and the words of one company and year that go on them."""

from collections.abc import Iterable, Mapping, Sequence

from tools.demo.company import Company
from tools.demo.pdf import Row, Sheets
from tools.demo.statements import caption
from tools.demo.text import Paragraph, paragraphs


class Draft:
    """Adds to the sheets what a company has to say for a fiscal year.

    Args:
        slots: values for the slots of the text.
        file: the file of the common text, ``text/<file>.txt``.
        title: goes into the PDF's metadata.
        header: printed on every page but the first.
    """

    def __init__(
        self, company: Company, year: int, slots: Mapping[str, str], file: str, title: str, header: str = ""
    ):
        self.company, self.year, self.slots, self.file = company, year, slots, file
        self.sheets = Sheets(title, header)

    def write(self, items: Iterable[Paragraph], is_marked: bool = True) -> None:
        for item in items:
            if item.is_heading:
                self.sheets.heading(item.text)
            else:
                self.sheets.paragraph(item.text, item.mark if is_marked else None)

    def text(self, *sections: str) -> None:
        """Sections that all companies share, word for word but for the slots."""
        for section in sections:
            self.write(paragraphs(self.file, section, self.year, self.slots))

    def own_text(self, section: str, is_marked: bool = True) -> None:
        """A section of the company's own; ``is_marked=False`` where it stands for the second time."""
        self.write(paragraphs(self.company.key.lower(), section, self.year, self.slots), is_marked)

    def table(
        self,
        heads: Sequence[object],
        body: Sequence[Row],
        mark: str,
        title: tuple[str, ...] = (),
        column_width: float = 78,
        heading: str = "",
        has_shares: bool = False,
    ) -> None:
        """A table in the company's unit; see :meth:`Sheets.table`."""
        unit = caption(self.company, has_shares)
        self.sheets.table([str(head) for head in heads], body, mark, unit, title, column_width, heading)
