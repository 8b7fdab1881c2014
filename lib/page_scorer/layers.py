"""An encoder in training: its upper layers learn, and what the frozen lower ones give is computed once per text.

Frozen lower layers (Lee, Tang & Lin, 2019) give the same activations in every epoch and every fold. They are kept on
disk in bfloat16, so that a step runs the upper layers alone, forward and backward.
"""

import copy
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
import torch

from lib.models.encoders import has_fast_bfloat16

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TOKENS_AT_ONCE = 4096  # of texts that are encoded together: what they give stays in the processor's cache
PLAIN_UP_TO = 256  # tokens: so far plain attention is faster than the fused one, where there is no dropout
VALUES, STARTS = "activations.npy", "starts.npy"


class Inputs(Protocol):
    """Texts as an encoder reads them: ``lengths`` (n_texts,), which batches are sorted by, and features of rows."""

    lengths: np.ndarray

    def features(self, rows: np.ndarray) -> dict[str, torch.Tensor]: ...


class Tokens:
    """Texts that all layers read; lengths are in characters, as texts are tokenised when they are read."""

    def __init__(self, model: "SentenceTransformer", texts: Sequence[str]):
        self.model, self.texts = model, texts
        self.lengths = np.array([len(text) for text in texts])

    def features(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The tokens of the texts in the given rows."""
        return self.model.preprocess([self.texts[row] for row in rows])


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
        return {
            "inputs_embeds": torch.from_numpy(padded).view(torch.bfloat16).float(),
            "attention_mask": mask,
        }


class Given(torch.nn.Module):
    """Stands where embeddings are computed, and gives the activations that it is given."""

    def forward(self, *_, inputs_embeds: torch.Tensor, **__) -> torch.Tensor:
        return inputs_embeds


class Trainee:
    """An encoder in training.

    Args:
        weights: a directory that SentenceTransformer loads.
        max_tokens: read of a text.
        precision: ``bfloat16`` (autocast; parameters and sums stay float32), ``float32`` or ``auto``.
        frozen_layers: the embeddings and so many layers are not trained; 0 trains all parameters.
        dropout: whether dropout is as in the encoder's configuration, or none.
    """

    def __init__(self, weights: Path, max_tokens: int, precision: str, frozen_layers: int, dropout: bool):
        from sentence_transformers import SentenceTransformer  # takes seconds to load

        is_plain = not dropout and max_tokens <= PLAIN_UP_TO
        attention = {"model_kwargs": {"attn_implementation": "eager"}} if is_plain else {}
        self.model = SentenceTransformer(str(weights), local_files_only=True, **attention)
        self.model.max_seq_length = max_tokens
        self.is_bfloat16 = precision == "bfloat16" or (precision == "auto" and has_fast_bfloat16())
        for module in () if dropout else self.model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        self.transformer, self.lower, trained = self.model[0].model, None, self.model
        if frozen_layers:
            self.lower, trained = self._cut(frozen_layers), self.transformer.encoder.layer
        self.parameters = list(trained.parameters())

    def _cut(self, n_layers: int) -> torch.nn.Module:
        """The embeddings and the first layers; the model is left with the others."""
        layers = self.transformer.encoder.layer
        if n_layers >= len(layers):
            raise ValueError(f"{n_layers} frozen layers of {len(layers)} leave none to train")
        lower = copy.deepcopy(self.transformer).eval()
        lower.encoder.layer = lower.encoder.layer[:n_layers]
        self.transformer.embeddings, self.transformer.encoder.layer = Given(), layers[n_layers:]
        self.model.requires_grad_(False)
        self.transformer.encoder.layer.requires_grad_(True)
        return lower

    @property
    def autocast(self) -> AbstractContextManager:
        """The precision that encodings are computed in."""
        return torch.autocast(self.model.device.type, torch.bfloat16, enabled=self.is_bfloat16)

    def inputs(self, texts: Sequence[str]) -> Inputs:
        """Texts as this encoder reads them; activations of frozen layers are computed and held in memory."""
        if not self.lower:
            return Tokens(self.model, texts)
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
        tokens, step = Tokens(self.model, texts), max(1, TOKENS_AT_ONCE // self.model.max_seq_length)
        self.lower.to(self.model.device)
        for start in range(0, len(texts), step):
            features = tokens.features(np.arange(start, min(start + step, len(texts))))
            names = ("input_ids", "attention_mask", "token_type_ids")
            given = {name: features[name].to(self.model.device) for name in names if name in features}
            with self.autocast:
                found = self.lower(**given).last_hidden_state
            kept = given["attention_mask"].bool()
            for one, is_token in zip(found.to(torch.bfloat16).cpu(), kept.cpu(), strict=True):
                yield one[is_token].view(torch.int16)

    def vectors(self, inputs: Inputs, rows: Sequence[int]) -> torch.Tensor:
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
                for name, value in features.items():
                    features[name] = value.to(self.model.device) if torch.is_tensor(value) else value
                parts.append(self.model(features)["sentence_embedding"])
        found = torch.nn.functional.normalize(torch.cat(parts).float(), dim=1)
        return found[torch.from_numpy(np.argsort(order))]

    @torch.no_grad()
    def encode(self, inputs: Inputs, rows: Sequence[int]) -> np.ndarray:
        """As :meth:`vectors`, without dropout and gradients."""
        self.model.eval()
        return self.vectors(inputs, rows).cpu().numpy()

    def state(self) -> dict[str, torch.Tensor]:
        """What is trained, by name; a copy."""
        return {f"{n:03}": value.detach().cpu().clone() for n, value in enumerate(self.parameters)}

    @torch.no_grad()
    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Set what is trained."""
        for parameter, value in zip(self.parameters, state.values(), strict=True):
            parameter.copy_(value)

    def whole(self) -> "SentenceTransformer":
        """The model with its frozen layers, to be saved; nothing is trained after it."""
        if self.lower:
            upper = self.transformer.encoder.layer
            self.transformer.embeddings = self.lower.embeddings
            self.transformer.encoder.layer = torch.nn.ModuleList([*self.lower.encoder.layer, *upper])
            self.lower = None
        return self.model.eval()
