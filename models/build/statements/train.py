"""Learns the gate of extract/rules (tables/gate.txt) from statements that a reader called right or wrong.

    pip install numpy scipy scikit-learn
    go test ./extract/rules -run TestGate -args -gate.rows /tmp/rows.jsonl
    python3 models/build/statements/train.py /tmp/rows.jsonl

A logistic model over the traits of extract/rules/trait.go, with an L2 penalty. The threshold of facts and that of relations are where LOSS of the right ones of conversations that
a model has not seen are lost (cross-validation over conversations). Sentences of extract/rules/testdata are learned of, and set no threshold: nearly all of them are right.
"""
import collections, json, pathlib, sys

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

C = .1  # inverse of the penalty
AT_LEAST = 3  # statements that have a trait
FOLDS = 10
LOSS = .05  # of the right ones
SENTENCE = 3  # weight of a sentence of testdata
LEAST_WEIGHT = .01

OUT = pathlib.Path(__file__).resolve().parents[3] / "extract/rules/tables/gate.txt"


def matrix(rows, names):
    r, c = [], []
    for i, row in enumerate(rows):
        for x in set(row["Traits"]):
            if x in names:
                r.append(i)
                c.append(names[x])
    m = sp.csr_matrix((np.ones(len(r)), (r, c)), shape=(len(rows), len(names)))
    m.indices, m.indptr = m.indices.astype(np.int32), m.indptr.astype(np.int32)
    return m


def learn(rows):
    count = collections.Counter(x for row in rows for x in set(row["Traits"]))
    names = {x: i for i, x in enumerate(sorted(x for x, n in count.items() if n >= AT_LEAST))}
    model = LogisticRegression(C=C, max_iter=3000, solver="liblinear", random_state=1)
    model.fit(matrix(rows, names), [row["Right"] for row in rows], sample_weight=[SENTENCE if row["Group"].startswith("heldout") else 1 for row in rows])
    return names, model


def main(path):
    rows = [json.loads(line) for line in open(path, encoding="utf8")]
    for row in rows:
        row["Traits"] = [x for x in row["Traits"] if " " not in x and "\n" not in x]
    groups = sorted({row["Group"] for row in rows})
    fold = {g: i % FOLDS for i, g in enumerate(sorted(groups, key=hash_of))}
    score = np.zeros(len(rows))
    for k in range(FOLDS):
        names, model = learn([row for row in rows if fold[row["Group"]] != k])
        at = [i for i, row in enumerate(rows) if fold[row["Group"]] == k]
        score[at] = model.decision_function(matrix([rows[i] for i in at], names))
    limits = {}
    for kind in (False, True):
        mine = np.array([not row["Group"].startswith("heldout") and row["Relation"] == kind for row in rows])
        right = np.array([row["Right"] for row in rows])
        name = "relation" if kind else "fact"
        limit = limits[name] = np.quantile(score[mine & right], LOSS)
        kept = mine & (score >= limit)
        print(name, f"right {right[mine].mean():.3f} of {mine.sum()}, of those kept {right[kept].mean():.3f} of {kept.sum()}, threshold {limit:.3f}")
        for loss in (.02, .05, .1, .15, .2):
            kept = mine & (score >= np.quantile(score[mine & right], loss))
            print(f"  at a loss of {loss}: {right[kept].mean():.3f}")
    names, model = learn(rows)
    weights = {x: w for x, w in zip(names, model.coef_[0])}
    for x in ("is:fact", "is:relation"):
        weights[x] += model.intercept_[0]
    lines = [f"{x} {w:.2f}" for x, w in sorted(weights.items()) if abs(w) >= LEAST_WEIGHT]
    OUT.write_text("# Weights of the gate, a trait (trait.go) a line; written by models/build/statements/train.py. The sum of a statement has to reach the threshold of its kind.\n"
                   + "".join(f"threshold:{k} {v:.3f}\n" for k, v in limits.items()) + "\n".join(lines) + "\n", encoding="utf8")
    print(len(lines), "weights,", OUT.stat().st_size, "bytes")


def hash_of(text):
    """A number of a text that is the same in every run."""
    h = 2166136261
    for b in text.encode():
        h = (h ^ b) * 16777619 & 0xFFFFFFFF
    return h


if __name__ == "__main__":
    main(sys.argv[1])
