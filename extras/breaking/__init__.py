"""The campaign: bad input, hostile text, faults and damage, tried case by case; ``make break`` prints the outcomes.

A case is good when its fault is told in one sentence that names what is wrong, or when it changes nothing. A traceback,
silence about a wrong result, or a sentence that names something else is bad.
"""

import os

os.environ.setdefault("TQDM_DISABLE", "1")  # before tqdm is imported: a table is printed, not progress
