#!/usr/bin/env python3
"""Writes reference.json: vectors of sample texts, computed from the description
of the CMSE1 format alone, in plain Python and double precision.

usage: reference.py static-en-128.cmse > reference.json
"""
import json
import math
import re
import struct
import sys

MASK64 = (1 << 64) - 1

TEXTS = [
    "",
    " \t\n",
    "... --- !!! ***",
    "cat",
    "The cat sat on the mat.",
    "THE CAT SAT ON THE MAT",
    "a",
    "q",
    "I",
    "of the and to",
    "Her sister moved to Lisbon last spring and works as a nurse.",
    "When did her sister move to Portugal?",
    "The invoice is due on 30 June 2024, total 1,249.50 EUR.",
    "Order ZX81-QQRT-99177 was shipped to warehouse 12",
    "zzxqv",
    "zzxqv ZZXQV zZxQv",
    "zzxqv qqwrtp",
    "mustn needn mightn",
    "You mustn't and needn't; she mightn't.",
    "don't can't won't they'll we've",
    "PostgreSQL replication lag grows while vacuum runs",
    "How do I restart the replica after a failed checkpoint?",
    "func main() { fmt.Println(\"hello, world\") }",
    "https://example.org/docs/setup?page=2&lang=en#install",
    "mail: jane.doe@example.org, phone +49 170 1234567",
    "snake_case_name and camelCaseName and kebab-case-name",
    "caf\u00e9 na\u00efve r\u00e9sum\u00e9 \u00fcber stra\u00dfe",
    "\u6771\u4eac\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059\u3002",
    "\u6211\u559c\u6b22 Python \u7f16\u7a0b",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! Hello, world!",
    "\U0001f600 happy \U0001f389 birthday \u2764\ufe0f",
    "e\u0301clair and I\u0307stanbul and \u212a (Kelvin sign)",
    "zero\u0000byte\u0000separated\u0000words",
    "0 1 2 3 4 5 6 7 8 9 10 100 1000 10000 100000 1000000",
    "3.14159 2.71828 1.61803",
    "x" * 300,
    "x" * 300 + " and " + "y" * 65,
    "word " * 500,
    "Tea is grown in Assam. Coffee is grown in Brazil. Cocoa is grown in Ghana. " * 20,
    "antidisestablishmentarianism floccinaucinihilipilification",
    "My favourite colour is dark green, but the kitchen was painted yellow.",
    "user: remind me to water the plants\nassistant: I will remind you on Friday.",
    "# Heading\n\n- item one\n- item two\n\n| a | b |\n|---|---|\n| 1 | 2 |",
]


def words(s):
    return set(s.split())


STOP = words("""
a an the and or but nor of to in on at for with by from is are was were be been being am do does did doing have has
had having i you he she it we they me him her us them my your yours his hers its our ours their theirs this that these
those what which who whom whose when where why how no not as if than then so such too very also just any some can could
will would shall should may might must about into over after before between out up down there here s t ll re ve d m don
doesn didn isn wasn weren aren ain won wouldn couldn shouldn mustn mightn needn hasn haven hadn
""")


def read(path):
    raw = open(path, "rb").read()
    assert raw[:8] == b"CMSE1\0\0\0"
    dims, vocab, slots, size, shrink, oov = struct.unpack_from("<IIIIff", raw, 8)
    at = 32 + 4 * slots  # the hash index is not needed: a dict does its work
    offsets = struct.unpack_from("<%dI" % (vocab + 1), raw, at)
    at += 4 * (vocab + 1)
    text = raw[at:at + size]
    at += size
    scales = struct.unpack_from("<%df" % vocab, raw, at)
    at += 4 * vocab
    ids = {text[offsets[i]:offsets[i + 1]].decode("ascii"): i for i in range(vocab)}

    def row(i):
        return [scales[i] * q for q in struct.unpack_from("<%db" % dims, raw, at + i * dims)]

    return dims, shrink, oov, ids, row


def fnv1a(token):
    h = 2166136261
    for c in token.encode("ascii"):
        h = ((h ^ c) * 16777619) % (1 << 32)
    return h


def signs(seed, n):
    """n signs, +1 or -1, from the bits of SplitMix64, lowest first."""
    out, state = [], seed
    while len(out) < n:
        state = (state + 0x9E3779B97F4A7C15) & MASK64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        z ^= z >> 31
        out += [1 if z >> b & 1 else -1 for b in range(64)]
    return out[:n]


def lower_ascii(text):
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def total(model, text):
    dims, _, oov, ids, row = model
    v = [0.0] * dims
    for token in re.findall("[a-z0-9]+", lower_ascii(text)):
        if token in ids:
            add = row(ids[token])
        elif len(token) > 1 and token not in STOP:
            add = [oov * s for s in signs(fnv1a(token), dims)]
        else:
            continue
        v = [x + y for x, y in zip(v, add)]
    return v


def main():
    model = read(sys.argv[1])
    out = []
    for text in TEXTS:
        v = total(model, text)
        norm = math.sqrt(sum(x * x for x in v))
        out.append({
            "text": text,
            "query": [round(x / norm, 7) if norm else 0 for x in v],
            "document": [round(x / (norm + model[1]), 7) if norm else 0 for x in v],
        })
    print("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]")


main()
