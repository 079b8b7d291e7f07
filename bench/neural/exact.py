"""BERT's forward pass in float32 with numpy, to compare both sides with."""
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float32])


class Exact:
    """weights: tensors under Hugging Face's names, without a prefix."""

    def __init__(self, weights, heads=12):
        self.w, self.heads = weights, heads
        self.layers = sum(name.endswith("intermediate.dense.weight") for name in weights)

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def attention(self, x, name):
        n, hidden = x.shape
        q, k, v = (self.linear(x, f"{name}.self.{part}").reshape(n, self.heads, -1).transpose(1, 0, 2) for part in ("query", "key", "value"))
        a = q @ k.transpose(0, 2, 1) / math.sqrt(hidden // self.heads)
        a = np.exp(a - a.max(-1, keepdims=True))
        a /= a.sum(-1, keepdims=True)
        return self.linear((a @ v).transpose(1, 0, 2).reshape(n, hidden), name + ".output.dense")

    def first(self, ids):
        """The unit vector of the first token."""
        e = "embeddings."
        x = self.w[e + "word_embeddings.weight"][ids] + self.w[e + "position_embeddings.weight"][:len(ids)] + self.w[e + "token_type_embeddings.weight"][0]
        x = self.norm(x, e + "LayerNorm")
        for i in range(self.layers):
            p = f"encoder.layer.{i}."
            x = self.norm(x + self.attention(x, p + "attention"), p + "attention.output.LayerNorm")
            h = self.linear(x, p + "intermediate.dense")
            h = h * (1 + erf(h / math.sqrt(2))) / 2
            x = self.norm(x + self.linear(h, p + "output.dense"), p + "output.LayerNorm")
        return x[0] / np.linalg.norm(x[0])
