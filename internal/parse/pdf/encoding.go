package pdf

import "golang.org/x/text/encoding/charmap"

// codeTable gives the text of each character code of a simple font; "" is undefined.
type codeTable [256]string

// The encodings of ISO 32000-1, annex D. The literals start at code 32; NUL stands for an undefined code.
var (
	standardEncoding = literalEncoding(
		" !\"#$%&’()*+,-./0123456789:;<=>?" +
			"@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_" +
			"‘abcdefghijklmnopqrstuvwxyz{|}~\x00" +
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
			"\x00¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\x00–†‡·\x00¶•‚„”»…‰\x00¿" +
			"\x00`´ˆ˜¯˘˙¨\x00˚¸\x00˝˛ˇ—\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
			"\x00Æ\x00ª\x00\x00\x00\x00ŁØŒº\x00\x00\x00\x00\x00æ\x00\x00\x00ı\x00\x00łøœß\x00\x00\x00\x00")

	symbolEncoding = literalEncoding(
		" !∀#∃%&∋()∗+,−./0123456789:;<=>?" +
			"≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_" +
			"\x00αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼\x00" +
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
			"€ϒ′≤⁄∞ƒ♣♢♡♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|─↵" +
			"ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓" +
			"◊〈®©™∑\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00〉∫⌠\x00⌡\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")

	zapfEncoding = literalEncoding(
		" ✁✂✃✄☎✆✇✈✉☛☞✌✍✎✏✐✑✒✓✔✕✖✗✘✙✚✛✜✝✞✟" +
			"✠✡✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿" +
			"❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❐❑❒▲▼◆❖◗❘❙❚❛❜❝❞\x00" +
			"❨❩❪❫❬❭❮❯❰❱❲❳❴❵\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
			"\x00❡❢❣❤❥❦❧♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿" +
			"➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏➐➑➒➓➔→↔↕➘➙➚➛➜➝➞➟" +
			"➠➡➢➣➤➥➦➧➨➩➪➫➬➭➮➯\x00➱➲➳➴➵➶➷➸➹➺➻➼➽➾\x00")

	winAnsiEncoding  = charmapEncoding(charmap.Windows1252)
	macRomanEncoding = charmapEncoding(charmap.Macintosh)
)

func literalEncoding(s string) *codeTable {
	var e codeTable
	code := 32
	for _, r := range s {
		if r != 0 {
			e[code] = string(r)
		}
		code++
	}
	return &e
}

// charmapEncoding takes an encoding from a character set; unused codes of WinAnsi show a bullet.
func charmapEncoding(m *charmap.Charmap) *codeTable {
	var e codeTable
	for code := 32; code < 256; code++ {
		r := m.DecodeByte(byte(code))
		switch {
		case usable(r):
			e[code] = string(r)
		case code > 126 && m == charmap.Windows1252:
			e[code] = "\u2022"
		}
	}
	if m == charmap.Windows1252 {
		e[0xad] = "-" // shown as a hyphen, not a soft hyphen
	}
	return &e
}

// namedEncoding returns the encoding that a font dictionary names, or nil.
func namedEncoding(n name) *codeTable {
	switch n {
	case "WinAnsiEncoding":
		return winAnsiEncoding
	case "MacRomanEncoding":
		return macRomanEncoding
	case "StandardEncoding":
		return standardEncoding
	}
	return nil
}
