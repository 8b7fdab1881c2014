"""Silver questions as training questions of the page ranker, over the filings that they were made from.

Their pages are described without an encoder. A fold leaves out its own companies' questions and filings.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from lib.ahead.given import Given
from lib.ahead.pool import Pool
from lib.ahead.views import pool_of
from lib.frames import remembered
from lib.page_scorer.pages import page_rows
from lib.silver import read_silver
from lib.study import Study
from lib.tokens import bare

N_QUESTIONS, BATCH, SEED = 600, 100, 13


@remembered
def silver_pool(study: Study) -> tuple[Pool, np.ndarray, np.ndarray]:
    """The candidate pages of N_QUESTIONS silver questions drawn by SEED, as many of each kind as there are a share.

    With the company of each question's filing, shape (n_questions,), and of each page, (n_pages,), both bare.
    """
    silver, parts, n_before = read_silver(study), [], 0
    given = Given(study.profile, silver.filings, silver.pages.reset_index(drop=True))
    asked = silver.questions.sample(min(N_QUESTIONS, len(silver.questions)), random_state=SEED)
    row_of = page_rows(given)
    for start in range(0, len(asked), BATCH):
        batch = asked.iloc[start : start + BATCH]
        pool = pool_of(given, batch["question"].tolist(), encoded=())
        gold = np.zeros((len(batch), len(given.pages)), bool)
        for row, question in zip(gold, batch.itertuples(), strict=True):
            row[[row_of[question.doc_name, page] for page in question.gold_pages]] = True
        parts.append(Pool(pool.rows + n_before, pool.columns, pool.table, gold[pool.rows, pool.columns]))
        n_before += len(batch)
    rows, columns, gold = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "columns", "gold")
    )
    table = pd.concat([part.table for part in parts], ignore_index=True)
    company_of = silver.filings.set_index("doc_name")["company"].map(bare)
    companies, of_page = (frame["doc_name"].map(company_of).to_numpy() for frame in (asked, given.pages))
    return Pool(rows, columns, table, gold), companies, of_page


def without(study: Study, companies: Collection[str]) -> Pool:
    """The pairs of which neither question nor page is of these companies, of questions with a gold page among them."""
    pool, of_question, of_page = silver_pool(study)
    left_out = sorted(map(bare, companies))
    kept = ~np.isin(of_question[pool.rows], left_out) & ~np.isin(of_page[pool.columns], left_out)
    kept &= np.isin(pool.rows, pool.rows[kept & pool.gold])
    return pool.part(kept)
