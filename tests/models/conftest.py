"""Tiny models with random weights, of the architectures that the profiles name."""

import pytest


@pytest.fixture(scope="session")
def tiny(wordpiece, tmp_path_factory):
    """Save a random two-layer BERT of a class, with its tokenizer; gives its directory."""

    def make(architecture: str, **settings):
        import torch
        import transformers

        torch.manual_seed(13)
        config = transformers.BertConfig(
            vocab_size=wordpiece.get_vocab_size(),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=128,
            initializer_range=0.5,
            **settings,
        )
        path = tmp_path_factory.mktemp("tiny")
        getattr(transformers, architecture)(config).eval().save_pretrained(path)
        marks = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=wordpiece, model_max_length=128, **marks
        ).save_pretrained(path)
        return path

    return make
