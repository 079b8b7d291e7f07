"""Learns memories.f32: what turns the vector of a question towards what people say of themselves (README.md, "Memories").

    pip install torch numpy
    memories.py --data FOLDER --out ../memories.f32 [--hold p1a,p4b]

FOLDER has matters.*.jsonl and personas/*.json; the conversations of models/build are read too. Vectors of documents stay as they are; of a question q the vector is q + U W^T q. In a batch, the questions of
one language stand beside the statements of their matters, look-alikes and 200 statements of other matters, or those of one conversation beside all its memories; the loss
is the cross-entropy to what answers (1) and what answered once (.5), with a penalty on the size of U W^T. Of the English questions to turns, four in ten speak of the person by name. A minute on one core after some minutes of embedding.
"""
import argparse, glob, json, pathlib, random, struct, subprocess, sys

import numpy as np, torch
import torch.nn.functional as F

DIM, RANK, STEPS, RATE, PENALTY, DROP, OTHERS, OLD = 768, 64, 3000, 1e-3, 1e-2, .1, 200, .5
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent.parent / "build"))
import conversations  # noqa: E402
from conversations import named  # noqa: E402


def memories(p, pairs):
    """The texts of a conversation's memories, and for each turn the number of the one that holds it."""
    out, home, d, i = [], {}, p["docs"], 0
    while i < len(d):
        pair = pairs and d[i]["role"] == "user" and i + 1 < len(d) and d[i + 1]["role"] == "assistant" and d[i + 1]["session"] == d[i]["session"]
        out.append(f'user: {d[i]["text"]}\nassistant: {d[i + 1]["text"]}' if pair else f'{d[i]["name"]}: {d[i]["text"]}')
        for x in d[i:i + 1 + pair]:
            home[x["id"]] = len(out) - 1
        i += 1 + pair
    return out, home


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True), a.add_argument("--out", required=True), a.add_argument("--hold", default="")
    a = a.parse_args()
    torch.set_num_threads(1), torch.manual_seed(0)
    rng = random.Random(0)
    more = HERE.parent.parent / "change-multilingual" / "build" / "data"
    matters = [json.loads(l) for f in sorted(glob.glob(a.data + "/matters.*.jsonl")) + sorted(map(str, more.glob("*.jsonl"))) for l in open(f, encoding="utf8") if l.strip()]
    people = [json.load(open(f, encoding="utf8")) for f in sorted(glob.glob(a.data + "/personas/*.json"))] + conversations.load()
    people = [p for p in people if p["id"] not in a.hold.split(",")]
    talks = [(p, *memories(p, pairs), not pairs and p["lang"] == "en") for pairs in (True, False) for p in people]
    questions = list(dict.fromkeys([q["q"] for m in matters for q in m["questions"]] + [t for p in people for q in p["queries"] for t in (q["text"], named(q["text"], p["user"]))]))
    statements = list(dict.fromkeys([t for m in matters for t in [s["text"] for s in m["statements"]] + m["traps"]] + [t for _, ts, _, _ in talks for t in ts]))
    body = json.dumps({"questions": questions, "statements": statements}).encode()
    raw = subprocess.run(["go", "run", "./vectors"], cwd=HERE, input=body, stdout=subprocess.PIPE, check=True).stdout
    V = torch.tensor(np.frombuffer(raw, "<f4").reshape(-1, DIM).copy())
    Q, D = {t: i for i, t in enumerate(questions)}, {t: i + len(questions) for i, t in enumerate(statements)}

    by, items = {}, []  # statements by language; (matter, question, weights of its statements)
    for m in matters:
        m["rows"] = [D[s["text"]] for s in m["statements"]] + [D[t] for t in m["traps"]]
        by.setdefault(m["lang"], []).extend(m["rows"])
        items += [(m, Q[q["q"]], {**{i: OLD for i in q["old"]}, **{i: 1. for i in q["now"]}}) for q in m["questions"] if q["now"] or q["old"]]

    U, W, scale = torch.zeros(DIM, RANK, requires_grad=True), (torch.randn(DIM, RANK) * .04).requires_grad_(), torch.tensor(2.7, requires_grad=True)
    opt = torch.optim.Adam([{"params": [U, W]}, {"params": [scale], "lr": 1e-2}], lr=RATE)
    for step in range(STEPS):
        opt.param_groups[0]["lr"] = RATE * (1 - step / STEPS)
        if rng.random() < .35:
            lang = rng.choice(items)[0]["lang"]
            batch = [x for x in rng.sample(items, min(len(items), 400)) if x[0]["lang"] == lang][:32]
            if not batch:
                continue
            cols = list(dict.fromkeys(rng.choices(by[lang], k=OTHERS) + [r for m, _, _ in batch for r in m["rows"]]))
            at, y = {c: i for i, c in enumerate(cols)}, torch.zeros(len(batch), len(cols))
            for r, (m, _, w) in enumerate(batch):
                for i, x in w.items():
                    y[r, at[m["rows"][i]]] = x
            q = V[[x[1] for x in batch]]
        else:
            p, texts, home, turns = rng.choice(talks)
            asked = [x for x in p["queries"] if x["rel"]]
            cols, y = [D[t] for t in texts], torch.zeros(len(asked), len(texts))
            for r, x in enumerate(asked):
                for d in x["stale"] if x["cat"] in ("update", "asof", "retract") else []:
                    y[r, home[d]] = OLD
                for d in x["rel"]:
                    y[r, home[d]] = 1.
            by_name = turns and rng.random() < .4
            q = V[[Q[named(x["text"], p["user"]) if by_name else x["text"]] for x in asked]]
        q = F.dropout(q, DROP) * (1 - DROP)
        logp = F.log_softmax((q + (q @ W) @ U.T) @ V[cols].T * scale.exp(), 1)
        loss = -(y / y.sum(1, keepdim=True) * logp).sum(1).mean() + PENALTY * ((W.T @ W) * (U.T @ U)).sum()
        opt.zero_grad(), loss.backward(), opt.step()
    with open(a.out, "wb") as f:
        f.write(struct.pack("<I", RANK) + W.T.detach().numpy().astype("<f4").tobytes() + U.T.detach().numpy().astype("<f4").tobytes())
    print(len(matters), "matters", len(people), "conversations", "scale", float(scale.exp()), "size", float((W @ U.T).norm()))


if __name__ == "__main__":
    main()
