"""Says what the heads over means and the cross-encoder (train_cross.py) are worth, alone and together, and fits the calibration of "replaces".

    judge_cross.py --data FOLDER --means means.pt --cross cross.pt --score held --out held.pt
    judge_cross.py --means means.pt --cross cross.pt --score personas --personas FILES... --out personas.pt
    judge_cross.py --means means.pt --held held.pt [--simulate personas.pt --personas FILES...] --out calibration.json
"""
import argparse, glob, json, pathlib, random, struct, zlib

import numpy as np, torch
import torch.nn.functional as F
from scipy.optimize import minimize

from cross import Cross
from data import Sampler, load, memories
from encoder import ANSWERS, REPLACES, read_weights
from train import Means, auroc, held_out
from train_cross import States, score

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {ANSWERS: "answers", REPLACES: "replaces"}


class Heads:
    """The heads over means, with the weights of the module."""

    def __init__(self, means, path):
        data = path.read_bytes()
        n = struct.unpack("<Q", data[:8])[0]
        self.t = {}
        for name, h in json.loads(data[8:8 + n]).items():
            if name != "__metadata__" and not name.startswith(("across", "encoder")):
                raw = data[8 + n + h["data_offsets"][0]:8 + n + h["data_offsets"][1]]
                self.t[name] = torch.from_numpy(np.frombuffer(raw, {"F16": np.float16, "F32": np.float32}[h["dtype"]]).astype(np.float32).reshape(h["shape"]))
        self.unit, self.n, self.at = F.normalize(means.mean - self.t["mean"], dim=1), means.n, means.at

    @torch.no_grad()
    def score(self, pairs):
        out = []
        for h, a, b, *_ in pairs:
            u, v, t, n = self.unit[self.at[a]], self.unit[self.at[b]], self.t, NAMES[h]
            e = torch.stack([u @ v, self.n[self.at[a]], self.n[self.at[b]]])
            x = torch.cat([u * v, (u - v).abs(), u, v, e])
            w = F.gelu(F.linear(x, t[n + ".dense.weight"], t[n + ".dense.bias"]))
            out.append(float(F.linear(w, t[n + ".out.weight"], t[n + ".out.bias"]) + F.linear(e, t[n + ".direct.weight"], t[n + ".direct.bias"])))
        return np.array(out)


def fit(x, y, w):
    """Weights of the logits in the columns of x, not negative, and a shift."""
    f = lambda p: np.sum(w * (np.logaddexp(0, x @ np.abs(p[:-1]) + p[-1]) - y * (x @ np.abs(p[:-1]) + p[-1]))) / w.sum()
    p = minimize(f, [.5] * x.shape[1] + [0.], method="Nelder-Mead", options={"maxiter": 2000}).x
    return np.append(np.abs(p[:-1]), p[-1])


def chance(p, x):
    return 1 / (1 + np.exp(-(x @ p[:-1] + p[-1])))


def columns(m, c, use):
    return np.stack([{"means": m, "cross": c}[u] for u in use], 1)


def calibrate(name, m, c, pairs, kinds):
    kind, lang, y = np.array(kinds), np.array([p[4] for p in pairs]), np.array([p[3] for p in pairs])
    told = kind == "matters"
    w = np.where(told, 1. / told.sum(), 1. / max(1, (~told).sum()))
    half = np.array([zlib.crc32(p[1 if name == "answers" else 2].encode()) % 2 for p in pairs])
    parts = [("en", told & (lang == "en")), ("others", told & (lang != "en"))] + [(k, kind == k) for k in sorted(set(kind[~told]))]
    for use in (["means"], ["cross"], ["means", "cross"]):
        x = columns(m, c, use)
        p = np.zeros(len(y))
        for k in (0, 1):
            p[half == k] = chance(fit(x[half != k], y[half != k], w[half != k]), x[half == k])
        print(name, "+".join(use), {n: round(auroc(p[s], y[s]), 3) for n, s in parts})
        if use != ["means"]:
            print("   ", {g: round(auroc(p[told & (lang == g)], y[told & (lang == g)]), 3) for g in sorted(set(lang[told]))})
        for where, s in (("matters", told), ("conversations", ~told)):
            print("   ", where, f"base {y[s].mean():.3f}:", "; ".join(f"{t}: {y[s & (p >= t)].mean():.2f} of {(s & (p >= t)).sum()}" for t in (.1, .2, .3, .4, .5, .6, .7, .8, .9) if (s & (p >= t)).any()))
    return {"+".join(use): fit(columns(m, c, use), y, w) for use in (["means"], ["cross"], ["means", "cross"])}


def candidates(p, means):
    """A persona's memories, and of each the 12 nearest earlier ones."""
    it, home = memories(p)
    user, both = [x["user"] or x["both"] for x in it], [x["both"] for x in it]
    cand = [(i, j) for j in range(1, len(it)) if it[j]["user"] for i in means.near(user[:j], user[j], 12) if it[i]["user"]]
    return it, home, both, cand, [(REPLACES, user[i], user[j]) for i, j in cand]


def simulate(personas, scores, means, heads, fits, old):
    """Dense ranking of memories; edges among each memory's 12 nearest earlier ones; a replaced one hands its score on and drops below."""
    rows = []
    for p in personas:
        it, home, both, cand, rp = candidates(p, means)
        d, ap, dense = means.e[[means.at[t] for t in both]], [], []
        for q in p["queries"]:
            dense.append((d @ means.e[means.at[q["text"]]]).numpy())
            ap += [(ANSWERS, q["text"], both[i]) for i in np.argsort(-dense[-1])[:20]]
        pa = 1 / (1 + np.exp(-(old["answers"]["scale"] * heads.score(ap) + old["answers"]["shift"])))
        rows.append((p, home, cand, heads.score(rp), scores[p["id"]], dense, pa))
    for group, keep in (("English", lambda p: p["lang"] == "en"), ("others", lambda p: p["lang"] != "en")):
        for use in ("means", "cross", "means+cross"):
            for tau in (None, .7, .6, .5, .4, .3, .25, .2, .15, .1):
                out, edges = [], 0
                for p, home, cand, rm, rc, dense, pa in rows:
                    if not keep(p):
                        continue
                    pr = chance(fits[use], columns(rm, rc, use.split("+")))
                    edges += int((pr >= tau).sum()) if tau else 0
                    for n, q in enumerate(p["queries"]):
                        r, best = dense[n].copy(), float(pa[20 * n:20 * n + 20].max())
                        good = {home[x] for x in q["rel"]}
                        stale = {home[x] for x in q["stale"]} - good
                        if tau and not q.get("as_of"):
                            for (i, j), x in sorted(zip(cand, pr)):
                                if x >= tau:
                                    r[j] = max(r[i], r[j])
                                    r[i] = min(r[i], r[j] - .05)
                        at = {k: z for z, k in enumerate(np.argsort(-r, kind="stable"))}
                        first = min([at[k] for k in good], default=999)
                        out.append((q["cat"], bool(good), first == 0, sum(at[k] < 5 for k in good) / max(1, len(good)), bool(stale and good), bool(stale and good) and (min(at[k] for k in stale) < first or first > 9), best))
                rel, stl = [x for x in out if x[1]], [x for x in out if x[4]]
                upd = [x for x in stl if x[0] in ("update", "retract")]
                m = lambda k, xs: sum(x[k] for x in xs) / max(1, len(xs))
                a = auroc([x[6] for x in out], [float(x[1]) for x in out])
                print(f"{group} {use} edges from {tau}: R@1 {m(2, rel):.3f} R@5 {m(3, rel):.3f} stale first {m(5, stl):.3f} updates {m(5, upd):.3f} absent {a:.3f} edges {edges}")


def held_pairs(data, means, hold):
    matters, personas = load(data, [f for f in glob.glob(str(HERE / "data" / "*.jsonl")) if "more2" not in f])
    held_m, _ = held_out(matters)
    fixed, held = Sampler(held_m, [], means.near, random.Random(1)), []
    for t in held_m:
        held += [(x, "matters") for x in fixed.of_matter(t, True)]
    for p in personas:
        if p["id"] in hold:
            held += [(x, p["id"]) for x in fixed.of_persona(p, True)]
    return [x for x in held if x[0][0] == REPLACES and x[0][1] in means.at and x[0][2] in means.at]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data"), a.add_argument("--means", required=True), a.add_argument("--cross"), a.add_argument("--hold", default="p4a,p7b"), a.add_argument("--personas", nargs="*", default=[])
    a.add_argument("--score", choices=["held", "personas"]), a.add_argument("--held"), a.add_argument("--simulate"), a.add_argument("--out", required=True)
    a = a.parse_args()
    torch.set_num_threads(1)
    means, personas = Means(a.means), [json.load(open(f, encoding="utf8")) for f in a.personas]
    if a.score:
        w = read_weights()
        states, net = States(w), Cross(w).eval()
        net.load_state_dict(torch.load(a.cross))
        if a.score == "held":
            held = held_pairs(a.data, means, a.hold.split(","))
            torch.save((held, score(net, states, [x for x, _ in held])), a.out)
        else:
            torch.save({p["id"]: score(net, states, candidates(p, means)[4]) for p in personas}, a.out)
        return
    held, c = torch.load(a.held, weights_only=False)  # made above
    heads = Heads(means, HERE.parent / "model.safetensors")
    old = json.loads((HERE.parent / "config.json").read_text())["calibration"]
    pairs = [x for x, _ in held]
    fits = calibrate("replaces", heads.score(pairs), c, pairs, [k for _, k in held])
    print({k: [round(float(z), 4) for z in v] for k, v in fits.items()}, flush=True)
    m = fits["means+cross"]
    pathlib.Path(a.out).write_text(json.dumps({"answers": old["answers"], "replaces": {"scale": round(float(m[0]), 5), "across": round(float(m[1]), 5), "shift": round(float(m[2]), 5)}}))
    if a.simulate:
        simulate(personas, torch.load(a.simulate, weights_only=False), means, heads, fits, old)


if __name__ == "__main__":
    main()
