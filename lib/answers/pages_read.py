"""The pages of a context, which an answer is calculated from."""

import pandas as pd

from lib.answers.prompt_context import Context, first_chunks
from lib.method import memoized
from lib.study import Study


@memoized
def pages_read(study: Study, wanted: Context) -> pd.DataFrame:
    """The pages of the first chunks of a context's run: question_id, doc_name and page, each once, best first."""
    return first_chunks(study, wanted)[["question_id", "doc_name", "page"]].drop_duplicates(ignore_index=True)
