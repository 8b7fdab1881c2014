"""An invented company: who it is, what it calls things, and the facts of a year that its books do not hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from tools.demo.economics import Economics, Period, wobble


@dataclass(frozen=True)
class Company:
    """One registrant.

    Args:
        key: how its filings' names begin.
        short: what questions call it.
        year_end: month in which its fiscal year ends.
        ends_next_year: True if fiscal year 2022 ends in calendar year 2023.
        regions: where it sells, with each region's share of revenue.
        labels: its own names for lines of the statements; see `statements.LABELS` for the usual ones.
        wording: slots of the text that do not change over the years.
        figures: slot -> (usual value, largest deviation, format), varying from year to year.
        buybacks: (fiscal year in which the board authorized it, amount in millions); the latest one counts.
        chronicle: slots of the text that are one year's own; a slot that a year lacks is empty.
    """

    key: str
    name: str
    short: str
    sector: str
    ticker: str
    year_end: int
    economics: Economics
    regions: tuple[tuple[str, float], ...]
    labels: Mapping[str, str]
    wording: Mapping[str, str]
    figures: Mapping[str, tuple[float, float, str]]
    buybacks: tuple[tuple[int, int], ...]
    chronicle: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    ends_next_year: bool = False

    def end_of(self, period: Period) -> str:
        """The last day of a period: ``December 31, 2021``."""
        year, quarter = period
        month = self.year_end - 3 * (4 - quarter)
        year += self.ends_next_year + (month - 1) // 12
        month = (month - 1) % 12 + 1
        last_day = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        return f"{last_day:%B} {last_day.day}, {last_day.year}"

    def buyback(self, year: int) -> tuple[int, int]:
        """The authorization in force in a fiscal year: since when, and how much."""
        return max(granted for granted in self.buybacks if granted[0] <= year)

    def figure(self, name: str, year: int) -> float:
        """A figure of the text, rounded as it is printed."""
        usual, spread, style = self.figures[name]
        return float(format(usual + spread * wobble(self.key, name, year), style).replace(",", ""))

    def printed(self, name: str, year: int) -> str:
        return format(self.figure(name, year), self.figures[name][2])
