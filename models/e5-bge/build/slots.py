"""Learns slots.f16: what matter a question is about (README.md, "Slots").

    pip install torch numpy
    slots.py --data FOLDER --out ../slots.f16 [--cache FILE] [--held FILE]

FOLDER has matters.*.jsonl; the conversations are those of models/build. Every eighth conversation and every eighth matter is held out: nothing is learnt of them, and
what is printed is measured on them, with the weights that are written. The head reads the vector of the first model alone (the first half of the embedder's, at unit length).
The temperature is found by leaving out a third of the rest three times.
"""
import argparse, glob, json, pathlib, re, struct, subprocess, sys

import numpy as np, torch
import torch.nn.functional as F

DIM, EPOCHS, RATE, DECAY, DROP, HIDDEN = 384, 20, 2e-3, .02, .3, 128
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "build"))
import conversations

NONE = ""  # what is about no slot
SLOTS = [l.split("|")[0].strip() for l in (HERE.parents[2] / "internal" / "slot" / "slots.txt").read_text(encoding="utf8").splitlines() if l.strip() and l[0] != "#"]

# Labels of the data that have another name here. What stands neither here nor in slots.txt is of no slot.
NAMES = dict(children="family", siblings="family", parents="family", pets="pet", workplace="employer", job_role="role", study="school", relationship="partner", marriage="partner", phone_number="phone",
             home_city="home", home_flat="home", home_street="home", rent="money", price="money", prices="money", finance="money", loans="money", loan="money", debts="money", loans_and_debts="money", savings="money",
             bank_and_savings="money", utilities="money", allergies="allergy", food_allergy="allergy", injury="health", opinions="opinion", subscriptions="subscription", gym_membership="subscription", plans="plan", goals="goal",
             savings_goal="goal", decisions="decision", habits="habit", hobbies="hobby", language_learning="language", language_course="language", devices="belongings", laptop="belongings", furniture="belongings", bike="belongings",
             wedding="event", race="event", convention="event", manager="friends", smoking="habit", sleep="habit", bedtime="habit", drinking="diet", fasting="diet", nickname="name", favourites="favourite",
             medicine="medication", favorite="favourite", languages="language", friend="friends", preference="taste", preferences="taste", job="role", location="home", relatives="family", events="event",
             health_condition="health", deadlines="project", deadline="project", version="project", fear="taste", food_preference="taste")
UNCLEAR = set("trips trip travel transport commute names counts appointments appointment sports gym to-do promise tickets exam club_role visit_of_relatives family_plan other food drink drink_habit instrument job_interview".split()) - {"other", "travel", "transport"}


def slot_of(label):
    """The slot of a label of the data, None where it could be several."""
    label = label.strip().lower().replace(" ", "_")
    if label in UNCLEAR:
        return None
    if label.startswith("project"):
        return "project"
    if label.startswith("favourite_") or label.endswith("_preference"):
        return "favourite"
    return label if label in SLOTS else NAMES.get(label, NONE)


def gather(data):
    """Questions as (text, slot, language, held out, group)."""
    questions = []
    talks = conversations.load()
    for i, p in enumerate(talks):
        held = i % 8 == 7
        questions += [(q["text"], slot_of(q["slot"]), p["lang"], held, p["id"]) for q in p["queries"]]
        # What is asked of the assistant is of the world, mostly.
        questions += [(d["text"], NONE, p["lang"], held, p["id"]) for d in p["docs"] if d["role"] == "user" and d["text"][-1] in "?？؟" and len(d["text"]) < 120 and not re.search(r"\b(my|our|I|me|mine)\b", d["text"])]
    n = 0
    for f in sorted(glob.glob(data + "/matters.*.jsonl")):
        for l in open(f, encoding="utf8"):
            m, n = json.loads(l), n + 1
            held, g, s = n % 8 == 0, f"m{n}", slot_of(m["slot"])
            questions += [(q["q"], s, m["lang"], held, g) for q in m["questions"]]
    keep = lambda xs: [x for x in {x[0]: x for x in xs}.values() if x[1] is not None]
    return keep(questions)


def vectors(texts, cache):
    known = {}
    if cache and pathlib.Path(cache).exists():
        z = np.load(cache, allow_pickle=False)
        known = dict(zip(map(str, z["texts"]), z["vectors"]))
    left = [t for t in texts if t not in known]
    if left:
        body = json.dumps({"questions": left, "statements": []}).encode()
        raw = subprocess.run(["go", "run", "./vectors"], cwd=HERE, input=body, stdout=subprocess.PIPE, check=True).stdout
        got = np.frombuffer(raw, "<f4").reshape(len(left), -1)[:, :DIM]
        known.update(zip(left, got / np.linalg.norm(got, axis=1, keepdims=True)))
        if cache:
            np.savez(cache, texts=np.array(list(known)), vectors=np.stack(list(known.values())))
    return torch.tensor(np.stack([known[t] for t in texts]))


class Head(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.a, self.b = torch.nn.Linear(DIM, HIDDEN), torch.nn.Linear(HIDDEN, classes)

    def forward(self, x):
        return self.b(F.dropout(F.relu(self.a(x * DIM ** .5)), DROP, self.training))


def learn(X, y, classes, seed=0):
    torch.manual_seed(seed)
    h = Head(classes)
    opt = torch.optim.AdamW(h.parameters(), lr=RATE, weight_decay=DECAY)
    steps, at = EPOCHS * (len(X) // 128), 0
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(X)).split(128):
            for g in opt.param_groups:
                g["lr"] = RATE * max(.02, 1 - at / steps)
            at += 1
            x = F.dropout(X[rows], .1)
            loss = F.cross_entropy(h(x), y[rows], label_smoothing=.05)
            opt.zero_grad(), loss.backward(), opt.step()
    return h.eval()


def temperature(logits, y):
    return min(np.arange(.5, 4, .05), key=lambda t: float(F.cross_entropy(logits / t, y)))


def show(title, items, said):
    """Prints precision and recall of (slot, confidence) from several confidences on."""
    for lang in ("en", "others"):
        rows = [(s, c, x[1]) for (s, c), x in zip(said, items) if (x[2] == "en") == (lang == "en")]
        about = sum(x != NONE for *_, x in rows)
        for t in (0, .5, .6, .7, .75, .8, .85, .9, .95):
            told = [(s, x) for s, c, x in rows if s != NONE and c >= t]
            right = sum(s == x for s, x in told)
            print(f"{title} {lang} from {t:.2f}: {right} right, {len(told) - right} wrong of {about} with a slot and {len(rows) - about} without: precision {right / max(1, len(told)):.3f} recall {right / max(1, about):.3f}")


def train(items, X):
    classes = [NONE] + sorted({x[1] for x in items} - {NONE}, key=SLOTS.index)
    y = torch.tensor([classes.index(x[1]) for x in items])
    held = torch.tensor([x[3] for x in items])
    rest = (~held).nonzero().squeeze(1)
    groups = {g: i % 3 for i, g in enumerate(dict.fromkeys(items[i][4] for i in rest.tolist()))}
    fold = torch.tensor([groups[items[i][4]] for i in rest.tolist()])
    logits = torch.zeros(len(rest), len(classes))
    with torch.no_grad():
        for k in range(3):
            with torch.enable_grad():
                h = learn(X[rest[fold != k]], y[rest[fold != k]], len(classes), k)
            logits[fold == k] = h(X[rest[fold == k]])
    t = temperature(logits, y[rest])
    p, c = F.softmax(logits / t, 1).max(1)
    print(len(rest), "to learn of,", int(held.sum()), "held out,", len(classes), "classes, temperature", round(float(t), 2))
    show("left out in turn", [items[i] for i in rest.tolist()], [(classes[k], float(v)) for k, v in zip(c, p)])
    h = learn(X[rest], y[rest], len(classes))
    with torch.no_grad():
        h.b.weight /= t
        h.b.bias /= t
        h.a.weight *= DIM ** .5
        for w in (h.a.weight, h.a.bias, h.b.weight, h.b.bias):
            w.copy_(w.half().float())
    return classes, h


def answers(classes, h, X):
    with torch.no_grad():
        p, c = F.softmax(h.b(F.relu(h.a(X))), 1).max(1)
    return [(classes[k], float(v)) for k, v in zip(c, p)]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True), a.add_argument("--out", required=True), a.add_argument("--cache", default="", help="vectors of texts, kept for the next run")
    a.add_argument("--held", default="", help="writes the held-out questions as JSON lines, with what the head says of each")
    a = a.parse_args()
    torch.set_num_threads(1)
    items = gather(a.data)
    X = vectors([x[0] for x in items], a.cache)
    classes, h = train(items, X)
    test = [i for i, x in enumerate(items) if x[3]]
    held, said = [items[i] for i in test], answers(classes, h, X[test])
    show("held out", held, said)
    of = [k for k, x in enumerate(held) if x[4][0] != "m"]
    show("held-out conversations", [held[k] for k in of], [said[k] for k in of])
    if a.held:
        with open(a.held, "w", encoding="utf8") as f:
            for x, (s, c) in zip(held, said):
                print(json.dumps(dict(text=x[0], slot=x[1], lang=x[2], group=x[4], said=s, confidence=round(c, 4)), ensure_ascii=False), file=f)
    names = "\n".join(classes).encode()
    out = struct.pack("<IIII", DIM, HIDDEN, len(classes), len(names)) + names
    for w in (h.a.weight, h.a.bias, h.b.weight, h.b.bias):
        out += w.detach().numpy().astype("<f2").tobytes()
    pathlib.Path(a.out).write_bytes(out)


if __name__ == "__main__":
    main()
