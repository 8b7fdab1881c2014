"""Words of a finding that follow its test: a chapter states of a reader's own questions what was found there."""

from typing import Literal

FEW = 10  # numbers; of fewer, no chapter says whether right ones follow recall
LEAST_R2 = 0.25  # that the whole interval of R² exceeds where one number is said to follow another


def worded(verdict: object, gain: str, loss: str, undecided: str) -> str:
    """One of three wordings by a verdict of :func:`lib.stats.tier`: a likely gain has the words of a gain, a likely
    loss those of a loss, and what was not tested those of what is undecided."""
    return {"gain": gain, "loss": loss}.get(str(verdict).removeprefix("likely "), undecided)


def follows(r: float, r2_low: float, n: int) -> Literal["yes", "no", "few"]:
    """Whether one number follows another over runs, by their correlation, the lower end of the interval of R², and the
    questions that both are measured on; no means that it is not shown."""
    if n < FEW:
        return "few"
    return "yes" if r > 0 and r2_low > LEAST_R2 else "no"
