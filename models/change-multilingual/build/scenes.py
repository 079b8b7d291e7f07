"""Scenes to learn from: a marked text with those that it is compared with. (head, marked, [(text, label, weight)])"""
import collections, gzip, json, random, re

from data import closure, clauses, memories
from encoder import ANSWERS, E5, REPLACES


ANSWERS_SHARE = 0.  # of the questions take part in an epoch


def words(slot):
    return set(re.split(r"\W+", slot.lower())) - {"", "of", "the", "my", "and"}


def windows(m, rng):
    """A matter as it is; of a whole conversation, each later statement with what it replaces and some others."""
    s, rep = m["statements"], {tuple(x) for x in m["replaces"]}
    if len(s) <= 8:
        yield m
        return
    for b in range(2, len(s)):
        good = [a for a in range(b) if (b, a) in rep]
        if not good and rng.random() < .6:
            continue
        others = [a for a in range(b) if a not in good]
        at = sorted(good + rng.sample(others, min(5, len(others)))) + [b]
        yield {"slot": m["slot"] + str(b), "lang": m["lang"], "statements": [s[i] for i in at], "replaces": [[len(at) - 1, at.index(a)] for a in good], "traps": [],
               "questions": [{"q": q["q"], "now": [at.index(i) for i in q["now"]], "old": [at.index(i) for i in q["old"]]} for q in m["questions"] if set(q["now"]) | set(q["old"]) <= set(at)]}


class Scenes:
    """near(texts, text, n) ranks texts by meaning."""

    def __init__(self, matters, personas, near, rng, persona_weight=2.):
        self.matters, self.personas, self.near, self.rng, self.weight = matters, personas, near, rng, persona_weight
        self.by_lang = collections.defaultdict(list)
        for m in matters:
            self.by_lang[m["lang"]].append(m)

    def others(self, m, n):
        """Matters of other slots in the same language."""
        out, w = [], words(m["slot"])
        for _ in range(4 * n):
            o = self.rng.choice(self.by_lang[m["lang"]])
            if o is not m and not words(o["slot"]) & w:
                out.append(o)
            if len(out) == n:
                break
        return out

    def some(self, m):
        return self.rng.choice([x["text"] for x in m["statements"]] + m["traps"])

    def join(self, m, text, share):
        """With some probability, the text as a clause of a longer message."""
        rng = self.rng
        if rng.random() >= share or len(text) > 220:
            return text
        parts = [text]
        for o in self.others(m, 1 if rng.random() < .6 else 2):
            t = self.some(o)
            if len(t) < 160:
                parts.insert(rng.randrange(len(parts) + 1), t)
        out = parts[0]
        for p in parts[1:]:
            end = out[-1]
            out += (rng.choice([". ", ", ", ". also ", "\n"]) if m["lang"] == "en" else ". ") if end.isalnum() else " " if m["lang"] not in ("ja", "zh", "th") else ""
            out += p
        return out

    def distract(self, m, text, n):
        """The nearest statements of a handful of other matters."""
        pool = [self.some(o) for o in self.others(m, 10)]
        return [pool[i] for i in self.near(pool, text, n)] if pool else []

    def of_matter(self, m):
        rng, s = self.rng, [x["text"] for x in m["statements"]]
        rep = {tuple(x) for x in m["replaces"]}
        unsure = closure(rep) - rep
        j = lambda t, p=.12: self.join(m, t, p)
        laters = list(range(1, len(s)))
        rng.shuffle(laters)
        laters.sort(key=lambda b: not any((b, a) in rep for a in range(b)))
        for b in laters[:2] if rng.random() < .7 else laters[:1] + laters[-1:]:
            pairs = [(j(s[a]), float((b, a) in rep), 1.) for a in range(b) if (b, a) not in unsure]
            pairs += [(j(t), 0., 1.) for t in rng.sample(m["traps"], min(1, len(m["traps"])))]
            pairs += [(j(t), 0., 1.) for t in self.distract(m, s[b], 1)]
            yield REPLACES, j(s[b], .2), pairs
        if m["traps"] and rng.random() < .4:
            yield REPLACES, j(rng.choice(m["traps"])), [(j(t), 0., 1.) for t in s[:4]]
        for q in rng.sample(m["questions"], min(rng.random() < ANSWERS_SHARE, len(m["questions"]))):
            pos = set(q["now"]) | set(q["old"])
            pairs = [(j(t), float(i in pos), 1.) for i, t in enumerate(s)]
            pairs += [(j(t), 0., 1.) for t in rng.sample(m["traps"], min(2, len(m["traps"])))]
            pairs += [(j(t), 0., 1.) for t in self.distract(m, q["q"], 1)]
            yield ANSWERS, q["q"], pairs

    def of_persona(self, p):
        rng, w = self.rng, self.weight
        it, home = memories(p)
        text = [x["user"] or x["both"] for x in it]
        rep = {(home[b], home[a]) for a, b in [tuple(x) for x in p["replaces"]]}           # earlier, later
        rep = {(a, b) for a, b in rep if a < b}
        unsure = {(a, b) for b, a in closure({(b, a) for a, b in rep})} - rep
        for b in range(1, len(it)):
            good = [a for a in range(b) if (a, b) in rep]
            if not it[b]["user"] and not good or not good and rng.random() < .35:
                continue
            pool = [a for a in self.near([text[i] for i in range(b)], text[b], 16) if (a, b) not in rep | unsure and it[a]["user"]]
            bad = rng.sample(pool, min(5, len(pool)))
            yield REPLACES, text[b], [(text[a], 1., w) for a in rng.sample(good, min(5, len(good)))] + [(text[a], 0., w) for a in bad]
            if good and rng.random() < .3:  # clauses of messages that replace nothing
                parts = [c for a in bad for c in clauses(text[a])]
                if parts:
                    yield REPLACES, text[b], [(c, 0., 1.) for c in rng.sample(parts, min(5, len(parts)))]
        for q in p["queries"]:
            if rng.random() >= ANSWERS_SHARE:
                continue
            good, stale = {home[d] for d in q["rel"]}, {home[d] for d in q["stale"]}
            old = q["cat"] in ("update", "asof", "retract")
            pick = lambda i: it[i]["both"] if rng.random() < .4 else text[i]
            pool = [i for i in self.near([x["both"] for x in it], q["text"], 20) if i not in good | stale]
            bad = rng.sample(pool, min(8 if q["cat"] == "absent" else 5, len(pool)))
            yield ANSWERS, q["text"], [(pick(i), float(i in good or old), w) for i in rng.sample(sorted(good | stale), min(4, len(good | stale)))] + [(pick(i), 0., w) for i in bad]

    def of_pairs(self, xs):
        groups = collections.defaultdict(list)
        for x in xs:
            groups[x["group"]].append(x)
        for x in xs:
            if self.rng.random() >= ANSWERS_SHARE:
                continue
            docs = [o["document"] for o in self.rng.sample(groups[x["group"]], min(12, len(groups[x["group"]]))) if o is not x]
            yield ANSWERS, x["query"], [(x["document"], 1., 1.)] + [(docs[i], 0., 1.) for i in self.near(docs, x["query"], 3)]

    def draw(self, pairs=()):
        out = [x for m in self.matters for x in self.of_matter(m)] + [x for p in 2 * self.personas for x in self.of_persona(p)] + list(self.of_pairs(pairs))
        out = [x for x in out if x[2]]
        self.rng.shuffle(out)
        size = lambda x: sum(len(t[0].encode()) for t in x[2]) / len(x[2])
        return [x for i in range(0, len(out), 512) for x in sorted(out[i:i + 512], key=size)]  # of like length together


def more_pairs():
    with gzip.open(E5 / "build" / "pairs.jsonl.gz", "rt", encoding="utf8") as f:
        return [json.loads(l) for l in f]
