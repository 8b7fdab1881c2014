"""What a case of the campaign is, how it is judged, and how the judged cases are printed."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lib.words import StudyError

LONGEST = 9000  # characters of an error that a person still reads: 50 problems, a line each
WIDTH = 100


class Case(NamedTuple):
    """One fault that is tried.

    Attributes:
        part: what is broken, such as ``published files``.
        name: how, in a few words.
        attempt: does it, and uses what was broken; raises a StudyError where the fault is told, else returns whether
            what it got is right.
        told: what the sentence has to contain; None where the fault must do no harm, so that nothing is to be told.
        may_work: whether a right result is good, too, where something would be told.
    """

    part: str
    name: str
    attempt: Callable[[], object]
    told: str | None = ""
    may_work: bool = False


class Outcome(NamedTuple):
    """What came of a case: what was said, and whether that is good."""

    case: Case
    is_good: bool
    said: str


def judge(case: Case) -> Outcome:
    """Try a case."""
    try:
        is_right = bool(case.attempt())
    except StudyError as error:
        said = str(error)
        is_good = case.told is not None and case.told in said and 0 < len(said) <= LONGEST
        return Outcome(case, is_good, said)
    except Exception as error:  # what a person would see as a traceback is what the campaign looks for
        return Outcome(case, False, f"TRACEBACK {type(error).__name__}: {error}")
    if not is_right:
        return Outcome(case, False, "SILENT: a wrong result")
    is_good = case.told is None or case.may_work
    return Outcome(case, is_good, "right" if is_good else "SILENT: nothing was told")


def run_cases(cases: Iterable[Case], say: Callable[[str], None] = print) -> list[Outcome]:
    """Try every case, print the table, a line per case and the bad ones again at its end, and return the outcomes.

    The table has the seconds of a part, and the processor's, with those of the processes that it started.
    """
    started, outcomes, spent = _clocks(), [], Counter()
    before = started
    for case in cases:  # the next case may be prepared before it is given
        outcomes.append(judge(case))
        say(line_of(outcomes[-1]))
        now = _clocks()
        spent.update({(case.part, clock): now[clock] - before[clock] for clock in now})
        before = now
    counted = Counter((one.case.part, one.is_good) for one in outcomes)
    say(f"\n{'part':32} {'tried':>6} {'bad':>5} {'wall s':>7} {'processor s':>12}")
    for part in dict.fromkeys(one.case.part for one in outcomes):
        good, bad = counted[part, True], counted[part, False]
        say(f"{part:32} {good + bad:6} {bad:5} {spent[part, 'wall']:7.0f} {spent[part, 'processor']:12.0f}")
    bad, now = [one for one in outcomes if not one.is_good], _clocks()
    wall, processor = (now[clock] - started[clock] for clock in now)
    say(f"{'all':32} {len(outcomes):6} {len(bad):5} {wall:7.0f} {processor:12.0f}")
    for one in bad:
        say(line_of(one, LONGEST))
    return outcomes


def _clocks() -> dict[str, float]:
    """Seconds on the wall, and of the processor by this process and those that it waited for."""
    return {"wall": time.perf_counter(), "processor": sum(os.times()[:4])}


def line_of(outcome: Outcome, width: int = WIDTH) -> str:
    """A case's line of the table, with as many characters of what was said."""
    said = " ⏎ ".join(outcome.said.split("\n"))
    verdict = "good" if outcome.is_good else "BAD"
    return f"{verdict:4} | {outcome.case.part} | {outcome.case.name} | {said[:width]}"
