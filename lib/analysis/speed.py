"""How fast encoders are on each engine, and what a lower precision changes: as it was measured once, and published."""

import pandas as pd

from lib.models.weights import weights_hash
from lib.study import Study

STAGE, VERSION = "speed/encoders", 2
#: The encoders that are measured, and the tokens that each reads of a text.
MODELS = {"minilm": 256, "bge-small-int8": 256, "bge-small": 256}
#: Texts per second; operations as a share of those of the fastest matrix product, from 0 to 1; change of the cosines
#: of questions and texts against float32; share of a question's first 20 texts that stay, and of questions for which
#: all 20 stay in their order (changes are NaN where there is no float32 form of the weights); seconds to encode one
#: question, and all windows of the filings as if each were full; the most memory of a process that encodes texts, and
#: the size of the windows' vectors.
COLUMNS = ["model", "window", "engine", "precision", "texts_s", "share", "largest_change", "mean_change"]
COLUMNS += ["kept_20", "same_order_20", "question_s", "index_s", "memory_mib", "vectors_mib", "machine"]


def speeds(study: Study) -> pd.DataFrame | None:
    """COLUMNS of every model, engine and precision; None where that was not measured."""
    models = {weights_hash(name): window for name, window in MODELS.items()}
    params = {"models": models, "chunks": study.digest("chunks"), "questions": study.digest("questions")}
    if study.store.find(STAGE, params, VERSION) is None:
        return None
    return study.store.kept(STAGE, params, None, VERSION, public=True)
