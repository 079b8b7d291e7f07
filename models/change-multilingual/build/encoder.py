"""The encoder multilingual-e5-small in PyTorch, with the weights of the module of that name."""
import importlib.util, json, pathlib, struct

import numpy as np, torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
E5 = HERE.parent.parent / "multilingual-e5-small"
ANSWERS, REPLACES = range(2)  # heads
HIDDEN, HEADS, INNER = 384, 12, 1536


def e5_build():
    spec = importlib.util.spec_from_file_location("e5build", E5 / "build" / "build.py")
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def read_weights():
    """The tensors of the module's model.safetensors as float32, by their names."""
    data = (E5 / "model.safetensors").read_bytes()
    n = struct.unpack("<Q", data[:8])[0]
    header, body, out = json.loads(data[8:8 + n]), 8 + n, {}
    raw = lambda h, t: np.frombuffer(data[body + h["data_offsets"][0]:body + h["data_offsets"][1]], t).reshape(h["shape"])
    for name, h in header.items():
        if name.endswith(".weight_q4"):
            q = raw(h, np.uint8)
            w = np.empty((q.shape[0], q.shape[1] * 2), np.float32)
            w[:, 0::2], w[:, 1::2] = (q & 15).astype(np.float32) - 8, (q >> 4).astype(np.float32) - 8
            s = raw(header[name.replace("weight_q4", "weight_scale")], np.float16).astype(np.float32)
            out[name.replace("weight_q4", "weight")] = torch.from_numpy(w * np.repeat(s, w.shape[1] // s.shape[1], 1))
        elif h.get("dtype") == "F32":
            out[name] = torch.from_numpy(raw(h, np.float32).copy())
    return out


class Layer(torch.nn.Module):
    """A BERT layer."""

    def __init__(self, w, i):
        super().__init__()
        p = f"encoder.layer.{i}."
        lin = lambda n: self.load(torch.nn.Linear(*reversed(w[p + n + ".weight"].shape)), w, p + n)
        self.qkv = torch.nn.Linear(HIDDEN, 3 * HIDDEN)
        names = [p + "attention.self." + n for n in ("query", "key", "value")]
        self.qkv.weight.data = torch.cat([w[n + ".weight"] for n in names])
        self.qkv.bias.data = torch.cat([w[n + ".bias"] for n in names])
        self.project, self.up, self.down = lin("attention.output.dense"), lin("intermediate.dense"), lin("output.dense")
        self.norm1 = self.load(torch.nn.LayerNorm(HIDDEN, eps=1e-12), w, p + "attention.output.LayerNorm")
        self.norm2 = self.load(torch.nn.LayerNorm(HIDDEN, eps=1e-12), w, p + "output.LayerNorm")

    @staticmethod
    def load(m, w, name):
        m.weight.data, m.bias.data = w[name + ".weight"].clone(), w[name + ".bias"].clone()
        return m

    def forward(self, x, mask, drop=0.):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=drop if self.training else 0.)
        a = self.project(a.transpose(1, 2).reshape(b, n, HIDDEN))
        x = self.norm1(x + F.dropout(a, drop, self.training))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), drop, self.training))


class Lower(torch.nn.Module):
    """Embeddings and layers [0, count) of the model."""

    def __init__(self, w, count):
        super().__init__()
        self.words, self.positions, self.types = (w[f"embeddings.{n}_embeddings.weight"] for n in ("word", "position", "token_type"))
        self.norm = Layer.load(torch.nn.LayerNorm(HIDDEN, eps=1e-12), w, "embeddings.LayerNorm")
        self.layers = torch.nn.ModuleList(Layer(w, i) for i in range(count))

    @torch.no_grad()
    def forward(self, ids, at=()):
        """Hidden states of lists of token ids, padded, with the mask; with at, also those after each of these numbers of layers."""
        n = max(map(len, ids))
        t = torch.zeros(len(ids), n, dtype=torch.long)
        mask = torch.zeros(len(ids), n, dtype=torch.bool)
        for i, x in enumerate(ids):
            t[i, :len(x)], mask[i, :len(x)] = torch.tensor(x), True
        x, found = self.norm(self.words[t] + self.positions[:n] + self.types[0]), {}
        for i, layer in enumerate(self.layers):
            x = layer(x, mask[:, None, None, :])
            if i + 1 in at:
                found[i + 1] = x
        return x, mask, found
