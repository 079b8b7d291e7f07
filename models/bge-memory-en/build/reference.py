"""Makes testdata/reference.json.gz: what PyTorch gives, in float32 and with the weights of the file, for English questions and texts.

    pip install torch numpy tokenizers
    reference.py --tokenizer tokenizer.json

[{"text", "query", "vector"}], vector = 384 signed bytes, base64, to be divided by its length.
"""
import argparse, base64, gzip, json, random

import numpy as np, torch

from encoder import BASE, HERE, Encoder, tokenizer

a = argparse.ArgumentParser()
a.add_argument("--tokenizer", required=True)
model = Encoder(tokenizer(a.parse_args().tokenizer), HERE.parent / "model.safetensors")
pairs = random.Random(5).sample([json.loads(l) for l in gzip.open(BASE / "build" / "pairs.jsonl.gz", "rt", encoding="utf8")], 94)
out = []
with torch.no_grad():
    for p in pairs:
        for text, query in ((p["query"], True), (p["document"], False)):
            v = model.embed([text], most=512, query=query)[0].numpy()
            out.append({"text": text, "query": query, "vector": base64.b64encode(np.round(v / np.abs(v).max() * 127).astype(np.int8).tobytes()).decode("ascii")})
path = HERE.parent / "testdata" / "reference.json.gz"
path.parent.mkdir(exist_ok=True)
path.write_bytes(gzip.compress(json.dumps(out, ensure_ascii=False).encode("utf8"), 9, mtime=0))
print(len(out), "entries")
