"""The encoders whose memory models are trained here, in PyTorch with the weights of their modules, and the way back into such a file."""
import collections, hashlib, json, pathlib, struct

import numpy as np, torch
import torch.nn.functional as F
from tokenizers import Tokenizer

MODELS = pathlib.Path(__file__).resolve().parent.parent.parent
HIDDEN, HEADS, ALIGN = 384, 12, 64
Kind = collections.namedtuple("Kind", "base, query, document, first, off, weight, whole")  # first: the vector is that of the first token, not the mean; off: share of the mean vector
# that is taken off; weight in a score of e5-bge; whole: the file has what was not learnt, too
KINDS = {"bge-memory-en": Kind("bge-small-en", "Represent this sentence for searching relevant passages: ", "", True, 1., .6, True),
         "e5-memory": Kind("multilingual-e5-small", "query: ", "passage: ", False, .8, .4, False)}
TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8}


def weights(name):
    return MODELS / name / "model.safetensors"


def read(path):
    """The header and the tensors of a file as they are."""
    data = pathlib.Path(path).read_bytes()
    n = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + n])
    at = lambda h: data[8 + n + h["data_offsets"][0]:8 + n + h["data_offsets"][1]]
    return header, {k: np.frombuffer(at(h), TYPES[h["dtype"]]).reshape(h["shape"]) for k, h in header.items() if k != "__metadata__"}


def floats(raw):
    """The weights as float32: int8 by row, word embeddings in 4 bits by groups."""
    out = {}
    for k, v in raw.items():
        if k.endswith("_scale"):
            continue
        if k.endswith("_q4"):
            s = raw[k.replace("_q4", "_scale")].astype(np.float32)
            w = np.empty((v.shape[0], v.shape[1] * 2), np.float32)
            w[:, 0::2], w[:, 1::2] = (v & 15).astype(np.float32) - 8, (v >> 4).astype(np.float32) - 8
            out[k.replace("_q4", "")] = w * np.repeat(s, w.shape[1] // s.shape[1], 1)
        else:
            out[k] = v.astype(np.float32) * (raw[k + "_scale"].astype(np.float32).reshape(-1, 1) if v.dtype == np.int8 else 1)
    return {k: torch.from_numpy(np.array(v)) for k, v in out.items()}


def tokenizer(path):
    t = Tokenizer.from_file(str(path))
    t.no_padding(), t.enable_truncation(512)
    return t


class Encoder(torch.nn.Module):
    """BERT, with the weights of files, the later ones in place of the earlier. embed sorts texts by length, so that little is padded."""

    def __init__(self, kind, words, *paths):
        super().__init__()
        self.kind, self.tokens, raw = kind, words, {}
        for path in paths or [weights(kind.base)]:
            raw.update(floats(read(path)[1]))
        self.w = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(v) for k, v in raw.items()})
        self.layers = 1 + max(int(k.split("/")[2]) for k in self.w if k.startswith("encoder/layer/"))

    def at(self, name):
        return self.w[name.replace(".", "/")]

    def linear(self, x, name):
        return F.linear(x, self.at(name + ".weight"), self.at(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, (HIDDEN,), self.at(name + ".weight"), self.at(name + ".bias"), 1e-12)

    def forward(self, texts, most, drop=0.):
        ids = [e.ids[:most] for e in self.tokens.encode_batch(list(texts))]
        n = max(map(len, ids))
        x, mask = torch.zeros(len(ids), n, dtype=torch.long), torch.zeros(len(ids), n, dtype=torch.bool)
        for i, a in enumerate(ids):
            x[i, :len(a)], mask[i, :len(a)] = torch.tensor(a), True
        h = F.embedding(x, self.at("embeddings.word_embeddings.weight")) + self.at("embeddings.position_embeddings.weight")[:n] + self.at("embeddings.token_type_embeddings.weight")[0]
        h = F.dropout(self.norm(h, "embeddings.LayerNorm"), drop)
        for i in range(self.layers):
            p = f"encoder.layer.{i}."
            q, k, v = (self.linear(h, p + "attention.self." + m).view(len(ids), n, HEADS, -1).transpose(1, 2) for m in ("query", "key", "value"))
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :]).transpose(1, 2).reshape(len(ids), n, HIDDEN)
            h = self.norm(h + F.dropout(self.linear(a, p + "attention.output.dense"), drop), p + "attention.output.LayerNorm")
            f = self.linear(F.gelu(self.linear(h, p + "intermediate.dense")), p + "output.dense")
            h = self.norm(h + F.dropout(f, drop), p + "output.LayerNorm")
        return F.normalize(h[:, 0] if self.kind.first else (h * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)

    def embed(self, texts, most=256, drop=0., query=False, together=12):
        texts = [(self.kind.query if query else self.kind.document) + t for t in texts]
        order, out = sorted(range(len(texts)), key=lambda i: len(texts[i])), [None] * len(texts)
        for k in range(0, len(order), together):
            ix = order[k:k + together]
            for i, v in zip(ix, self([texts[i] for i in ix], most, drop)):
                out[i] = v
        return torch.stack(out).float()


def write(path, model, share):
    """Writes the weights share of the way from the base to the trained ones, matrices in 8 bits with a scale by row; what was not learnt is as in the base, or missing if the kind says so. Returns the
    file's SHA-256."""
    header, raw = read(weights(model.kind.base))
    base, parts, at = floats(raw), [], 0
    put = lambda k, v: parts.append((k, np.ascontiguousarray(v)))
    for k, b in base.items():
        new = (b + share * (model.at(k).detach() - b)).numpy()
        if np.array_equal(new, b.numpy()):
            for name in (k, k + "_q4", k + "_scale") if model.kind.whole else ():
                if name in raw:
                    put(name, raw[name])
        elif k in raw and raw[k].dtype == np.float32:
            put(k, new)
        else:
            s = np.abs(new).max(1, keepdims=True) / 127
            put(k, np.clip(np.round(new / s), -127, 127).astype(np.int8)), put(k + "_scale", s[:, 0].astype(np.float32))
    head, body = {"__metadata__": {"format": "pt", "origin": model.kind.base + ", MIT, trained further for contextmem on CC0 texts"}}, []
    kinds = {np.dtype(v): k for k, v in TYPES.items()}
    for k, v in parts:
        pad = -at % ALIGN
        body += [b"\0" * pad, v.tobytes()]
        at += pad
        head[k] = {"dtype": kinds[v.dtype], "shape": list(v.shape), "data_offsets": [at, at + v.nbytes]}
        at += v.nbytes
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    text += b" " * (-(8 + len(text)) % ALIGN)
    data = struct.pack("<Q", len(text)) + text + b"".join(body)
    pathlib.Path(path).write_bytes(data)
    return hashlib.sha256(data).hexdigest()
