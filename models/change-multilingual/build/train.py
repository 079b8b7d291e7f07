"""Trains the heads over stored means, fits their calibration on held-out pairs, says what they are worth, and writes the module's files.

    train.py --data FOLDER --means means.pt [--hold p4a,p7b] [--width 192] [--epochs 5]

Held out are every tenth matter of each language and whole conversations. Half of the calibration's weight is with matters, half with
conversations, in which pairs occur as they do in use: a statement with its 12 nearest earlier ones, a question with its 20 nearest memories. Precision is
measured on pairs that the calibration was not fitted to (two halves, each judged by the fit of the other).
"""
import argparse, glob, gzip, hashlib, json, math, pathlib, random, struct, zlib
from concurrent.futures import ProcessPoolExecutor

import numpy as np, torch
import torch.nn.functional as F
from scipy.optimize import minimize
from scipy.stats import rankdata

from data import Sampler, load
from encoder import ANSWERS, E5, REPLACES

HERE = pathlib.Path(__file__).resolve().parent
OUT, ALIGN, HIDDEN = HERE.parent, 64, 384
NAMES = {ANSWERS: "answers", REPLACES: "replaces"}


class Means:
    """What means.py stored."""

    def __init__(self, path):
        d = torch.load(path, weights_only=False)  # made by means.py
        self.at, self.mean, self.n, self.e, self.joins = {t: i for i, t in enumerate(d["texts"])}, d["mean"], d["size"].float().log(), d["near"], d["joins"]
        self.center = self.mean.mean(0)
        self.unit = F.normalize(self.mean - self.center, dim=1)

    def near(self, texts, text, n):
        return (self.e[[self.at[t] for t in texts]] @ self.e[self.at[text]]).argsort(descending=True)[:n].tolist()


class Head(torch.nn.Module):
    """A layer over products and differences of two unit vectors, with a path around it for cosine and lengths."""

    SCALES = torch.cat([torch.full((HIDDEN,), s) for s in (20., 14., 10., 10.)] + [torch.tensor([3., 1., 1.])])
    SHIFTS = torch.cat([torch.zeros(4 * HIDDEN + 1), torch.tensor([-3., -3.])])

    def __init__(self, width, drop):
        super().__init__()
        self.dense, self.out, self.direct, self.drop = torch.nn.Linear(4 * HIDDEN + 3, width), torch.nn.Linear(width, 1), torch.nn.Linear(3, 1), drop

    def forward(self, m, a, b):
        u, v = m.unit[a], m.unit[b]
        f = torch.cat([u * v, (u - v).abs(), u, v, (u * v).sum(1, keepdim=True), m.n[a][:, None], m.n[b][:, None]], 1) * self.SCALES + self.SHIFTS
        d = lambda x: F.dropout(x, self.drop, self.training)
        return (self.out(d(F.gelu(self.dense(d(f))))) + self.direct(f[:, -3:]))[:, 0]


def auroc(score, label):
    label = np.asarray(label) > .5
    p, n = label.sum(), (~label).sum()
    return float((rankdata(score)[label].sum() - p * (p + 1) / 2) / (p * n)) if p and n else float("nan")


def held_out(matters):
    """Every tenth matter of a language, and the others."""
    count, parts = {}, ([], [])
    for m in matters:
        count[m["lang"]] = count.get(m["lang"], 0) + 1
        parts[count[m["lang"]] % 10 > 0].append(m)
    return parts


def join(pairs, m, rng, share):
    """Lets some statements come as a clause of a longer message."""
    j = lambda t: m.joins[t] if rng.random() < share and m.joins.get(t) in m.at else t
    for h, a, b, y, g in pairs:
        yield h, a if h == ANSWERS else j(a), j(b), y, g


def more_answers(m, rng):
    """Questions with passages of multilingual-e5-small's build."""
    with gzip.open(E5 / "build" / "pairs.jsonl.gz", "rt", encoding="utf8") as f:
        xs = [json.loads(l) for l in f]
    groups = {}
    for x in xs:
        groups.setdefault(x["group"], []).append(x)
    for x in xs:
        yield ANSWERS, x["query"], x["document"], 1., x["group"]
        docs = [o["document"] for o in rng.sample(groups[x["group"]], min(20, len(groups[x["group"]]))) if o is not x]
        for i in m.near(docs, x["query"], 2):
            yield ANSWERS, x["query"], docs[i], 0., x["group"]


def train(job):
    head, pairs, m, a = job
    torch.set_num_threads(1), torch.manual_seed(head)
    net, n = Head(a.width, .3), len(pairs)
    ia, ib, y, w = (torch.tensor(c) for c in zip(*pairs))
    opt, step, total = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=.02), 0, a.epochs * (n // 512)
    for _ in range(a.epochs):
        order = torch.randperm(n)
        for i in range(0, n - 511, 512):
            j = order[i:i + 512]
            for g in opt.param_groups:
                g["lr"] = 1e-3 * (1 - step / total) + 1e-5
            loss = F.binary_cross_entropy_with_logits(net(m, ia[j], ib[j]), y[j], weight=w[j])
            opt.zero_grad(), loss.backward(), opt.step()
            step += 1
    return net.eval().state_dict()


def fit(x, y, w):
    """Scale and shift of a logit that make it a probability; w are weights."""
    return minimize(lambda p: np.sum(w * (np.logaddexp(0, p[0] * x + p[1]) - y * (p[0] * x + p[1]))) / w.sum(), [1., 0.], method="Nelder-Mead").x


@torch.no_grad()
def score(net, m, pairs):
    return net(m, torch.tensor([m.at[p[1]] for p in pairs]), torch.tensor([m.at[p[2]] for p in pairs])).double().numpy()


def calibrate(name, net, m, pairs, kinds):
    """The calibration of a head, and a report."""
    s, kind, lang = score(net, m, pairs), np.array(kinds), np.array([p[4] for p in pairs])
    y = np.array([p[3] for p in pairs])
    half = np.array([zlib.crc32(p[1 if name == "answers" else 2].encode()) % 2 for p in pairs])
    told = kind == "matters"
    w = np.where(told, 1. / told.sum(), 1. / max(1, (~told).sum()))
    print(name, "AUROC: matters en", round(auroc(s[told & (lang == "en")], y[told & (lang == "en")]), 3), "others", round(auroc(s[told & (lang != "en")], y[told & (lang != "en")]), 3),
          {g: (round(auroc(s[lang == g], y[lang == g]), 3), int((lang == g).sum())) for g in sorted(set(lang))})
    p = np.zeros(len(s))
    for k in (0, 1):
        f = fit(s[half != k], y[half != k], w[half != k])
        p[half == k] = 1 / (1 + np.exp(-(f[0] * s[half == k] + f[1])))
    for where, sel in (("matters", told), ("conversations", ~told)):
        row = [f"{t}: {y[sel & (p >= t)].mean():.2f} of {(sel & (p >= t)).sum()}" for t in (.1, .2, .3, .4, .5, .6, .7, .8, .9) if (sel & (p >= t)).any()]
        print(name, where, f"base {y[sel].mean():.3f} precision from", "; ".join(row))
    return dict(zip(("scale", "shift"), (round(float(v), 5) for v in fit(s, y, w))))


def tensors(nets, m):
    yield "mean", m.center
    for head, name in NAMES.items():
        n = nets[head]
        yield name + ".dense.weight", (n.dense.weight * Head.SCALES).half()
        yield name + ".dense.bias", n.dense.bias + n.dense.weight @ Head.SHIFTS
        yield name + ".out.weight", n.out.weight
        yield name + ".out.bias", n.out.bias
        yield name + ".direct.weight", n.direct.weight * Head.SCALES[-3:]
        yield name + ".direct.bias", n.direct.bias + n.direct.weight @ Head.SHIFTS[-3:]


def write(path, parts):
    header, at, body = {"__metadata__": {"format": "pt", "origin": "trained for contextmem on CC0 texts, over intfloat/multilingual-e5-small, MIT"}}, 0, []
    for name, t in parts:
        data = t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": {torch.float16: "F16", torch.float32: "F32"}[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        body.append(data)
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-(8 + len(text)) % ALIGN)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


def reference(nets, m, pairs, scales):
    """Pairs in all languages with their probabilities, for the Go tests."""
    rng, groups, out = random.Random(3), {}, []
    for x in pairs:
        groups.setdefault((x[0], x[4], x[3]), []).append(x)
    for (head, lang, _), xs in sorted(groups.items()):
        for x in rng.sample(xs, min(4, len(xs))):
            c = scales[NAMES[head]]
            p = 1 / (1 + math.exp(-(c["scale"] * float(score(nets[head], m, [x])[0]) + c["shift"])))
            out.append({"head": NAMES[head], "lang": lang, "a": x[1], "b": x[2], "p": round(p, 5), "label": int(x[3])})
    path = OUT / "testdata" / "reference.json.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(out, ensure_ascii=False).encode("utf8"), 9, mtime=0))
    print(len(out), "reference pairs")


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True), a.add_argument("--means", required=True), a.add_argument("--hold", default="p4a,p7b")
    a.add_argument("--width", type=int, default=192), a.add_argument("--epochs", type=int, default=5), a.add_argument("--draws", type=int, default=4), a.add_argument("--weight", type=float, default=2.)
    a = a.parse_args()
    torch.set_num_threads(2)
    m, rng = Means(a.means), random.Random(7)
    matters, personas = load(a.data, glob.glob(str(HERE / "data" / "*.jsonl")))
    held_m, train_m = held_out(matters)
    hold = a.hold.split(",")
    fixed, draw = Sampler(held_m, [], m.near, random.Random(1)), Sampler(train_m, [p for p in personas if p["id"] not in hold], m.near, rng)
    jobs = {h: [] for h in NAMES}
    for _ in range(a.draws):
        told = list(join((x for t in train_m for x in draw.of_matter(t)), m, rng, .12)) + list(more_answers(m, rng))
        for weight, xs in ((1., told), (a.weight, (x for p in draw.personas for x in draw.of_persona(p)))):
            for h, s, t, y, _ in xs:
                jobs[h].append((m.at[s], m.at[t], y, weight))
    print({NAMES[h]: len(x) for h, x in jobs.items()}, "pairs", flush=True)
    with ProcessPoolExecutor(2) as pool:
        states = dict(zip(jobs, pool.map(train, [(h, x, m, a) for h, x in jobs.items()])))
    nets, scales, held = {}, {}, []
    for t in held_m:
        held += [(x, "matters") for x in fixed.of_matter(t, True)]
    for p in personas:
        if p["id"] in hold:
            held += [(x, p["id"]) for x in fixed.of_persona(p, True)]
    for h, name in NAMES.items():
        nets[h] = Head(a.width, .3).eval()
        nets[h].load_state_dict(states[h])
        scales[name] = calibrate(name, nets[h], m, [x for x, _ in held if x[0] == h], [k for x, k in held if x[0] == h])
    write(OUT / "model.safetensors", tensors(nets, m))
    (OUT / "config.json").write_text(json.dumps({"encoder": "multilingual-e5-small/", "encoder_layers": 8, "max_text_tokens": 128, "calibration": scales}, indent=1) + "\n", encoding="ascii")
    reference(nets, m, [x for x, k in held if k == "matters"], scales)
    for name in ("config.json", "model.safetensors"):
        data = (OUT / name).read_bytes()
        print(hashlib.sha256(data).hexdigest(), len(data), name)


if __name__ == "__main__":
    main()
