"""The page scorer by the best recipe: hard negatives from all pages, and frozen lower layers.

Each step encodes the pages of the training filings that the model now ranks highest (Xiong et al., 2021), while vectors
from earlier steps stand for the rest (Wang et al., 2020). What the embeddings and the frozen lower layers (Lee, Tang &
Lin, 2019) give is computed once per text and kept on disk in bfloat16, so that a step runs the upper layers alone.
"""

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from lib.files import digest_of
from lib.folds import Fold
from lib.models.encoders import has_fast_bfloat16
from lib.models.weights import fetch, weights_hash
from lib.page_scorer.pages import page_texts, text_by_page
from lib.page_scorer.trainer import CURVE, EPOCHS_BETWEEN_CHECKPOINTS, SCALE, GoldAwareBatches, clashes
from lib.profile import Settings
from lib.study import Study

TOKENS_AT_ONCE = 4096  # of texts that are encoded together: what they give stays in the processor's cache
PLAIN_UP_TO = 256  # tokens: so far plain attention is faster than the fused one, where there is no dropout
VALUES, STARTS = "activations.npy", "starts.npy"


class Activations:
    """What the frozen layers give, text after text and without padding: bfloat16 as int16, shape (n_tokens, d)."""

    def __init__(self, values: np.ndarray, starts: np.ndarray):
        self.values, self.starts, self.lengths = values, starts, np.diff(starts)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Those of a folder, left on disk; see :meth:`Trainee.freeze`."""
        return cls(np.load(folder / VALUES, mmap_mode="r"), np.load(folder / STARTS))

    def features(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The activations of the texts in the given rows, padded to the longest, and which are no padding."""
        lengths = self.lengths[rows]
        padded = np.zeros((len(rows), lengths.max(), self.values.shape[1]), np.int16)
        for into, row, length in zip(padded, rows, lengths, strict=True):
            into[:length] = self.values[self.starts[row] : self.starts[row] + length]
        mask = torch.from_numpy((np.arange(lengths.max()) < lengths[:, None]).astype(np.int64))
        values = torch.from_numpy(padded).view(torch.bfloat16).float()
        return {"inputs_embeds": values, "attention_mask": mask}


class Given(torch.nn.Module):
    """Stands where embeddings are computed, and gives the activations that it is given."""

    def forward(self, *_, inputs_embeds: torch.Tensor, **__) -> torch.Tensor:
        return inputs_embeds


class Trainee:
    """An encoder in training, without dropout.

    Args:
        weights: a directory that SentenceTransformer loads.
        recipe: ``max_tokens`` read of a text, ``train_precision`` (``bfloat16``, where parameters and sums stay
            float32, ``float32`` or ``auto``), ``frozen_layers``: the embeddings and so many layers are not trained.
    """

    def __init__(self, weights: Path, recipe: Settings):
        attention = {"attn_implementation": "eager"} if recipe.max_tokens <= PLAIN_UP_TO else {}
        self.model = SentenceTransformer(str(weights), local_files_only=True, model_kwargs=attention)
        self.model.max_seq_length = recipe.max_tokens
        precision = recipe.train_precision
        self.is_bfloat16 = precision == "bfloat16" or (precision == "auto" and has_fast_bfloat16())
        for module in self.model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        self.transformer = self.model[0].model
        layers, n_frozen = self.transformer.encoder.layer, recipe.frozen_layers
        if n_frozen >= len(layers):
            raise ValueError(f"{n_frozen} frozen layers of {len(layers)} leave none to train")
        self.lower = copy.deepcopy(self.transformer).eval()
        self.lower.encoder.layer = self.lower.encoder.layer[:n_frozen]
        self.transformer.embeddings, self.transformer.encoder.layer = Given(), layers[n_frozen:]
        self.model.requires_grad_(False)
        self.transformer.encoder.layer.requires_grad_(True)
        self.parameters = list(self.transformer.encoder.layer.parameters())

    @property
    def autocast(self) -> AbstractContextManager:
        """The precision that encodings are computed in."""
        return torch.autocast(self.model.device.type, torch.bfloat16, enabled=self.is_bfloat16)

    def inputs(self, texts: Sequence[str]) -> Activations:
        """The frozen layers' activations of texts, in memory."""
        parts = [part.numpy() for part in self._activations(texts)]
        return Activations(np.concatenate(parts), np.cumsum([0, *map(len, parts)]))

    def freeze(self, texts: Sequence[str], folder: Path) -> None:
        """Write the frozen layers' activations of texts, for :meth:`Activations.load`."""
        n_tokens = [len(ids) for ids in self.model.tokenizer(list(texts), truncation=True)["input_ids"]]
        starts = np.cumsum([0, *n_tokens])
        shape = int(starts[-1]), self.transformer.config.hidden_size
        values = np.lib.format.open_memmap(folder / VALUES, "w+", np.int16, shape)
        for start, part in zip(starts, self._activations(texts), strict=False):
            values[start : start + len(part)] = part.numpy()
        values.flush()
        np.save(folder / STARTS, starts)

    @torch.no_grad()
    def _activations(self, texts: Sequence[str]) -> Iterator[torch.Tensor]:
        """The frozen layers' activations of each text, bfloat16 as int16, shape (n_tokens, d) each."""
        step = max(1, TOKENS_AT_ONCE // self.model.max_seq_length)
        self.lower.to(self.model.device)
        for start in range(0, len(texts), step):
            features = self.model.preprocess(list(texts[start : start + step]))
            names = ("input_ids", "attention_mask", "token_type_ids")
            given = {name: features[name].to(self.model.device) for name in names if name in features}
            with self.autocast:
                found = self.lower(**given).last_hidden_state
            kept = given["attention_mask"].bool()
            for one, is_token in zip(found.to(torch.bfloat16).cpu(), kept.cpu(), strict=True):
                yield one[is_token].view(torch.int16)

    def vectors(self, inputs: Activations, rows: Sequence[int]) -> torch.Tensor:
        """Unit vectors of the texts in the given rows, float32, shape (n_rows, d), with gradients where they are on.

        Texts of about equal length are encoded together, so that little is padding.
        """
        rows = np.asarray(rows)
        order = np.argsort(-inputs.lengths[rows], kind="stable")
        step = max(1, TOKENS_AT_ONCE // self.model.max_seq_length)
        parts = []
        with self.autocast:
            for start in range(0, len(rows), step):
                features = inputs.features(rows[order[start : start + step]])
                given = {name: value.to(self.model.device) for name, value in features.items()}
                parts.append(self.model(given)["sentence_embedding"])
        found = torch.nn.functional.normalize(torch.cat(parts).float(), dim=1)
        return found[torch.from_numpy(np.argsort(order))]

    @torch.no_grad()
    def encode(self, inputs: Activations, rows: Sequence[int]) -> np.ndarray:
        """As :meth:`vectors`, without gradients."""
        self.model.eval()
        return self.vectors(inputs, rows).cpu().numpy()

    @torch.no_grad()
    def load(self, state: Sequence[torch.Tensor]) -> None:
        """Set what is trained."""
        for parameter, value in zip(self.parameters, state, strict=True):
            parameter.copy_(value)

    def whole(self) -> SentenceTransformer:
        """The model with its frozen layers, to be saved; nothing is trained after it."""
        upper = self.transformer.encoder.layer
        self.transformer.embeddings = self.lower.embeddings
        self.transformer.encoder.layer = torch.nn.ModuleList([*self.lower.encoder.layer, *upper])
        return self.model.eval()


class Reading(NamedTuple):
    """All that a training reads. Pages are rows of the texts.

    Attributes:
        texts: different texts of pages, as activations.
        questions: of each pair.
        pages: the gold page of each pair, shape (n_pairs,).
        gold: all pages that are gold for the pair's question.
        known: the pages that negatives are from, not falling.
        vectors: of these before training, shape (n_known, d).
    """

    texts: Activations
    questions: list[str]
    pages: np.ndarray
    gold: list[frozenset[int]]
    known: np.ndarray
    vectors: np.ndarray


def fold_reading(
    study: Study, fold: Fold, recipe: Settings, pairs: pd.DataFrame, trainee: Trainee
) -> Reading:
    """What a fold's training reads: its pairs (doc_name, page, question), and the pages of training filings that are
    :func:`readable`."""
    row, texts = pd.factorize(np.array(page_texts(study, header=True), object))
    settings = {name: recipe[name] for name in ("frozen_layers", "max_tokens", "train_precision")}
    params = settings | {
        "weights": weights_hash(study.profile.embedder.weights),
        "texts": digest_of(list(texts))[:20],
    }
    entry = study.store.get("page_scorer/activations", params, lambda to: trainee.freeze(texts, to))
    inputs = Activations.load(entry.path)
    encode = lambda to: np.save(to / "vectors.npy", trainee.encode(inputs, range(len(texts))))  # noqa: E731
    vectors = np.load(study.store.get("page_scorer/untrained", params, encode).path / "vectors.npy")
    row_of = dict(zip(zip(study.pages["doc_name"], study.pages["page"], strict=True), row, strict=True))
    pages = np.array([row_of[key] for key in zip(pairs["doc_name"], pairs["page"], strict=True)])
    gold_of = pd.Series(pages).groupby(pairs["question"].to_numpy()).agg(frozenset)
    known = np.unique(row[readable(study, fold)])
    gold = gold_of[pairs["question"]].tolist()
    return Reading(inputs, pairs["question"].tolist(), pages, gold, known, vectors[known])


def readable(study: Study, fold: Fold) -> np.ndarray:
    """Which pages training may read as negatives, shape (n_pages,): of training filings, with text, and not with that
    of a test question's gold page. They have no labels, so that such a page is left out in silence."""
    text_of, test = text_by_page(study), study.questions.iloc[list(fold.test)]
    unreadable = {text_of[one.doc_name, page] for one in test.itertuples() for page in one.gold_pages} | {""}
    is_of_training = study.pages["doc_name"].isin(fold.train_filings).to_numpy()
    return is_of_training & ~pd.Series(page_texts(study)).isin(unreadable).to_numpy()


class Known:
    """The vectors of the pages that negatives are from, each as of the last step that encoded it."""

    def __init__(self, rows: np.ndarray, vectors: np.ndarray):
        self.rows, self.vectors = rows, torch.from_numpy(np.array(vectors, np.float32))

    def hardest(self, questions: torch.Tensor, gold: Sequence[frozenset[int]], n: int) -> np.ndarray:
        """The rows of the ``n`` pages with the largest share of the softmax of all questions."""
        logits = SCALE * questions.detach().cpu() @ self.vectors.T
        is_gold = torch.from_numpy(np.array([np.isin(self.rows, list(own)) for own in gold]))
        shares = logits.masked_fill(is_gold, -torch.inf).softmax(dim=1).sum(dim=0)
        return self.rows[shares.topk(min(n, len(self.rows))).indices.numpy()]

    def scores(
        self, questions: torch.Tensor, rows: np.ndarray, pages: torch.Tensor
    ) -> tuple[torch.Tensor, np.ndarray]:
        """The cosines of questions with the pages encoded now and the remembered ones, and the columns' rows."""
        others = ~np.isin(self.rows, rows)
        remembered = self.vectors[others].to(questions.device)
        known, place = np.isin(rows, self.rows), np.searchsorted(self.rows, rows)
        self.vectors[place[known]] = pages.detach().cpu()[known]
        scores = torch.cat([questions @ pages.T, questions @ remembered.T], 1)
        return scores, np.append(rows, self.rows[others])


def contrastive_loss(scores: torch.Tensor, own: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    """The mean of ``-log softmax`` of each question's own page, its other gold pages left out.

    Args:
        scores: cosines, shape (n_questions, n_pages).
        own: the column of each question's own page, shape (n_questions,).
        gold: which pages are gold for it, boolean, shape (n_questions, n_pages).
    """
    others = gold.scatter(1, own[:, None], False)
    return torch.nn.functional.cross_entropy((SCALE * scores).masked_fill(others, -torch.inf), own)


def rate(step: int, n_steps: int, warmup: float) -> float:
    """The share of the highest learning rate at a step from 0: rises over the warm-up, then falls to 0, linearly."""
    n_warm = math.ceil(n_steps * warmup)
    return step / n_warm if step < n_warm else max(0.0, (n_steps - step) / max(1, n_steps - n_warm))


def train(
    study: Study, fold: Fold, recipe: Settings, pairs: pd.DataFrame, checkpoints: Path, title: str
) -> tuple[SentenceTransformer, list[dict]]:
    """The model and the curve of a fold's training; see :func:`lib.page_scorer.trainer.train`."""
    trainee = Trainee(fetch(study.profile.embedder.weights), recipe)
    reading = fold_reading(study, fold, recipe, pairs, trainee)
    known, done = Known(reading.known, reading.vectors), _last_checkpoint(checkpoints)
    sampler = GoldAwareBatches(clashes(reading.pages, reading.questions), recipe.batch_size, recipe.seed)
    optimizer = torch.optim.AdamW(trainee.parameters, lr=recipe.learning_rate, weight_decay=0.0)
    curve, n_done = (done["curve"], done["epochs"]) if done else ([], 0)
    if done:
        trainee.load(done["state"])
        optimizer.load_state_dict(done["optimizer"])
        known.vectors = done["known"]
    questions, n_steps = trainee.inputs(reading.questions), recipe.epochs * len(sampler)
    with tqdm(total=n_steps, initial=len(curve), desc=title, unit="step", mininterval=5) as bar:
        for epoch in range(n_done, recipe.epochs):
            for number, batch in enumerate(sampler.of_epoch(epoch)):
                highest = recipe.learning_rate * rate(epoch * len(sampler) + number, n_steps, recipe.warmup)
                optimizer.param_groups[0]["lr"] = highest
                loss, norm = _step(trainee, optimizer, known, reading, questions, batch, recipe.n_negatives)
                progress = epoch + (number + 1) / len(sampler), loss, highest, norm
                curve.append(dict(zip(CURVE, (len(curve) + 1, *progress), strict=True)))
                bar.update()
                bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            if (epoch + 1) % EPOCHS_BETWEEN_CHECKPOINTS == 0:
                state = [value.detach().cpu().clone() for value in trainee.parameters]
                kept = {"state": state, "optimizer": optimizer.state_dict(), "known": known.vectors}
                _save_checkpoint(checkpoints, kept | {"curve": curve, "epochs": epoch + 1})
    return trainee.whole(), curve


def _step(
    trainee: Trainee,
    optimizer,
    known: Known,
    reading: Reading,
    questions: Activations,
    batch: list[int],
    n: int,
) -> tuple[float, float]:
    """One step on a batch, with ``n`` hard pages for each pair: the loss and the norm of its gradient."""
    trainee.model.train()
    asked, gold_of = trainee.vectors(questions, batch), [reading.gold[pair] for pair in batch]
    rows = np.union1d(reading.pages[batch], known.hardest(asked, gold_of, n * len(batch)))
    scores, columns = known.scores(asked, rows, trainee.vectors(reading.texts, rows))
    place = {row: column for column, row in enumerate(columns.tolist())}
    gold = np.zeros(scores.shape, bool)
    for of_pair, own_gold in zip(gold, gold_of, strict=True):
        of_pair[[place[row] for row in own_gold if row in place]] = True
    own = torch.tensor([place[row] for row in reading.pages[batch].tolist()])
    loss = contrastive_loss(scores, own.to(scores.device), torch.from_numpy(gold).to(scores.device))
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(trainee.parameters, 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item(), norm.item()


def _save_checkpoint(folder: Path, state: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"checkpoint-{state['epochs']}.pt"
    torch.save(state, target.with_suffix(".part"))
    target.with_suffix(".part").replace(target)
    for older in folder.glob("checkpoint-*.pt"):
        if older != target:
            older.unlink()


def _last_checkpoint(folder: Path) -> dict | None:
    """The newest checkpoint or None; one that a killed training left a part of has another name."""
    found = sorted(folder.glob("checkpoint-*.pt"), key=lambda path: path.stat().st_mtime)
    return torch.load(found[-1], weights_only=True) if found else None
