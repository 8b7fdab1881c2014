"""A BERT encoder of int8 ONNX as float32 tensors that can be trained: a model directory of sentence-transformers.

A quantised matrix has one scale and zero point a channel, an embedding one for all: ``(w - zero_point) * scale``. The
bias that is added to a product names its layer. The vector of a text is that of its first token.
"""

import json
import shutil
from pathlib import Path

import numpy as np

BGE_QUERY = "Represent this sentence for searching relevant passages: "  # Xiao et al., 2023
TAKEN = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
DESCRIBED = {
    "modules.json": [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling")])
    ],
    "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": True},
    "config_sentence_transformers.json": {
        "prompts": {"query": BGE_QUERY, "document": ""},
        "similarity_fn_name": "cosine",
    },
    "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_cls_token": True},
}


def dequantise(source: Path, target: Path) -> None:
    """Write the model whose ``model.onnx`` is in ``source`` to ``target``."""
    from safetensors.numpy import save_file

    (target / "1_Pooling").mkdir(parents=True)
    save_file(tensors(source / "model.onnx"), target / "model.safetensors", {"format": "pt"})
    for name in TAKEN:
        shutil.copyfile(source / name, target / name)
    for name, content in DESCRIBED.items():
        (target / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def tensors(path: Path) -> dict[str, np.ndarray]:
    """Name to float32 tensor of a BERT model in ONNX."""
    import onnx

    graph = onnx.load(path).graph
    given = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    readers = {name: node for node in graph.node for name in node.input}
    found = {name: value for name, value in given.items() if name.endswith((".weight", ".bias"))}
    for quantised in (name for name in given if name.endswith("_quantized")):
        name = quantised.removesuffix("_quantized")
        zero, scale = given[f"{name}_zero_point"], given[f"{name}_scale"]
        value = (given[quantised].astype(np.float32) - zero.astype(np.float32)) * scale
        if name.endswith(".weight"):  # an embedding
            found[name] = value
            continue
        node = readers[quantised]
        while node.op_type != "Add":
            node = readers[node.output[0]]
        bias = next(one for one in node.input if one in given)
        found[bias.replace(".bias", ".weight")] = np.ascontiguousarray(value.T)
    size = len(given["embeddings.LayerNorm.bias"])
    pooler = {"weight": (size, size), "bias": size}  # a BERT model has one; nothing reads it
    return found | {f"pooler.dense.{name}": np.zeros(shape, np.float32) for name, shape in pooler.items()}
