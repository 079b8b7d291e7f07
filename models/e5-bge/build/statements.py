"""Learns statements.f16: what matters memories are about (README.md, "Statements").

    pip install torch numpy
    statements.py --out ../statements.f16 [--cache FILE]

Learns of the conversations of models/build, but for every eighth and those in HELD: a memory that answers a question of a slot, or did until another took its place, is about
the slot. Others that may be (those that look like an answer and are none) are not looked at for that slot, all others are not about it. What is printed is measured on every
eighth conversation, with the weights that are written: a memory counts as wrong where nobody asked for what it tells of the slot, so that the truth is better.
"""
import argparse, collections, json, pathlib, struct, subprocess

import numpy as np, torch
import torch.nn.functional as F

import slots
from slots import HERE, conversations

DIM, EPOCHS, RATE, DECAY, DROP, BATCH, LEAST = 768, 12, 3e-3, .02, .3, 512, 40
HELD = {"xa05", "xb05", "xb15", "xc05", "xd05", "xe05", "xg05", "xg15"}


def memories(p, pairs):
    """The memories of a conversation, as turns or as exchanges, with what is known of their slots: (text, stated, implied, unclear)."""
    slot, earlier = collections.defaultdict(lambda: (set(), set(), set())), {a for _, a in p["replaces"]}
    for q in p["queries"]:
        s = slots.slot_of(q["slot"])
        if not s:
            continue
        for d, grade in q["rel"].items():
            slot[d][0 if grade == 2 else 1].add(s)
        for d in q["stale"]:
            slot[d][0 if d in earlier and q["cat"] in ("update", "asof", "retract", "history") else 2].add(s)
    docs, i = p["docs"], 0
    while i < len(docs):
        d, behind = docs[i], docs[i + 1] if i + 1 < len(docs) else None
        pair = pairs and d["role"] == "user" and behind and behind["role"] == "assistant" and behind["session"] == d["session"]
        if d["role"] == "user":
            stated, implied, unclear = slot[d["id"]]
            yield f'user: {d["text"]}\nassistant: {behind["text"]}' if pair else f'{d["name"]}: {d["text"]}', stated, implied - stated, unclear - stated - implied
        i += 1 + bool(pair)


def vectors(texts, cache):
    if cache and pathlib.Path(cache).exists():
        return torch.tensor(np.load(cache))
    raw = subprocess.run(["go", "run", "./vectors"], cwd=HERE, input=json.dumps({"questions": [], "statements": texts}).encode(), stdout=subprocess.PIPE, check=True).stdout
    v = np.frombuffer(raw, "<f4").reshape(len(texts), DIM)
    if cache:
        np.save(cache, v)
    return torch.tensor(v)


def learn(X, Y, W):
    torch.manual_seed(0)
    net = torch.nn.Linear(DIM, Y.shape[1])
    torch.nn.init.zeros_(net.weight), torch.nn.init.constant_(net.bias, -3.)
    opt = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps, at = EPOCHS * (len(X) // BATCH), 0
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(X)).split(BATCH):
            for g in opt.param_groups:
                g["lr"] = RATE * max(.02, 1 - at / steps)
            at += 1
            loss = (F.binary_cross_entropy_with_logits(net(F.dropout(X[rows], DROP)), Y[rows], reduction="none") * W[rows]).sum(1).mean()
            opt.zero_grad(), loss.backward(), opt.step()
    with torch.no_grad():
        return (net.weight * DIM ** .5).half(), net.bias.half()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--out", required=True), a.add_argument("--cache", default="", help="vectors of the texts, kept for the next run")
    a = a.parse_args()
    torch.set_num_threads(1)
    rows = [(*m, p["lang"], i % 8 == 7, pairs) for pairs in (False, True) for i, p in enumerate(conversations.load()) if p["id"] not in HELD for m in memories(p, pairs)]
    names = [s for s in slots.SLOTS if sum(s in r[1] for r in rows if not r[6]) >= LEAST]
    X = vectors([r[0] for r in rows], a.cache)
    Y, W = torch.zeros(len(rows), len(names)), torch.ones(len(rows), len(names))
    for i, r in enumerate(rows):
        for kind, y, w in ((1, 1, 1), (2, 1, .5), (3, 0, 0)):
            for s in r[kind] & set(names):
                Y[i, names.index(s)], W[i, names.index(s)] = y, w
    rest = torch.tensor([not r[5] for r in rows])
    weight, bias = learn(X[rest] * DIM ** .5, Y[rest], W[rest])
    P = torch.sigmoid(X @ weight.float().T + bias.float())
    for lang in ("en", "others"):
        at = [i for i, r in enumerate(rows) if r[5] and not r[6] and (r[4] == "en") == (lang == "en")]
        for t in (.5, .7, .8, .85, .9):
            told = [(rows[i], names[k]) for i in at for k in (P[i] >= t).nonzero().flatten().tolist() if names[k] not in rows[i][3]]
            right = sum(s in r[1] | r[2] for r, s in told)
            print(f"{lang} from {t:.2f}: {right} right, {len(told) - right} asked by nobody, of {sum(len(rows[i][1] & set(names)) for i in at)}")
    text = "\n".join(names).encode()
    pathlib.Path(a.out).write_bytes(struct.pack("<III", DIM, len(names), len(text)) + text + weight.numpy().astype("<f2").tobytes() + bias.numpy().astype("<f2").tobytes())


if __name__ == "__main__":
    main()
