"""Pairs to learn from, drawn of matters and personas (see README.md of this folder).

A pair is (head, text a, text b, label, group): for REPLACES the earlier and the later statement, for ANSWERS the question and the passage.
"""
import collections, glob, gzip, json, os, pathlib, random, re, sys

from encoder import ANSWERS, REPLACES

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "build"))
import conversations  # noqa: E402

CUT = re.compile(r"(?<=[.!?…。！？؟।])[\s]+|(?<=[。！？])|\n+|;\s+")


def load(folder, extra=()):
    matters = [json.loads(l) for f in sorted(glob.glob(os.path.join(folder, "matters.*.jsonl"))) + sorted(extra) for l in open(f, encoding="utf8") if l.strip()]
    return matters, [json.load(open(f, encoding="utf8")) for f in sorted(glob.glob(os.path.join(folder, "personas", "*.json")))] + conversations.load()


def clauses(text):
    """The sentences of a message that are long enough to say something; the message itself is not among them."""
    parts = [p.strip() for p in CUT.split(text) if p and len(p.strip()) >= 12]
    return parts if len(parts) > 1 else []


def memories(p):
    """A persona's memories: a user's turn with the assistant's answer; and for each turn the number of the memory that holds it."""
    out, home, d, i = [], {}, p["docs"], 0
    while i < len(d):
        user = d[i]["role"] == "user"
        pair = user and i + 1 < len(d) and d[i + 1]["role"] == "assistant" and d[i + 1]["session"] == d[i]["session"]
        reply = d[i + 1]["text"] if pair else "" if user else d[i]["text"]
        text = d[i]["text"] if user else ""
        out.append(dict(user=text, reply=reply, both=(text + " " + reply).strip(), time=d[i]["time"], session=d[i]["session"]))
        for x in d[i:i + 1 + pair]:
            home[x["id"]] = len(out) - 1
        i += 1 + pair
    return out, home


def closure(pairs):
    """All pairs that follow from chains of replacement."""
    full = set(pairs)
    while True:
        more = {(a, d) for a, b in full for c, d in full if b == c and a != d} - full
        if not more:
            return full
        full |= more


class Sampler:
    """Draws the pairs of an epoch. near(i, j...) ranks texts by meaning: near(texts, text, n)."""

    def __init__(self, matters, personas, near, rng):
        self.matters, self.personas, self.near, self.rng = matters, personas, near, rng
        self.by_lang = collections.defaultdict(list)
        for m in matters:
            self.by_lang[m["lang"]].append(m)

    def other(self, m):
        """A statement of another matter in the same language, of another slot."""
        for _ in range(8):
            o = self.rng.choice(self.by_lang[m["lang"]])
            if o["slot"] != m["slot"]:
                break
        return self.rng.choice(o["statements"])["text"] if self.rng.random() < .8 or not o["traps"] else self.rng.choice(o["traps"])

    def of_matter(self, m, everything=False):
        rng, s, g = self.rng, [x["text"] for x in m["statements"]], m["lang"]
        rep = {tuple(x) for x in m["replaces"]}
        unsure = closure(rep) - rep
        traps = m["traps"]
        for b in range(len(s)):
            for a in range(b):
                if (b, a) in rep or (b, a) not in unsure:
                    yield REPLACES, s[a], s[b], float((b, a) in rep), g
            for t in (traps if everything else rng.sample(traps, min(1, len(traps)))):
                yield (REPLACES, s[b], t, 0., g) if rng.random() < .5 else (REPLACES, t, s[b], 0., g)
            if rng.random() < .6:
                yield REPLACES, s[b], self.other(m), 0., g
        for q in m["questions"]:
            pos = set(q["now"]) | set(q["old"])
            for i in range(len(s)):
                yield ANSWERS, q["q"], s[i], float(i in pos), g
            for t in (traps if everything else rng.sample(traps, min(2, len(traps)))):
                yield ANSWERS, q["q"], t, 0., g
            yield ANSWERS, q["q"], self.other(m), 0., g

    def of_persona(self, p, everything=False):
        rng, g = self.rng, p["id"]
        it, home = memories(p)
        text = [x["user"] or x["both"] for x in it]
        rep = {(home[b], home[a]) for a, b in [tuple(x) for x in p["replaces"]]}           # earlier, later
        rep = {(a, b) for a, b in rep if a < b}
        unsure = {(a, b) for b, a in closure({(b, a) for a, b in rep})} - rep
        for a, b in rep:
            yield REPLACES, text[a], text[b], 1., g
        for b in range(1, len(it)):
            pool = [a for a in self.near([text[i] for i in range(b)], text[b], 12 if everything else 16) if (a, b) not in rep | unsure and it[a]["user"] and it[b]["user"]]
            for a in pool if everything else rng.sample(pool, min(5, len(pool))):
                yield REPLACES, text[a], text[b], 0., g
                if not everything and rng.random() < .4:        # told apart: clauses of messages that replace nothing
                    ca, cb = clauses(text[a]) or [text[a]], clauses(text[b]) or [text[b]]
                    yield REPLACES, rng.choice(ca), rng.choice(cb), 0., g
            own = clauses(text[b])
            if own and not everything and rng.random() < .3:    # one message's own clauses do not replace each other, most times
                i = rng.randrange(len(own) - 1)
                yield REPLACES, own[i], own[i + 1], 0., g
        for q in p["queries"]:
            good, stale = {home[d] for d in q["rel"]}, {home[d] for d in q["stale"]}
            old = q["cat"] in ("update", "asof", "retract")
            for i in sorted(good | stale):
                t = it[i]["both"] if everything or rng.random() < .5 else text[i]
                yield ANSWERS, q["text"], t, float(i in good or old), g
            pool = [i for i in self.near([x["both"] for x in it], q["text"], 20) if i not in good | stale]
            for i in pool if everything else rng.sample(pool, min(16 if q["cat"] == "absent" else 8, len(pool))):
                yield ANSWERS, q["text"], it[i]["both"] if everything or rng.random() < .5 else text[i], 0., g
