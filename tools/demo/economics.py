"""What the books of an invented company are made from: segments, notes, and drivers that vary by a fixed wobble."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

FIRST_YEAR = 2016
LAST_YEAR = 2022

Period = tuple[int, int]  # fiscal year, quarter; a company with one period a year uses quarter 4


@dataclass(frozen=True)
class Note:
    """One series of senior notes: issued in a fiscal year's first period, repaid in its last one."""

    coupon: float  # percent a year
    issued: int
    matures: int
    principal: int

    def is_outstanding(self, period: Period) -> bool:
        """True at the end of the period."""
        return self.issued <= period[0] and period < (self.matures, 4)

    def is_current(self, period: Period) -> bool:
        """True if it is outstanding and falls due within the four quarters after the period's end."""
        return self.is_outstanding(period) and 4 * (self.matures - period[0]) + 4 - period[1] <= 4

    def bears_interest(self, period: Period) -> bool:
        return self.issued <= period[0] <= self.matures


@dataclass(frozen=True)
class Segment:
    """A line of business: revenue in the year before FIRST_YEAR, growth and operating margin as fractions."""

    name: str
    revenue: float
    growth: float
    margin: float


@dataclass(frozen=True)
class Economics:
    """What the books are rolled forward from.

    Args:
        segments: revenue is the sum of theirs.
        notes: every debt the company has.
        drivers: name -> (usual value, largest deviation); `ledger.roll_forward` says what each one moves.
        opening: balances at the end of the year before FIRST_YEAR.
        events: (driver name, fiscal year) -> the value in that year, instead of the usual one.
        seasons: each period's share of the year's revenue; ``(1.0,)`` for yearly books.
        unit: "millions" or "thousands": what amounts are counted in. Shares are always in millions.
    """

    segments: tuple[Segment, ...]
    notes: tuple[Note, ...]
    drivers: Mapping[str, tuple[float, float]]
    opening: Mapping[str, float]
    events: Mapping[tuple[str, int], float] = field(default_factory=dict)
    seasons: tuple[float, ...] = (1.0,)
    unit: str = "millions"

    @property
    def periods(self) -> list[Period]:
        quarters = range(1, 5) if len(self.seasons) > 1 else (4,)
        return [(year, quarter) for year in range(FIRST_YEAR, LAST_YEAR + 1) for quarter in quarters]

    @property
    def share_of_year(self) -> float:
        return 1 / len(self.seasons)

    @property
    def units_a_million(self) -> int:
        return {"millions": 1, "thousands": 1000}[self.unit]

    def driver(self, name: str, period: Period) -> float:
        usual, spread = self.drivers.get(name, (0.0, 0.0))
        return self.events.get(
            (name, period[0]), usual + spread * wobble(name, self.segments[0].name, *period)
        )

    def season(self, period: Period) -> float:
        return self.seasons[period[1] - 1] if len(self.seasons) > 1 else 1.0

    def segment_revenue(self, segment: Segment, period: Period) -> int:
        level = segment.revenue * self.season(period)
        for year in range(FIRST_YEAR, period[0] + 1):
            usual = segment.growth + 0.035 * wobble("growth", segment.name, year)
            level *= 1 + self.events.get((f"growth:{segment.name}", year), usual)
        return round(level)


def wobble(*key: object) -> float:
    """A fixed number in [-1, 1) for a key: the same on every machine and Python version."""
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**47 - 1.0
