"""Reads the conversations of this folder (conversations/*.txt): one person with an assistant over most of a year, with questions to what was told.

Written for this project, sentence by sentence (CC0). A file:

    user: Hugh
    lang: en
    now: 2026-11-15
    ## 2026-01-08 18:20                                   a session
    1 U: three up in Whitehill Street, no lift            turns, numbered through the file; U is the person, A the assistant
    2 A: That is some climb.
    replaces: 37>1                                        something in turn 1 holds no longer since turn 37
    ? update | home | Where do I live? | 37:2 38:1 | 1    category, slot, question, turns that answer (2 states it, 1 implies it), turns that do not hold
    ? asof 2026-04-01 | home | Where was I living? | 1:2 | 37

`load` returns them in the form of personas: docs (id, session, time, role, name, text), queries (text, cat, slot, as_of, rel, stale), replaces.
Run as a program it says what is malformed.
"""
import datetime, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent / "conversations"
CATEGORIES = "fact update retract asof history plan preference list people time absent".split()
SECONDS = 40  # between turns


def read(path):
    """The conversation of a file, and what is malformed in it."""
    meta, docs, queries, replaces, wrong = {}, [], [], [], []
    session = turn = 0
    when = None
    for n, line in enumerate(path.read_text(encoding="utf8").splitlines(), 1):
        line = line.strip()
        if m := re.match(r"(user|lang|now): *(.+)$", line):
            meta[m[1]] = m[2].strip()
        elif m := re.match(r"## *(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)$", line):
            start = datetime.datetime.fromisoformat(f"{m[1]}T{m[2]}:00")
            if when and start <= when:
                wrong.append(f"{n}: sessions do not rise in time")
            when, session, turn = start, session + 1, 0
        elif m := re.match(r"(\d+) *([UA]): *(.+)$", line):
            if int(m[1]) != len(docs) + 1 or when is None:
                wrong.append(f"{n}: turn {m[1]}, expected {len(docs) + 1} in a session")
            turn += 1
            docs.append(dict(id=f"s{session:02d}.t{turn:02d}", session=f"s{session:02d}", time=f"{when + datetime.timedelta(seconds=SECONDS * (turn - 1)):%Y-%m-%dT%H:%M:%SZ}",
                             role="user" if m[2] == "U" else "assistant", name=meta.get("user", "") if m[2] == "U" else "Assistant", text=m[3]))
        elif line.startswith("replaces:"):
            replaces += [tuple(map(int, p.split(">"))) for p in line[9:].split()]
        elif line.startswith("?"):
            part = [p.strip() for p in line[1:].split("|")]
            head = part[0].split()
            if len(part) != 5 or not head or head[0] not in CATEGORIES or (head[0] == "asof") != (len(head) == 2):
                wrong.append(f"{n}: not a question")
                continue
            rel = {int(t): int(g) for t, g in (x.split(":") for x in part[3].split())}
            if bool(rel) == (head[0] == "absent"):
                wrong.append(f"{n}: answers of {head[0]}")
            queries.append((head, part[1], part[2], rel, [int(t) for t in part[4].split()]))
        elif line:
            wrong.append(f"{n}: cannot be read")
    last = len(docs)
    named = [t for q in queries for t in [*q[3], *q[4]]] + [t for p in replaces for t in p]
    wrong += [f"turn {t} does not exist" for t in named if not 0 < t <= last] + [f"{a}>{b} runs forward" for a, b in replaces if a <= b]
    if wrong:
        return None, wrong
    ids = {i: d["id"] for i, d in enumerate(docs, 1)}
    return dict(id=path.stem, user=meta["user"], lang=meta["lang"], now=meta["now"][:10] + "T09:00:00Z", docs=docs, replaces=[[ids[a], ids[b]] for a, b in replaces],
                queries=[dict(id=f"q{k:02d}", text=text, cat=head[0], slot=slot, as_of=head[1] + "T12:00:00Z" if len(head) > 1 else "", rel={ids[t]: g for t, g in rel.items()},
                              stale=[ids[t] for t in stale if t not in rel]) for k, (head, slot, text, rel, stale) in enumerate(queries, 1)]), []


PERSONS = [(r"\bdo I\b", "does {}"), (r"\bam I\b", "is {}"), (r"\bhave I\b", "has {}"), (r"\bI'm\b|\bI am\b", "{} is"), (r"\bI've\b|\bI have\b", "{} has"), (r"\bI'd\b", "{} would"),
           (r"\bI'll\b", "{} will"), (r"\bI\b|\bme\b|\bmyself\b", "{}"), (r"\b[Mm]y\b|\bmine\b", "{}'s")]


def named(question, name):
    """An English question as somebody else asks it, roughly."""
    q = re.sub(r"^Remind me:? *", "", question)
    for pattern, to in PERSONS:
        q = re.sub(pattern, to.format(name), q)
    return q[:1].upper() + q[1:]


def load(folder=HERE):
    out = []
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        p, wrong = read(path)
        if wrong:
            raise SystemExit(f"{path.name}: {'; '.join(wrong[:5])}")
        out.append(p)
    return out


if __name__ == "__main__":
    n = [0, 0, 0, 0]
    for path in sorted(HERE.glob("*.txt") if len(sys.argv) < 2 else map(pathlib.Path, sys.argv[1:])):
        p, wrong = read(path)
        for w in wrong:
            print(f"{path.name}: {w}")
        if p:
            n = [a + b for a, b in zip(n, (1, len(p["docs"]), len(p["queries"]), len(p["replaces"])))]
    print("{} conversations, {} turns, {} questions, {} replacements".format(*n))
