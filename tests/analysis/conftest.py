"""What several tests of analyses need: forty questions of twenty companies, rows that find a share, and no filings."""

import numpy as np
import pandas as pd

from lib.schema import NeedsFilings
from lib.stats import Resampling

N = 40
NUMBERED = pd.Index([f"q{number:02}" for number in range(N)], name="question_id")
COMPANY = [f"company {number % 20}" for number in range(N)]
DRAWS = Resampling(pd.Series(COMPANY, NUMBERED), 500, 1)


def recalls_of(**shares: float) -> pd.DataFrame:
    """Page recall: each row finds the pages of the first of the questions, a share of them."""
    return pd.DataFrame({name: 1.0 * (np.arange(N) < share * N) for name, share in shares.items()}, NUMBERED)


def refuse(*_, **__):
    """In the place of what needs filings."""
    raise NeedsFilings("this needs the filings")
