"""Runs small stores of short notes (notes/*.txt) against a server, one memory at a time, and says what comes first. Standard library only.

    notes.py --base URL --key KEY [--as notes|messages] [--together] [--mode fast|thinking] [--fails] FILE...

Written for this project, store by store (CC0). A file:

    == t001 en 2026-01-05 12          a store: id, language, day of its first memory, days between two
    Jaden's our keeper, under 12s     memories, numbered from 1
    > 4:1 5:2                         memory 4 replaces memory 1, and 5 replaces 2
    c who's in goal? | 4 | 1          about what changed: memories that answer, memories that hold no longer
    t who trains them? | 3 | 6        a trap: the right ones, and one about another thing of the same kind
    o who's my nurse? | 3             about something told once

"outdated first" counts the questions about changes in which a memory that holds no longer comes before each right one. --together puts all stores into one collection.
"""
import argparse, collections, datetime, json, re, urllib.request, uuid


def load(path):
    """The stores of a file."""
    stores = []
    for n, line in enumerate(open(path, encoding="utf8"), 1):
        line = line.strip()
        if m := re.match(r"== (\S+) (\S+) (\d{4}-\d\d-\d\d) ([\d.]+)$", line):
            start = datetime.datetime.fromisoformat(m[3] + "T09:00:00")
            stores.append({"id": m[1], "lang": m[2], "start": start, "step": float(m[4]), "memories": [], "replaces": [], "questions": []})
        elif not line:
            continue
        elif not stores:
            raise SystemExit(f"{path}:{n}: no store begins before this line")
        elif line.startswith("> "):
            stores[-1]["replaces"] = [tuple(map(int, p.split(":"))) for p in line[2:].split()]
        elif m := re.match(r"([cto]) (.+?) *\| *([\d ,]+?) *(?:\| *([\d ,]*))?$", line):
            number = lambda s: [int(x) for x in re.findall(r"\d+", s or "")]
            stores[-1]["questions"].append((m[1], m[2], number(m[3]), number(m[4])))
        else:
            stores[-1]["memories"].append(line)
    return stores


def call(path, body):
    request = urllib.request.Request(a.base + path, json.dumps(body).encode(), {"Authorization": "Bearer " + a.key, "Content-Type": "application/json", "API-Version": "2"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["data"]


def remember(db, store):
    """Stores the memories one by one, so that each is compared with those before it."""
    for i, text in enumerate(store["memories"]):
        when = store["start"] + datetime.timedelta(days=store["step"] * i)
        m = {"id": f"{store['id']}-{i + 1}", "user_name": "Sam", "additional_metadata": {"timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ")}}
        if a.form == "messages":
            m["user_assistant_pairs"] = [{"user": text, "assistant": "Got it."}]
        else:
            m["text"] = text
        call("/ext/remember", {"database": db, "collection": collection(store), "memories": [m]})


def collection(store):
    return "all" if a.together else store["id"]


def ask(db, store, counts):
    for kind, question, right, wrong in store["questions"]:
        found = call("/query", {"database": db, "collection": collection(store), "type": "memory", "query": question, "mode": a.mode, "max_results": 20})["chunks"]
        ids = [c["source_id"] for c in found]
        label = {c["source_id"]: (c.get("superseded_by") or {}).get("matter", "") for c in found if c.get("superseded_by")}
        shown = [n for n in (right if kind != "c" else wrong) if f"{store['id']}-{n}" in label]
        at = lambda numbers: min([ids.index(f"{store['id']}-{n}") for n in numbers if f"{store['id']}-{n}" in ids], default=len(ids))
        counts[kind, "all"] += 1
        counts[kind, "right first"] += at(right) == 0
        counts[kind, "outdated first"] += kind == "c" and at(wrong) < at(right)
        counts[kind, "shown"] += bool(shown)
        if a.fails and (at(right) > 0 or shown and kind != "c"):
            print(f"  {store['id']} {kind} {question} -> {found[0]['chunk_content'] if found else '-'}" + (f" [superseded: {label[ids[at(right)]]}]" if shown and kind != "c" else ""))


parser = argparse.ArgumentParser()
parser.add_argument("--base", required=True)
parser.add_argument("--key", required=True)
parser.add_argument("--as", dest="form", choices=["notes", "messages"], default="notes")
parser.add_argument("--together", action="store_true")
parser.add_argument("--mode", default="fast")
parser.add_argument("--fails", action="store_true", help="print the questions whose first hit is wrong")
parser.add_argument("files", nargs="+")
a = parser.parse_args()
counts, db = collections.Counter(), "notes-" + uuid.uuid4().hex[:8]
call("/ext/databases", {"database": db})
stores = [s for f in a.files for s in load(f)]
if a.together:
    stores.sort(key=lambda s: s["start"])
for s in stores:
    remember(db, s)
for s in stores:
    ask(db, s, counts)
for kind, name in ("c", "what changed"), ("o", "other matters"), ("t", "traps"):
    print(f"{name:14} right first {counts[kind, 'right first']:4} of {counts[kind, 'all']:4}" + (f", outdated first {counts[kind, 'outdated first']}" if kind == "c" else "") + f", shown as superseded {counts[kind, 'shown']}")
