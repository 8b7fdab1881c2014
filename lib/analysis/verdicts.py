"""When a claim holds here: the rules, and how many questions would tell where these cannot.

A claim is about a number θ: most often a mean paired difference, ``mean(a) - mean(b)`` over questions. It is tested
against a bound: ``a > b`` against 0, ``a <= b`` ("does not help") against a margin, the smallest gain that would
matter, because no number of questions can show that a gain is exactly 0.

The tests of all claims form one family. Each p is a paired randomisation test, two-sided, whose signs are drawn by
company; Holm's correction is over all tests of all claims. Beside it stands Bonferroni's p of the paired bootstrap,
which is how Akarsu et al. (2026) test. With the 95 % interval [low, high] of the bootstrap over companies:

* *holds here*: the interval lies wholly on the claimed side of the bound, and Holm's p is below 0.05;
* *does not*: the interval lies wholly on the other side and Holm's p is below 0.05; or the claim is that ``a > b`` by
  a known amount, ``high`` is below that amount, and Holm's p of the test against the amount is below 0.05;
* *cannot tell*: everything else, with the number of questions that would tell.

A claim that θ *is* a value (``is_exact``) holds only if that value lies in the interval too; it does not where the
value lies outside and Holm's p of the test against it is below 0.05.

**Questions that would tell.** A mean x̄ over n questions of C companies has the linearised variance
``SE² = C / (C - 1) · Σ_c (Σ_i∈c (x_i - x̄))² / n²``. The design effect ``deff = n · SE² / s²`` (Kish, 1965; s² is the
variance of x) says how many of these questions are worth one of as many unrelated ones. A two-sided test at level α
finds an effect of ``δ = θ - bound`` with probability 0.8 once ``n = ((z_{1-α/2} + z_{0.8}) / δ)² · s² · deff``, if
further companies bring as many questions each as these. α is 0.05 over the number of tests, which is the level that
the first of Holm's steps asks for.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from lib.stats import holm

HOLDS, DOES_NOT, CANNOT_TELL, NOT_MEASURED = "holds here", "does not", "cannot tell", "not measured"
ALPHA = 0.05
POWER = 0.8


@dataclass
class Finding:
    """What the questions say about one claim.

    Attributes:
        estimate, low, high: θ and its 95 % interval.
        n, n_clusters: questions and companies.
        claims_more: whether the claim is that θ lies above the bound.
        bound: what θ is tested against.
        p: p of the test against the bound.
        p_bootstrap: the same by the paired bootstrap.
        amount: the difference that was claimed, where it is known and the claim is that ``a > b``.
        p_amount: p of the test against the amount.
        spread: ``s² · deff``; NaN where no n follows from it.
        is_exact: whether the claim is that θ is the amount.
    """

    estimate: float
    low: float
    high: float
    n: int
    n_clusters: int
    claims_more: bool
    bound: float
    p: float
    p_bootstrap: float
    amount: float | None = None
    p_amount: float | None = None
    spread: float = math.nan
    is_exact: bool = False


def spread_of(values: pd.Series, clusters: pd.Series) -> float:
    """``s² · deff`` = ``n · SE²``: the variance of one question's worth of evidence, companies considered."""
    n, n_clusters = len(values), clusters.nunique()
    if n_clusters < 2:
        return math.nan
    sums = (values - values.mean()).groupby(clusters.to_numpy()).sum()
    return float(n_clusters / (n_clusters - 1) * (sums**2).sum() / n)


def questions_needed(effect: float, spread: float, alpha: float = ALPHA, power: float = POWER) -> float:
    """The number of questions at which a two-sided test finds an effect; infinite for no effect, NaN if unknown.

    Args:
        effect: distance of θ from the bound.
        spread: see :func:`spread_of`; without any, as where all questions score alike, nothing can be said.
        alpha: level of the test, corrected.
        power: probability of finding it.
    """
    if math.isnan(spread):
        return math.nan
    if effect == 0:
        return math.inf
    if spread < 1e-12:
        return math.nan
    return float(math.ceil((norm.ppf(1 - alpha / 2) + norm.ppf(power)) ** 2 * spread / effect**2))


def verdict(tested: Finding, p_holm: float, p_holm_amount: float | None = None) -> str:
    """*holds here*, *does not* or *cannot tell*, by the rules above."""
    is_other_amount = p_holm_amount is not None and p_holm_amount < ALPHA
    if tested.is_exact and not tested.low <= tested.amount <= tested.high:
        return DOES_NOT if is_other_amount else CANNOT_TELL
    above, below = tested.low > tested.bound, tested.high < tested.bound
    if p_holm < ALPHA and (above if tested.claims_more else below):
        return HOLDS
    if p_holm < ALPHA and (below if tested.claims_more else above):
        return DOES_NOT
    if tested.claims_more and is_other_amount and tested.high < tested.amount:
        return DOES_NOT
    return CANNOT_TELL


def decide(tests: dict[str, Finding]) -> pd.DataFrame:
    """The verdicts on all claims, corrected as one family.

    Returns:
        Indexed by claim: estimate, low, high, n, n_clusters, bound, amount, p_holm, p_holm_amount, p_bonferroni,
        verdict, n_needed (NaN unless the verdict is *cannot tell*).
    """
    keys = [(name, False) for name in tests]
    keys += [(name, True) for name, tested in tests.items() if tested.p_amount is not None]
    p = [tests[name].p_amount if is_amount else tests[name].p for name, is_amount in keys]
    adjusted = dict(zip(keys, holm(np.array(p, float)), strict=True))
    rows = {}
    for name, tested in tests.items():
        said = verdict(tested, adjusted[name, False], adjusted.get((name, True)))
        needed = questions_needed(tested.estimate - tested.bound, tested.spread, ALPHA / len(keys))
        rows[name] = {
            key: getattr(tested, key) for key in ("estimate", "low", "high", "n", "n_clusters", "bound")
        }
        rows[name] |= {
            "amount": math.nan if tested.amount is None else tested.amount,
            "p_holm": float(adjusted[name, False]),
            "p_holm_amount": float(adjusted.get((name, True), math.nan)),
            "p_bonferroni": min(1.0, tested.p_bootstrap * len(tests)),
            "verdict": said,
            "n_needed": needed if said == CANNOT_TELL else math.nan,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("claim")
