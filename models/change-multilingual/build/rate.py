"""Learns the last layer of the answers head anew for what a search found (Judge.Rate), and writes rating.json.

    pip install numpy scipy jax; rate.py [--vectors FOLDER]        seconds, and a minute for the vectors; FOLDER keeps the vectors of the texts for the next run

data/found.jsonl.gz has the twelve best hits of 2,988 questions to conversations of ../../build/conversations that the heads did not learn of (a memory per
exchange, or one per turn), as examples/server ranked them in fast mode. A row counts as internal/recall/relevance.go pools it: the odds of the first of three
texts, and .4 of those of the two behind. There are two kinds of rows without an answer: questions that nothing answers, and questions of the answered ones from
whose hits every one with the answer was taken out. Without the second kind the layer learns which questions tend to have no answer; with it, a question by
itself tells little. The logit of reader.safetensors, which build/reader.py learns first, counts for READ of the sum. Half of the weight is with stores of a few notes (../../build/notes/learnt.txt), asked their own questions, the same without the notes that
answer, and questions of other stores: without them the layer rates right answers in small stores low. Of the change that fits best, .35 is taken.
"""
import argparse, gzip, json, pathlib, re, struct, subprocess, sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import erf
from scipy.stats import rankdata

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "build"))
import conversations  # noqa: E402

MODULE, HIDDEN, BEST = HERE.parent, 384, 3
SHARES = np.log([1, .4, .4])  # behindShare of internal/recall
WEIGHTS = dict(answered=.5, absent=.25, removed=.25)
PENALTY, TAKEN, FOLDS, READ = .01, .35, 5, .2


def tensors(path):
    raw = path.read_bytes()
    n = struct.unpack("<Q", raw[:8])[0]
    for name, t in json.loads(raw[8:8 + n]).items():
        if name != "__metadata__":
            a, b = t["data_offsets"]
            yield name, np.frombuffer(raw[8 + n + a:8 + n + b], {"F16": "<f2", "F32": "<f4"}[t["dtype"]]).astype(np.float32).reshape(t["shape"])


def memories(p, form):
    """The texts of a conversation's memories, by the turn that begins each."""
    docs, out, i = p["docs"], {}, 0
    while i < len(docs):
        d, after = docs[i], docs[i + 1] if i + 1 < len(docs) else None
        if form == "pairs" and after and (d["role"], after["role"]) == ("user", "assistant") and d["session"] == after["session"]:
            out[d["id"]] = f"user: {d['text']}\nassistant: {after['text']}"
            i += 2
        else:
            out[d["id"]] = f"{d['name']}: {d['text']}"
            i += 1
    return out


def rows():
    """(question, texts, kind, conversation, set, whether the first text has the answer)"""
    people, known = {p["id"]: p for p in conversations.load()}, {}
    with gzip.open(HERE / "data" / "found.jsonl.gz", "rt", encoding="utf8") as f:
        for line in f:
            r = json.loads(line)
            at = (r["p"], r["form"])
            if at not in known:
                known[at] = memories(people[r["p"]], r["form"])
            text, name = known[at], r["form"] + (" en" if people[r["p"]]["lang"] == "en" else " others")
            yield r["q"], [text[i] for i in r["hits"][:BEST]], "answered" if r["rel"] else "absent", r["p"], name, r["hits"][0] in r["rel"]
            rest = [text[i] for i in r["hits"] if i not in r["rel"]][:BEST]
            if r["rel"] and len(rest) == BEST:
                yield r["q"], rest, "removed", r["p"], name, False


def stores():
    """The stores of notes: (name, notes, [(question, numbers of the notes that answer)])"""
    out = []
    for line in (HERE.parents[1] / "build" / "notes" / "learnt.txt").read_text(encoding="utf8").splitlines():
        line = line.strip()
        if line.startswith("== "):
            out.append((line.split()[1], [], []))
        elif m := re.match(r"[cto] (.+?) \| ([\d ]+)(\||$)", line):
            out[-1][2].append((m[1], [int(i) - 1 for i in m[2].split()]))
        elif line and out and line[0] not in "#>":
            out[-1][1].append(line)
    return out


def note_rows(known, mean):
    """Rows of stores; the notes nearest to a question come first."""
    unit = lambda t: (known[t][:HIDDEN] - mean) / np.linalg.norm(known[t][:HIDDEN] - mean)
    near = lambda q, notes: sorted(notes, key=lambda t: -(unit(q) @ unit(t)))[:BEST]
    all_ = stores()
    for i, (name, notes, questions) in enumerate(all_):
        for q, right in questions:
            best, rest = near(q, notes), [t for k, t in enumerate(notes) if k not in right]
            if best[0] in [notes[k] for k in right]:
                yield q, best, "answered", name, "notes", True
                if rest:
                    yield q, near(q, rest), "removed", name, "notes", False
        for step in (7, 19, 31):
            if other := all_[(i + step) % len(all_)][2]:
                yield other[0][0], near(other[0][0], notes), "absent", name, "notes", False


def vectors(texts, folder):
    """Means and lengths of texts, by text."""
    known = {}
    if folder:
        for names in sorted(folder.glob("*.jsonl")):
            with open(names, encoding="utf8") as f:
                known.update(zip(map(json.loads, f), np.fromfile(names.with_suffix(".f32"), "<f4").reshape(-1, HIDDEN + 1)))
    missing = [t for t in dict.fromkeys(texts) if t not in known]
    if missing:
        lines = "".join(json.dumps(t) + "\n" for t in missing)
        raw = subprocess.run(["go", "run", "./build/vectors"], cwd=MODULE, input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout
        known.update(zip(missing, np.frombuffer(raw, "<f4").reshape(-1, HIDDEN + 1)))
        if folder:
            name = folder / f"more{len(list(folder.glob('*.jsonl')))}"
            name.with_suffix(".jsonl").write_text(lines, encoding="utf8")
            name.with_suffix(".f32").write_bytes(raw)
    return known


class Head:
    def __init__(self):
        t = dict(tensors(MODULE / "model.safetensors"))
        self.mean, self.dense, self.bias = t["mean"], t["answers.dense.weight"].T, t["answers.dense.bias"]
        scale = json.loads((MODULE / "config.json").read_text())["calibration"]["answers"]
        self.last = scale["scale"] * np.concatenate([t["answers.out.weight"][0], t["answers.direct.weight"][0]]).astype(float)
        self.penalty = PENALTY / scale["scale"] ** 2
        self.shift = float(scale["scale"] * (t["answers.out.bias"][0] + t["answers.direct.bias"][0]) + scale["shift"])

    def inputs(self, a, b):
        """What the last layer sees of pairs of vectors."""
        (u, n), (v, m) = ((x[:, :HIDDEN] - self.mean, x[:, HIDDEN:]) for x in (a, b))
        u, v = u / np.linalg.norm(u, axis=1, keepdims=True), v / np.linalg.norm(v, axis=1, keepdims=True)
        f = np.concatenate([u * v, abs(u - v), u, v, (u * v).sum(1, keepdims=True), n, m], 1)
        h = f @ self.dense + self.bias
        return np.concatenate([h / 2 * (1 + erf(h / np.sqrt(2))), f[:, -3:]], 1)


def pooled(z):
    z = z.reshape(-1, BEST) + SHARES  # -inf where a store has fewer texts
    top = z.max(1)
    return top + np.log(np.exp(z - top[:, None]).sum(1))


def fit(head, x, kind, notes, missing):
    """The last layer that fits rows best: weights of inputs and a shift."""
    y, flat = kind == "answered", x.reshape(-1, x.shape[2])
    weight = sum(w / 2 * (kind == k) * (notes == n) / ((kind == k) & (notes == n)).sum() for k, w in WEIGHTS.items() for n in (False, True))
    mean, std = flat.mean(0), flat.std(0) + 1e-6
    flat, start = (flat - mean) / std, flat @ head.last + head.shift + missing

    def loss(d):
        z = start + flat @ d[:-1]
        sums = pooled(z)
        s = sums + d[-1]
        g = weight * (1 / (1 + np.exp(-s)) - y)
        part = g[:, None] * np.exp(z.reshape(-1, BEST) + SHARES - sums[:, None])
        return (weight * (np.logaddexp(0, s) - y * s)).sum() + head.penalty * (d[:-1] ** 2).sum(), np.append(part.reshape(-1) @ flat + 2 * head.penalty * d[:-1], g.sum())

    d = minimize(loss, np.zeros(len(head.last) + 1), jac=True, method="L-BFGS-B", options=dict(maxiter=60)).x
    change = d[:-1] / std
    return head.last + TAKEN * change, head.shift + TAKEN * (d[-1] - change @ mean)


def auroc(a, b):
    r = rankdata(np.concatenate([a, b]))[:len(a)]
    return (r.sum() - len(a) * (len(a) + 1) / 2) / (len(a) * len(b))


def scaled(now, new, first):
    """The scale and shift of a new logit with which .1 and .5 keep as many right first hits as they did."""
    before, marks = pooled(now)[first], np.log([1 / 9, 1])
    want = [(before < m).mean() for m in marks]
    miss = lambda p: ((np.quantile(pooled(p[0] * new + p[1])[first], want) - marks) ** 2).sum()
    return minimize(miss, [1., 0.], method="Nelder-Mead").x


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--vectors", type=pathlib.Path)
    a = a.parse_args()
    import reader  # it imports this file
    data, head = [r for r in rows() if len(r[1]) == BEST], Head()
    known = vectors([t for r in data for t in (r[0], *r[1])] + [t for _, notes, questions in stores() for t in (*notes, *(q for q, _ in questions))], a.vectors)
    data += note_rows(known, head.mean)
    pairs = [(r[0], t) for r in data for t in (r[1] * BEST)[:BEST]]
    read = reader.Reader([t for p in pairs for t in p], a.vectors).logits(pairs)
    missing = np.array([0. if i < len(r[1]) else -np.inf for r in data for i in range(BEST)])
    x = np.concatenate([head.inputs(*(np.array([known[p[k]] for p in pairs[i:i + 1500]]) for k in (0, 1))) for i in range(0, len(pairs), 1500)]).reshape(len(data), BEST, -1)
    kind, person, group, first = (np.array([r[k] for r in data]) for k in (2, 3, 4, 5))
    now, notes, missing = (x @ head.last + head.shift).reshape(-1) + missing, group == "notes", missing.reshape(-1, BEST)
    read = read.reshape(-1, BEST)
    held, people = np.zeros((len(data), BEST)), sorted(set(person))
    for k in range(FOLDS):
        out = np.isin(person, people[k::FOLDS])
        w, shift = fit(head, x[~out], kind[~out], notes[~out], missing[~out].reshape(-1))
        held[out] = (1 - READ) * (x[out] @ w + shift) + READ * read[out] + missing[out]
    for g in sorted(set(group)):
        for other in ("absent", "removed"):
            line = [auroc(pooled(z)[(group == g) & (kind == "answered")], pooled(z)[(group == g) & (kind == other)]) for z in (now, held)]
            print(f"{g}, answered against {other}: AUROC {line[0]:.3f} -> {line[1]:.3f}, people left out in turn")
    w, shift = fit(head, x, kind, notes, missing.reshape(-1))
    scale, more = scaled(now, ((1 - READ) * (x @ w + shift) + READ * read + missing).reshape(-1), first)
    for z, name in ((now, "before"), (scale * held.reshape(-1) + more, "now")):
        p = 1 / (1 + np.exp(-pooled(z)))
        print(name, {t: {k: round(float((p[sel] >= t).mean()), 3) for k, sel in (("right first", first), ("absent", kind == "absent"), ("removed", kind == "removed"))} for t in (.05, .1, .2, .5)})
    w, shift = scale * (1 - READ) * w, scale * (1 - READ) * shift + more
    cut = lambda v: [float(f"{i:.6g}") for i in v]
    (MODULE / "rating.json").write_text(json.dumps({"out": cut(w[:-3]), "direct": cut(w[-3:]), "bias": cut([shift])[0], "reader": cut([scale * READ])[0]}) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
