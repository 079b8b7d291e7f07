"""Makes testdata/reference.json.gz of a memory model: what PyTorch gives, in float32 and with the weights of its file, for questions and texts.

    pip install torch numpy tokenizers
    reference.py --model bge-memory-en|e5-memory --tokenizer tokenizer.json

[{"group", "text", "query", "vector"}], vector = 384 signed bytes, base64, to be divided by its length.
"""
import argparse, base64, gzip, json, random

import numpy as np, torch

from encoder import KINDS, MODELS, Encoder, tokenizer, weights

PAIRS = 94
a = argparse.ArgumentParser()
a.add_argument("--model", required=True, choices=KINDS), a.add_argument("--tokenizer", required=True)
a = a.parse_args()
kind = KINDS[a.model]
model = Encoder(kind, tokenizer(a.tokenizer), weights(kind.base), weights(a.model))
pairs = random.Random(5).sample([json.loads(l) for l in gzip.open(MODELS / kind.base / "build" / "pairs.jsonl.gz", "rt", encoding="utf8")], PAIRS)
out = []
with torch.no_grad():
    for p in pairs:
        for text, query in ((p["query"], True), (p["document"], False)):
            v = model.embed([text], most=512, query=query)[0].numpy()
            out.append({"group": p["group"], "text": text, "query": query, "vector": base64.b64encode(np.round(v / np.abs(v).max() * 127).astype(np.int8).tobytes()).decode("ascii")})
path = MODELS / a.model / "testdata" / "reference.json.gz"
path.parent.mkdir(exist_ok=True)
path.write_bytes(gzip.compress(json.dumps(out, ensure_ascii=False).encode("utf8"), 9, mtime=0))
print(len(out), "entries")
