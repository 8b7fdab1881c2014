"""Fine-tuning a bi-encoder on (question, gold page) pairs: one loop for the published recipe and for others.

As published: multiple negatives ranking (Henderson et al., 2017) with the batch's other pages as negatives. Beside them
a step may encode hard negatives of each question (Karpukhin et al., 2020), or those of *all* training pages that the
model now ranks highest (Xiong et al., 2021), while vectors from earlier steps stand for the rest (Wang et al., 2020).
"""

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from tqdm.auto import tqdm

from lib.page_scorer.layers import Trainee
from lib.page_scorer.recipe import Phase, Reading, Recipe

SCALE = 20.0
EPOCHS_BETWEEN_CHECKPOINTS = 5
CURVE = ("step", "epoch", "loss", "learning_rate", "grad_norm")


class GoldAwareBatches:
    """Batches without false negatives: each epoch contains every pair once, in batches as equal as can be.

    Pairs that clash with others are placed first, each into the emptiest batch that contains none of the others. The
    number of batches is such that this always succeeds: at most a pair's clashes' batches and the full ones are closed
    to it. The size of an epoch therefore never changes, which the learning rate relies on.
    """

    def __init__(self, clash: np.ndarray, batch_size: int, seed: int = 0):
        self.clash, self.batch_size, self.seed = clash, batch_size, seed
        degrees = clash.sum(axis=1)
        n_clashing = int((degrees > 0).sum())
        closed = int(degrees.max()) + 1 + max(n_clashing - 1, 0) // batch_size if n_clashing else 0
        self.n_batches = min(len(clash), max(-(-len(clash) // batch_size), closed))

    def __len__(self) -> int:
        return self.n_batches

    def of_epoch(self, epoch: int) -> list[list[int]]:
        """The batches of an epoch from 0, by the generator of ``seed + epoch``."""
        generator = torch.Generator().manual_seed(self.seed + epoch)
        order = torch.randperm(len(self.clash), generator=generator).numpy()
        order = order[np.argsort(~self.clash.any(axis=1)[order], kind="stable")]
        batches: list[list[int]] = [[] for _ in range(self.n_batches)]
        for pair in order.tolist():
            open_ones = [b for b in batches if len(b) < self.batch_size and not self.clash[pair, b].any()]
            min(open_ones, key=len).append(pair)
        return [batches[index] for index in torch.randperm(self.n_batches, generator=generator).tolist()]


class Drawer:
    """Chooses the pages that a step encodes beside its gold pages, and remembers vectors of the others.

    ``columns`` are the rows of the pages that a step's questions are scored against.
    """

    def __init__(self, recipe: Recipe, known: tuple[np.ndarray, np.ndarray] | None):
        self.recipe, self.rows, self.vectors = recipe, None, None
        if recipe.negatives == "all":
            self.rows, vectors = known
            self.vectors = torch.from_numpy(np.array(vectors, np.float32))

    def draw(self, questions: torch.Tensor, batch: list[int], phase: Phase, generator) -> np.ndarray:
        """The rows of the pages to encode now, the batch's gold pages among them; once each where there are others."""
        gold, n = phase.pages[batch], self.recipe.n_negatives
        if self.recipe.negatives == "batch":
            return gold
        if self.recipe.negatives == "filing":
            drawn = [generator.permutation(phase.negatives[pair])[:n] for pair in batch]
            return np.unique(np.concatenate([gold, *drawn]).astype(int))
        logits = SCALE * questions.detach().cpu() @ self.vectors.T
        is_gold = torch.from_numpy(np.array([np.isin(self.rows, list(phase.gold[pair])) for pair in batch]))
        shares = logits.masked_fill(is_gold, -torch.inf).softmax(dim=1).sum(dim=0)
        hardest = shares.topk(min(n * len(batch), len(self.rows))).indices.numpy()
        return np.union1d(gold, self.rows[hardest])

    def scores(self, questions: torch.Tensor, rows: np.ndarray, pages: torch.Tensor) -> tuple:
        """The cosines of questions with the pages encoded now and the remembered ones, and the columns' rows."""
        if self.rows is None:
            return questions @ pages.T, rows
        others = ~np.isin(self.rows, rows)
        remembered = self.vectors[others].to(questions.device)
        known, place = np.isin(rows, self.rows), np.searchsorted(self.rows, rows)
        self.vectors[place[known]] = pages.detach().cpu()[known]
        return torch.cat([questions @ pages.T, questions @ remembered.T], 1), np.append(
            rows, self.rows[others]
        )


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
    trainee: Trainee,
    recipe: Recipe,
    reading: Reading,
    checkpoints: Path,
    title: str,
    batches: GoldAwareBatches | None = None,
    after_epoch: Callable[[Trainee, int], None] = lambda trainee, epoch: None,
) -> list[dict]:
    """Train an encoder; it reads what ``reading`` contains and nothing else.

    Args:
        trainee, recipe, reading: what is trained, how and on what.
        checkpoints: directory for checkpoints; training resumes from the last one in it, on the same device.
        title: shown beside the progress.
        batches: rows of the pairs, by default without false negatives.
        after_epoch: called with the trainee and the number of epochs done.

    Returns:
        The curve: CURVE of each step.
    """
    done, drawer = _last_checkpoint(checkpoints), Drawer(recipe, reading.known)
    curve, n_done = (done["curve"], done["epochs"]) if done else ([], 0)
    if done:
        trainee.load(done["state"])
        drawer.vectors = done["known"]
    ends = np.cumsum([0, *(phase.epochs for phase in reading.phases)]).tolist()
    samplers = [
        batches or GoldAwareBatches(phase.clashes(), recipe.batch_size, recipe.seed)
        for phase in reading.phases
    ]
    n_steps = sum(
        phase.epochs * len(sampler) for phase, sampler in zip(reading.phases, samplers, strict=True)
    )
    with tqdm(total=n_steps, initial=len(curve), desc=title, unit="step", mininterval=5) as bar:
        for phase, sampler, (start, end) in zip(reading.phases, samplers, pairwise(ends), strict=True):
            optimizer = torch.optim.AdamW(trainee.parameters, lr=recipe.learning_rate, weight_decay=0.0)
            if start < n_done < end:
                optimizer.load_state_dict(done["optimizer"])
            questions = trainee.inputs(phase.questions)
            for epoch in range(max(start, n_done), end):
                torch.manual_seed(recipe.seed + epoch)  # of dropout
                generator = np.random.default_rng([recipe.seed, epoch])
                for number, batch in enumerate(sampler.of_epoch(epoch - start)):
                    step = (epoch - start) * len(sampler) + number
                    share = rate(step, phase.epochs * len(sampler), recipe.warmup)
                    optimizer.param_groups[0]["lr"] = recipe.learning_rate * share
                    loss, norm = _step(
                        trainee, optimizer, drawer, reading.pages, questions, phase, batch, generator
                    )
                    progress = epoch + (number + 1) / len(sampler), loss, recipe.learning_rate * share, norm
                    curve.append(dict(zip(CURVE, (len(curve) + 1, *progress), strict=True)))
                    bar.update()
                    bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
                after_epoch(trainee, epoch + 1)
                if (epoch + 1) % EPOCHS_BETWEEN_CHECKPOINTS == 0:
                    state = {
                        "state": trainee.state(),
                        "optimizer": optimizer.state_dict(),
                        "known": drawer.vectors,
                    }
                    _save_checkpoint(checkpoints, state | {"curve": curve, "epochs": epoch + 1})
    return curve


def _step(trainee, optimizer, drawer, pages, questions, phase: Phase, batch: list[int], generator) -> tuple:
    """One step on a batch: the loss and the norm of its gradient."""
    trainee.model.train()
    asked = trainee.vectors(questions, batch)
    rows = drawer.draw(asked, batch, phase, generator)
    scores, columns = drawer.scores(asked, rows, trainee.vectors(pages, rows))
    place = {row: column for column, row in enumerate(columns.tolist())}
    gold = np.zeros(scores.shape, bool)
    for of_pair, pair in zip(gold, batch, strict=True) if drawer.recipe.negatives != "batch" else ():
        of_pair[[place[row] for row in phase.gold[pair] if row in place]] = True
    own = torch.tensor([place[row] for row in phase.pages[batch].tolist()])
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
