"""Tables as filings print them: their cells in rows and columns, as the text of a page and as words with places."""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

LETTER, LINE, WIDTH = 4.5, 12.0, 75.0  # points: of a letter, between lines, of a column
LEFT, RIGHT = 50.0, 300.0  # of labels, of the first figures
LABELS = "Revenue|Cost of sales|Gross profit|Research and development|Operating income|Interest expense".split("|")
LABELS += ["Income before taxes", "Income tax expense", "Net income"]
MINUSES = ["({})", "-{}", "−{}", "{}-"]
UNITS = {"": "", "(in millions)": "million", "(In thousands)": "thousand", "(Dollars in billions)": "billion"}


@dataclass(frozen=True)
class Table:
    """A table with what is true of it."""

    head: str
    unit: str
    years: tuple[int, ...]
    labels: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]  # a row a label, a value a year
    printed: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()  # a note a row; none without a column of notes
    shares: tuple[tuple[str, ...], ...] = ()  # a per cent behind each figure
    marks: tuple[int, ...] = ()  # rows with a footnote's mark behind the first figure
    change: str = ""  # in a last column
    title: str = "Year ended December 31,"

    def grid(self) -> list[tuple[str, list[str]]]:
        """The rows below the title: a label, and cells from left to right, empty where there is none."""
        head = [part for year in self.years for part in [str(year), *["%"] * bool(self.shares)]]
        rows = [(self.head, [*["Note"] * bool(self.notes), *head, *["Change"] * bool(self.change)])]
        for n, (label, figures) in enumerate(zip(self.labels, self.printed, strict=True)):
            cells = [self.notes[n]] if self.notes else []
            for m, figure in enumerate(figures):
                cells += [figure, *([self.shares[n][m]] if self.shares else [])]
                cells[-1] += " (1)" * (m == 0 and n in self.marks and not self.shares)
            rows.append((label, [*cells, *[self.change] * bool(self.change)]))
        return rows

    @property
    def text(self) -> str:
        """One cell a line."""
        lines = ["ACME INC", "CONSOLIDATED STATEMENTS OF INCOME", self.title]
        for label, cells in self.grid():
            lines += [label] * bool(label) + [
                part for cell in cells for part in cell.replace(" (1)", "\n(1)").split("\n")
            ]
        return "\n".join(line for line in lines if line) + "\n"

    @property
    def words(self) -> list[tuple[float, float, float, float, str]]:
        """Words with places: figures end where their column does."""
        words = [*placed("ACME INC", LEFT, 20), *placed("CONSOLIDATED STATEMENTS OF INCOME", LEFT, 20 + LINE)]
        words += placed(self.title, RIGHT, 20 + 2 * LINE)
        for n, (label, cells) in enumerate(self.grid()):
            top = 20 + (n + 3) * LINE
            words += placed(label, LEFT, top)
            for m, cell in enumerate(cells):
                figure, mark, _ = cell.partition(" (1)")
                right = RIGHT + m * WIDTH + 25
                words += placed(figure, right - len(figure) * LETTER, top)
                words += placed(mark.strip(), right + 8, top)
        return words


def placed(text: str, left: float, top: float) -> list[tuple[float, float, float, float, str]]:
    """The words of a text from a place on, a space of a third of a line between them."""
    words = []
    for word in text.split(" "):
        if word:
            words.append((left, top, left + len(word) * LETTER, top + 9.0, word))
        left += (len(word) + 0.6) * LETTER
    return words


def written(value: float, style: str, minus: str) -> str:
    """A figure in a style: ``en`` 1,234, ``de`` 1.234, ``fr`` 1 234."""
    digits = f"{abs(value):,.0f}".replace(",", {"en": ",", "de": ".", "fr": " "}[style])
    return minus.format(digits) if value < 0 else digits


def decimal(value: float, style: str) -> str:
    """A figure with one decimal in a style."""
    return f"{value:.1f}" if style == "en" else f"{value:.1f}".replace(".", ",")


@st.composite
def tables(draw) -> Table:
    """Any table that a filing may print."""
    newest, n_years, n_rows = draw(st.integers(2005, 2030)), draw(st.integers(2, 3)), draw(st.integers(4, len(LABELS)))
    years = sorted(range(newest - n_years + 1, newest + 1), reverse=draw(st.booleans()))
    amounts = st.integers(-99_999, 99_999).filter(lambda value: abs(value) >= 200)
    values = [[draw(amounts) for _ in years] for _ in range(n_rows)]
    style, minus = draw(st.sampled_from(["en", "de", "fr"])), draw(st.sampled_from(MINUSES))
    head = draw(st.sampled_from([*UNITS]))
    beside = draw(st.sampled_from(["", "notes", "shares", "marks", "change", "notes and change"]))
    table = Table(
        head,
        UNITS[head],
        tuple(years),
        tuple(LABELS[:n_rows]),
        tuple(map(tuple, values)),
        tuple(tuple(written(value, style, minus) for value in row) for row in values),
        change=decimal(7.3, style) + "%" if "change" in beside else "",
    )
    if "notes" in beside:
        numbers = st.sampled_from([str(n) for n in range(1, 30)] + [""])
        table = replace(table, notes=tuple(draw(numbers) for _ in values))
    if beside == "shares":
        tenths = st.integers(1, 1200)
        table = replace(table, shares=tuple(tuple(decimal(draw(tenths) / 10, style) for _ in years) for _ in values))
    if beside == "marks":
        table = replace(table, marks=tuple(n for n in range(n_rows) if draw(st.booleans())))
    return table
