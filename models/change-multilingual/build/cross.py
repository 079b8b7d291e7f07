"""The cross-encoder: the last layers of multilingual-e5-small, trained to compare texts whose first layers ran apart.

A scene is one marked text (a later statement, or a question) and what it is compared with (earlier statements, or passages). The marked text's tokens see
themselves; the tokens of every other text see themselves and those of the marked text. So the marked text is computed once however many there are, and what
comes out for a pair does not depend on the others.
"""
import torch
import torch.nn.functional as F

from encoder import HEADS, HIDDEN, Layer

FIRST, LAST, TOKENS, WIDTH = 6, 12, 80, 256  # layers [FIRST, LAST); tokens of a text that are read; width of the heads


class Packed(torch.nn.Module):
    """A layer over the tokens of many texts, one after the other: first those of the marked texts, then those of the others."""

    def __init__(self, w, i):
        super().__init__()
        self.l = Layer(w, i)

    def forward(self, x, at, drop):
        l = self.l
        qkv = l.qkv(x).float().view(-1, 3, HEADS, HIDDEN // HEADS)  # attention is faster so
        m = qkv[at.marked].permute(2, 0, 3, 1, 4)        # [3, marked, heads, tokens, size]
        o = qkv[at.others].permute(2, 0, 3, 1, 4)
        with torch.autocast("cpu", enabled=False):
            a = F.scaled_dot_product_attention(m[0], m[1], m[2], attn_mask=at.marked_bias)
            k, v = (torch.cat([o[j], m[j][at.owner]], 2) for j in (1, 2))
            b = F.scaled_dot_product_attention(o[0], k, v, attn_mask=at.others_bias)
        y = torch.cat([a.transpose(1, 2)[at.marked_is], b.transpose(1, 2)[at.others_is]]).reshape(len(x), HIDDEN)
        x = l.norm1(x + F.dropout(l.project(y), drop, self.training))
        return l.norm2(x + F.dropout(l.down(F.gelu(l.up(x))), drop, self.training))


class Layout:
    """Where the tokens of texts are, given their numbers of tokens, and for each of the others the number of its marked text."""

    def __init__(self, marked, others, owner):
        self.owner, self.sizes = torch.tensor(owner), marked + others
        at = 0
        for name, sizes in (("marked", marked), ("others", others)):
            n = torch.tensor(sizes)
            is_ = torch.arange(max(sizes))[None] < n[:, None]
            index = torch.zeros(is_.shape, dtype=torch.long)
            index[is_] = torch.arange(at, at + int(n.sum()))
            at += int(n.sum())
            setattr(self, name, index), setattr(self, name + "_is", is_)
        bias = lambda m: torch.zeros(m.shape, dtype=torch.float32).masked_fill(~m, -1e4)[:, None, None, :]
        self.marked_bias = bias(self.marked_is)
        self.others_bias = bias(torch.cat([self.others_is, self.marked_is[self.owner]], 1))
        self.pool = torch.repeat_interleave(torch.arange(len(self.sizes)), torch.tensor(self.sizes))
        self.count = torch.tensor(self.sizes, dtype=torch.float32)[:, None]


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.out = torch.nn.Linear(4 * HIDDEN, WIDTH), torch.nn.Linear(WIDTH, 1)

    def forward(self, e, m, drop):
        f = torch.cat([e * m, (e - m).abs(), e, m], 1)
        d = lambda x: F.dropout(x, drop, self.training)
        return self.out(d(F.gelu(self.dense(d(f)))))[:, 0]


class Cross(torch.nn.Module):
    def __init__(self, w):
        super().__init__()
        self.layers = torch.nn.ModuleList(Packed(w, i) for i in range(FIRST, LAST))
        self.roles = torch.nn.Parameter(torch.zeros(2, HIDDEN))
        self.heads = torch.nn.ModuleList(Head() for _ in range(2))

    def forward(self, scenes, states, drop=0.):
        """scenes: [(head, marked text, [texts])]; states gives the vectors of a text. The logits of all pairs, in order."""
        ms, os, owner, roles, kind = [], [], [], [], []
        for i, (h, m, ts) in enumerate(scenes):
            ms.append(states(m))
            roles.append(h)
            for t in ts:
                os.append(states(t)), owner.append(i), kind.append(h)
        at = Layout([len(x) for x in ms], [len(x) for x in os], owner)
        role = self.roles[torch.tensor(roles)]
        x = torch.cat([torch.cat(ms).float() + torch.repeat_interleave(role, torch.tensor([len(x) for x in ms]), 0), torch.cat(os).float()])
        for l in self.layers:
            x = l(x, at, drop)
        v = torch.zeros(len(at.sizes), HIDDEN).index_add_(0, at.pool, x.float()) / at.count
        m, e = v[:len(ms)][at.owner], v[len(ms):]
        kind = torch.tensor(kind)
        out = torch.zeros(len(os))
        with torch.autocast("cpu", enabled=False):
            for h in (0, 1):
                j = (kind == h).nonzero()[:, 0]
                if len(j):
                    out = out.index_put((j,), self.heads[h](e[j], m[j], drop))
        return out
