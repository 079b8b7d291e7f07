"""Trains the reader: the part of Judge.Rate that compares a question with a passage token by token. Writes reader.safetensors; rate.py then weighs it.

    pip install numpy jax; reader.py --data FOLDER [--states FOLDER]        five minutes on two cores; FOLDER keeps the vectors of tokens (some 350 MB)

Learns of the conversations of ../../build/conversations without those of data/found.jsonl.gz, on which rate.py measures it, and of matters. The passages of a
conversation are its exchanges or its turns, half of the conversations each. A question stands beside what answers it and the nearest other passages.
"""
import argparse, functools, glob, gzip, json, pathlib, random, struct, subprocess, zlib

import numpy as np, jax, jax.numpy as jnp

import rate

HERE = pathlib.Path(__file__).resolve().parent
MODULE, HIDDEN, KEPT, WIDTH = HERE.parent, 384, 128, 48
QUESTION, PASSAGES = (16, 24, 126), (24, 48, 72, 126)  # numbers of tokens that batches are padded to
BATCH, EPOCHS, RATE, DECAY, DROP, LAST_DROP, ABSENT = 128, 5, 2e-3, .01, .1, .2, 1.5
NEAR, TAKEN, TAKEN_ABSENT = 8, 3, 6  # nearest passages without the answer, and how many of them a question is compared with in an epoch
MATTER = .7  # weight of a pair of a matter


def examples(data):
    """[(question, passages that answer, all passages, passages that hold no longer, whether it is of a matter)]"""
    with gzip.open(HERE / "data" / "found.jsonl.gz", "rt", encoding="utf8") as f:
        left_out = {json.loads(line)["p"] for line in f}
    for p in rate.conversations.load():
        if p["id"] in left_out:
            continue
        text, home, here = rate.memories(p, "pairs" if zlib.crc32(p["id"].encode()) % 2 else "turns"), {}, None
        for d in p["docs"]:
            here = home[d["id"]] = d["id"] if d["id"] in text else here
        for q in p["queries"]:
            good, stale = {home[d] for d in q["rel"]}, {home[d] for d in q["stale"]}
            if q["cat"] in ("update", "asof", "retract"):  # what held before answers too
                good |= stale
            yield q["text"], [text[i] for i in sorted(good)], list(text.values()), [text[i] for i in sorted(stale)], False
    for name in sorted(glob.glob(str(data / "matters.*.jsonl"))) + sorted(glob.glob(str(HERE / "data" / "matters.*.jsonl"))):
        with open(name, encoding="utf8") as f:
            for m in map(json.loads, f):
                s = [x["text"] for x in m["statements"]]
                for q in m["questions"]:
                    yield q["q"], [s[i] for i in sorted(set(q["now"]) | set(q["old"]))], s + m["traps"], [], True


class States:
    """The vectors of the tokens of texts between the special ones, less the mean and of unit length, in the base of their greatest variance."""

    def __init__(self, texts, folder):
        texts = list(dict.fromkeys(texts))
        self.at = {t: i for i, t in enumerate(texts)}
        path = folder and folder / f"{zlib.crc32(json.dumps(texts).encode()):08x}.states"
        if path and path.exists():
            raw = path.read_bytes()
        else:
            lines = "".join(json.dumps(t) + "\n" for t in texts).encode()
            raw = subprocess.run(["go", "run", "./build/vectors", "-tokens"], cwd=MODULE, input=lines, stdout=subprocess.PIPE, check=True).stdout
            if path:
                path.write_bytes(raw)
        at, parts = 0, []
        for _ in texts:
            n = struct.unpack_from("<i", raw, at)[0]
            parts.append(np.frombuffer(raw, "<f2", n * HIDDEN, at + 4).reshape(n, HIDDEN))
            at += 4 + 2 * n * HIDDEN
        self.means = np.array([s.mean(0, dtype=np.float32) for s in parts])
        self.parts, self.size = parts, np.array([len(s) - 2 for s in parts])

    def base(self):
        """The mean of the tokens' vectors and the directions of their greatest variance."""
        some = np.concatenate([s[1:-1] for s in self.parts[::8]]).astype(np.float32)
        mean = some.mean(0)
        some -= mean
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        return mean, np.linalg.eigh(some.T @ some)[1][:, ::-1][:, :KEPT].astype(np.float32)

    def pack(self, mean, base):
        out = []
        for s in self.parts:
            u = s[1:-1].astype(np.float32) - mean
            out.append((u / np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-12) @ base * 3).astype(np.float16))
        self.packed, self.first = np.concatenate(out + [np.zeros((1, base.shape[1]), np.float16)]), np.cumsum([0] + [len(u) for u in out])
        self.parts = None

    def gather(self, which, sizes):
        """Texts padded to the same number of tokens, and which tokens are there."""
        most = min(self.size[which].max(), sizes[-1])
        n = next(s for s in sizes if s >= most)
        there = np.arange(n)[None] < np.minimum(self.size[which], n)[:, None]
        return self.packed[np.where(there, self.first[which][:, None] + np.arange(n)[None], len(self.packed) - 1)], there


def start(key):
    key, w = iter(jax.random.split(key, 20)), WIDTH
    some = lambda a, b, s=1.: jax.random.normal(next(key), (a, b)) * s / np.sqrt(a)
    eye = jnp.eye(KEPT, w) * 3
    zero = jnp.zeros
    return dict(q_key=eye + some(KEPT, w, .1), t_key=eye + some(KEPT, w, .1), q_value=some(KEPT, w, 2), t_value=some(KEPT, w, 2), q_asked=some(KEPT, w, 2), t_said=some(KEPT, w, 2),
                weigh=some(KEPT, 2), asked=some(4 * w + 1, w), asked_bias=zero(w), said=some(3 * w + 2, w), said_bias=zero(w), pick=some(w, 1)[:, 0],
                last=some(5 * w + 4, w), last_bias=zero(w), out=some(w, 1, .3)[:, 0], bias=zero(1))


def logits(p, q, q_there, t, t_there, key=None):
    """As Reader.Logit of internal/transformer. key: lets values drop out."""
    keys = iter(jax.random.split(key, 4)) if key is not None else None
    drop = lambda x, share: x if keys is None else jnp.where(jax.random.bernoulli(next(keys), 1 - share, x.shape), x / (1 - share), 0)
    q, t = drop(q.astype(jnp.float32), DROP), drop(t.astype(jnp.float32), DROP)
    never = -1e4
    match = jnp.einsum("bie,bje->bij", q @ p["q_key"], t @ p["t_key"]) / (3 * np.sqrt(WIDTH))
    of_t, of_q = jnp.where(t_there[:, None], match, never), jnp.where(q_there[..., None], match, never)
    best, value = of_t.max(-1), q @ p["q_value"]
    found = jax.nn.softmax(of_t, -1) @ (t @ p["t_value"])
    g = jax.nn.gelu(jnp.concatenate([value, found, value * found, abs(value - found), best[..., None] / 3], -1) @ p["asked"] + p["asked_bias"])
    weights = jax.nn.softmax(jnp.where(q_there[..., None], q @ p["weigh"], never), 1)
    asked, said = jnp.einsum("bi,bie->be", weights[..., 1], q @ p["q_asked"])[:, None], t @ p["t_said"]
    x = [said, said * asked, jnp.broadcast_to(asked, said.shape), of_q.max(1)[..., None] / 3, jnp.einsum("bi,bij->bj", weights[..., 0], match)[..., None] / 3]
    h = jax.nn.gelu(jnp.concatenate(x, -1) @ p["said"] + p["said_bias"])
    chosen = jax.nn.softmax(jnp.where(t_there, h @ p["pick"], never), 1)
    f = [jnp.einsum("bik,bie->bke", weights, g).reshape(len(q), -1), jnp.where(q_there[..., None], g, never).max(1), jnp.einsum("bj,bje->be", chosen, h),
         jnp.where(t_there[..., None], h, never).max(1), jnp.einsum("bik,bi->bk", weights, best) / 3, jnp.log(q_there.sum(1))[:, None] - 2, jnp.log(t_there.sum(1))[:, None] - 3.5]
    o = jax.nn.gelu(drop(jnp.concatenate(f, -1), LAST_DROP) @ p["last"] + p["last_bias"])
    return drop(o, LAST_DROP) @ p["out"] + p["bias"][0]


@jax.jit
def step(p, m, v, i, speed, batch, y, weight, key):
    """One step of AdamW."""
    def loss(p):
        z = logits(p, *batch, key)
        return (weight * (jnp.logaddexp(0, z) - y * z)).mean()
    g, each = jax.grad(loss)(p), jax.tree.map
    m, v = each(lambda a, b: .9 * a + .1 * b, m, g), each(lambda a, b: .99 * a + .01 * b * b, v, g)
    return each(lambda w, a, b: w * (1 - speed * DECAY) - speed * (a / (1 - .9 ** i)) / (jnp.sqrt(b / (1 - .99 ** i)) + 1e-7), p, m, v), m, v


def batches(questions, size, rng):
    """The pairs of an epoch, in batches of passages about as long."""
    out, matters = [], [x for x in questions if x[3]]
    for q, good, near, matter in questions:
        pick = lambda of, n: rng.sample(of, min(n, len(of)))
        weight = MATTER if matter else 1. if good else ABSENT
        out += [(q, t, 1., weight) for t in pick(good, 2)] + [(q, t, 0., weight) for t in pick(near, 2 if matter else TAKEN if good else TAKEN_ABSENT)]
        if matter and rng.random() < .3 and (other := rng.choice(matters))[1]:
            out.append((q, other[1][0], 0., weight))
    rng.shuffle(out)
    cut = [sorted(out[i:i + 16 * BATCH], key=lambda x: size[x[1]]) for i in range(0, len(out) - 16 * BATCH + 1, 16 * BATCH)]
    cut = [c[i:i + BATCH] for c in cut for i in range(0, 16 * BATCH, BATCH)]
    rng.shuffle(cut)
    return cut


def train(all_, states):
    rng, unit = random.Random(0), states.means - states.means.mean(0)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    questions = []
    for q, good, passages, stale, matter in all_:
        bad, d = {*good, *stale}, [states.at[t] for t in dict.fromkeys(passages)]
        near = [d[i] for i in np.argsort(-(unit[d] @ unit[states.at[q]]))]
        bad = {states.at[t] for t in bad}
        questions.append((states.at[q], [states.at[t] for t in good], [i for i in near if i not in bad][:NEAR], matter))
    p = start(jax.random.PRNGKey(0))
    m = v = jax.tree.map(jnp.zeros_like, p)
    key, i, total = jax.random.PRNGKey(7), 0, None
    for epoch in range(EPOCHS):
        cut = batches(questions, states.size, rng)
        total = total or len(cut) * EPOCHS
        for c in cut:
            q, t, y, weight = map(np.array, zip(*c))
            i, (key, now) = i + 1, jax.random.split(key)
            p, m, v = step(p, m, v, float(i), RATE * min(1, i / 200) * max(0, 1 - i / total) + 1e-5, (*states.gather(q, QUESTION), *states.gather(t, PASSAGES)), y.astype("f"), weight.astype("f"), now)
        print("epoch", epoch + 1, "of", EPOCHS, flush=True)
    return {k: np.array(x) for k, x in p.items()}


def written(p, mean, base):
    """The tensors of reader.safetensors: factors that logits and States apply are in the weights."""
    w, third = WIDTH, lambda x, *rows: np.array([r / 3 if i in rows else r for i, r in enumerate(x)])
    of = lambda *x: 3 * base @ np.concatenate(x, 1)
    return {"mean": mean, "question": of(p["q_key"] / (3 * np.sqrt(w)), p["q_value"], p["q_asked"]), "weigh": of(p["weigh"]).T, "passage": of(p["t_key"], p["t_value"], p["t_said"]),
            "asked.weight": third(p["asked"], 4 * w), "asked.bias": p["asked_bias"], "said.weight": third(p["said"], 3 * w, 3 * w + 1), "said.bias": p["said_bias"], "pick": p["pick"],
            "last.weight": third(p["last"], 5 * w, 5 * w + 1), "last.bias": p["last_bias"], "out": p["out"], "bias": p["bias"]}


def write(path, tensors):
    head, body = {}, b""
    for name, x in tensors.items():
        data = np.ascontiguousarray(x).astype("<f2").tobytes()
        head[name] = dict(dtype="F16", shape=list(x.shape), data_offsets=[len(body), len(body) + len(data)])
        body += data
    head = json.dumps(head, separators=(",", ":")).encode()
    path.write_bytes(struct.pack("<Q", len(head) + -len(head) % 8) + head + b" " * (-len(head) % 8) + body)


class Reader:
    """reader.safetensors, for rate.py."""

    def __init__(self, texts, folder):
        self.t, self.states = dict(rate.tensors(MODULE / "reader.safetensors")), States(texts, folder)
        self.states.pack(self.t["mean"], np.eye(HIDDEN, dtype=np.float32) / 3)

    def logits(self, pairs):
        t, w = self.t, WIDTH
        p = {side + name: t[k][:, i * w:(i + 1) * w] for side, k, names in (("q_", "question", ("key", "value", "asked")), ("t_", "passage", ("key", "value", "said"))) for i, name in enumerate(names)}
        three = lambda x, *rows: np.array([r * 3 if i in rows else r for i, r in enumerate(x)])
        p |= dict(q_key=p["q_key"] * 3 * np.sqrt(w), weigh=t["weigh"].T, asked=three(t["asked.weight"], 4 * w), said=three(t["said.weight"], 3 * w, 3 * w + 1), last=three(t["last.weight"], 5 * w, 5 * w + 1),
                  asked_bias=t["asked.bias"], said_bias=t["said.bias"], last_bias=t["last.bias"], pick=t["pick"], out=t["out"], bias=t["bias"])
        run, out, s = jax.jit(functools.partial(logits, p)), np.zeros(len(pairs)), self.states
        q, d = (np.array([s.at[x[k]] for x in pairs]) for k in (0, 1))
        order = np.argsort(s.size[d], kind="stable")
        for i in range(0, len(order), BATCH):
            part = np.resize(order[i:i + BATCH], BATCH)
            out[part] = run(*s.gather(q[part], QUESTION), *s.gather(d[part], PASSAGES))
        return out


def reference(all_, folder):
    """Writes pairs and their logits for the test of the Go code."""
    pairs = [(q, (good or passages)[0]) for q, good, passages, _, _ in random.Random(1).sample(all_, 80)]
    logits = Reader([t for p in pairs for t in p], folder).logits(pairs)
    lines = [json.dumps(dict(q=q, passage=t, logit=round(float(z), 4)), ensure_ascii=False) for (q, t), z in zip(pairs, logits)]
    (MODULE / "testdata" / "reader.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf8")


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", type=pathlib.Path, required=True)
    a.add_argument("--states", type=pathlib.Path)
    a = a.parse_args()
    all_ = list(examples(a.data))
    states = States([t for q, good, passages, stale, _ in all_ for t in (q, *good, *passages, *stale)], a.states)
    mean, base = states.base()
    states.pack(mean, base)
    write(MODULE / "reader.safetensors", written(train(all_, states), mean, base))
    reference(all_, a.states)


if __name__ == "__main__":
    main()
