package parse

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/contextmem/contextmem/internal/parse/charset"
)

// The lengths differ on purpose: the statistics must work with a single line.
var charsetSamples = []struct {
	name string
	enc  encoding.Encoding
	text string
}{
	{"cp1251 sentence", charmap.Windows1251, "Осенью мы собрали яблоки и сложили их в погреб."},
	{"cp1251 word", charmap.Windows1251, "Привет"},
	{"cp1251 capitals", charmap.Windows1251, "ВХОД ЧЕРЕЗ ЗАДНЮЮ КАЛИТКУ"},
	{"cp1251 among english", charmap.Windows1251, "The sign on the gate says «Осторожно, собака» in red."},
	{"cp1251 ukrainian", charmap.Windows1251, "Восени ми зібрали яблука і склали їх у льох."},
	{"koi8-r sentence", charmap.KOI8R, "Осенью мы собрали яблоки и сложили их в погреб."},
	{"koi8-r words", charmap.KOI8R, "Добрый день"},
	{"cp866", charmap.CodePage866, "Осенью мы собрали яблоки и сложили их в погреб."},
	{"cp1252 german", charmap.Windows1252, "Die Äpfel liegen im Keller, das Gemüse hängt draußen vor der Tür."},
	{"cp1252 french", charmap.Windows1252, "À l’automne, nous récoltons des pommes « très mûres » près du château."},
	{"cp1252 spanish", charmap.Windows1252, "¿Dónde está el jardín de la señora Núñez?"},
	{"cp1252 quotes", charmap.Windows1252, "The gardener’s “long” leeks – all of them – cost €5."},
	{"cp1252 italian", charmap.Windows1252, "Il giardino è chiuso perché è tardi; la casa è più in là, e non c’è nessuno che può aprire. Ciò che resta è da fare: la quantità è poca."},
	{"cp1252 catalan", charmap.Windows1252, "La referència és vàlida: el caràcter electrònic està a la memòria primària i la sèrie és intermèdia."},
	{"cp1252 albanian", charmap.Windows1252, "Nëse është e nevojshme, përdoruesi mund të shtojë një fjalë të re në këtë listë."},
	{"cp1252 norwegian", charmap.Windows1252, "Hunden kjøres på toget når været er dårlig, og så må vi kjøre tilhørende bagasje på båten."},
	{"cp1250 name in english", charmap.Windows1250, "The concert begins with the serenade of Dvořák and ends with the dances of Bartók, as every year."},
	{"latin1 one word", charmap.ISO8859_1, "Café"},
	{"cp1250 polish", charmap.Windows1250, "Jesienią zebraliśmy jabłka i złożyliśmy je w piwnicy, żeby się nie zepsuły."},
	{"cp1250 czech", charmap.Windows1250, "Příliš žluťoučký kůň úpěl ďábelské ódy v zahradě."},
	{"cp1253 greek", charmap.Windows1253, "Το φθινόπωρο μαζέψαμε τα μήλα και τα βάλαμε στο κελάρι."},
	{"cp1254 turkish", charmap.Windows1254, "Sonbaharda elmaları topladık ve kilere koyduk, çünkü kış soğuk geçiyor."},
	{"cp1255 hebrew", charmap.Windows1255, "בסתיו קטפנו תפוחים ושמרנו אותם במרתף של הבית הישן"},
	{"cp1256 arabic", charmap.Windows1256, "في الخريف جمعنا التفاح ووضعناه في قبو البيت القديم"},
	{"cp874 thai", charmap.Windows874, "ในฤดูใบไม้ร่วงเราเก็บแอปเปิลและเก็บไว้ในห้องใต้ดิน"},
	{"shift_jis", japanese.ShiftJIS, "秋になるとりんごを集めて地下室にしまいます。"},
	{"shift_jis short", japanese.ShiftJIS, "こんにちは"},
	{"euc-jp", japanese.EUCJP, "秋になるとりんごを集めて地下室にしまいます。"},
	{"euc-jp katakana", japanese.EUCJP, "コンピュータのデータをサーバーに送る。"},
	{"iso-2022-jp", japanese.ISO2022JP, "秋になるとりんごを集めて地下室にしまいます。"},
	{"iso-8859-6 arabic", charmap.ISO8859_6, "في الخريف جمعنا التفاح ووضعناه في قبو البيت القديم"},
	{"hz", simplifiedchinese.HZGB2312, "秋天我们收了苹果, abc 放在老房子的地下室里"},
	{"gbk", simplifiedchinese.GBK, "秋天我们收了苹果，放在老房子的地下室里。"},
	{"gbk short", simplifiedchinese.GBK, "你好，世界"},
	{"big5", traditionalchinese.Big5, "秋天我們收了蘋果，放在老房子的地下室裡。"},
	{"big5 short", traditionalchinese.Big5, "歡迎來到花園"},
	{"euc-kr", korean.EUCKR, "가을에 우리는 사과를 거두어 지하실에 두었습니다."},
	{"euc-kr short", korean.EUCKR, "안녕하세요"},
	{"utf-16le", charset.UTF16LE, "Осенью мы собрали яблоки."},
	{"utf-16be", charset.UTF16BE, "plain english words"},
	{"utf-16le without ascii", charset.UTF16LE, "秋になるとりんごを集めて地下室にしまいます。"},
}

func TestUndeclaredCharsets(t *testing.T) {
	t.Parallel()
	for _, tc := range charsetSamples {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			data, err := tc.enc.NewEncoder().Bytes([]byte(tc.text))
			require.NoError(t, err)
			assert.Equal(t, tc.text, mustParse(t, "a.txt", "", data).Text)
		})
	}
}

func TestDeclaredCharsetWins(t *testing.T) {
	t.Parallel()
	data, err := charmap.ISO8859_5.NewEncoder().Bytes([]byte("Да"))
	require.NoError(t, err)
	assert.Equal(t, "Да", mustParse(t, "a.txt", "text/plain; charset=ISO-8859-5", data).Text)
	assert.Equal(t, "Ã¼", mustParse(t, "a.txt", "text/plain; charset=windows-1252", []byte("ü")).Text)
	// A wrong declaration of UTF-8 must not spoil the text.
	latin, err := charmap.Windows1252.NewEncoder().Bytes([]byte("Gemüse und Äpfel"))
	require.NoError(t, err)
	assert.Equal(t, "Gemüse und Äpfel", mustParse(t, "a.txt", "text/plain; charset=utf-8", latin).Text)
	assert.Equal(t, "plain", mustParse(t, "a.txt", "text/plain; charset=no-such-charset", []byte("plain")).Text)
}

func TestByteOrderMarks(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"utf-8":    "\xef\xbb\xbfGemüse",
		"utf-16le": "\xff\xfeG\x00e\x00m\x00\xfc\x00s\x00e\x00",
		"utf-16be": "\xfe\xff\x00G\x00e\x00m\x00\xfc\x00s\x00e",
		"utf-32le": "\xff\xfe\x00\x00G\x00\x00\x00e\x00\x00\x00m\x00\x00\x00\xfc\x00\x00\x00s\x00\x00\x00e\x00\x00\x00",
		"utf-32be": "\x00\x00\xfe\xff\x00\x00\x00G\x00\x00\x00e\x00\x00\x00m\x00\x00\x00\xfc\x00\x00\x00s\x00\x00\x00e",
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "Gemüse", mustParse(t, "a.txt", "text/plain; charset=shift_jis", []byte(data)).Text, name)
		})
	}
}

// TestEBCDIC reads texts of mainframes: with either line end, with letters of Western languages, in capitals only, and as records of a fixed
// length. Texts of other charsets with the bytes of such a text, and a text that is too short, are not taken for one.
func TestEBCDIC(t *testing.T) {
	t.Parallel()
	encode := func(s string) []byte {
		b, err := charmap.CodePage037.NewEncoder().String(s)
		require.NoError(t, err)
		return []byte(b)
	}
	text := "The beds by the wall were sown in April (row 5); peas & beans came up first.\nThe café's terrace, \"north\", waits until May 12."
	assert.Equal(t, text, mustParse(t, "a.txt", "", encode(text)).Text)
	assert.Equal(t, text, mustParse(t, "a.txt", "", encode(strings.ReplaceAll(text, "\n", "\u0085"))).Text)
	assert.Equal(t, text, mustParse(t, "", "", bytes.ReplaceAll(encode(text), encode("\n"), encode("\r\n"))).Text)
	many := strings.Repeat("sown in\u0085", 200)
	assert.Equal(t, strings.TrimSpace(strings.ReplaceAll(many, "\u0085", "\n")), mustParse(t, "a.txt", "", encode(many)).Text)
	upper := strings.ToUpper("Customer 00417 north bed, paid. ") + strings.Repeat(" ", 48)
	assert.Contains(t, mustParse(t, "a.txt", "", encode(strings.Repeat(upper, 9))).Text, "CUSTOMER 00417 NORTH BED, PAID.")
	for name, data := range map[string][]byte{
		"shift_jis": []byte(strings.Repeat("\x82\xa0\x81\x40\x82\xa9\x81\x40\x83\x41\x81\x40", 40)),
		"at signs":  []byte(strings.Repeat("@ caf\xe9 @ ", 40)),
		"noise": func() []byte {
			b := make([]byte, 4096)
			rnd := rand.New(rand.NewPCG(1, 2))
			for i := range b {
				b[i] = byte(0x80 | rnd.Uint32())
				if rnd.IntN(5) == 0 {
					b[i] = 0x40
				}
			}
			return b
		}(),
		"short": encode("sown in April"),
	} {
		enc, _ := charset.Detect(data, "")
		assert.NotEqual(t, charset.EBCDIC, enc, name)
	}
}

func TestSevenBitTextIsNotHZ(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"x = ~{1, 2}", "a ~{b c~} d", "ls ~{x} and ~}", "~{}~}"} {
		t.Run(s, func(t *testing.T) {
			assert.Equal(t, s, mustParse(t, "a.txt", "", []byte(s)).Text)
		})
	}
}

func TestDamagedUTF8StaysUTF8(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Möhren und Rüben. ", 20)
	assert.Equal(t, strings.TrimSpace(text+"\uFFFD end"), mustParse(t, "a.txt", "", []byte(text+"\xff end")).Text)
}

func TestPlainTextLines(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.log", "", []byte("one\r\ntwo\rthree\x00\x1b[0m\n\n"))
	assert.Equal(t, "one\ntwo\nthree[0m", doc.Text)
	assert.False(t, doc.Markdown)
}

func TestMarkdownFrontMatter(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.md", "", []byte("---\ntitle: \"Sowing\"\nauthor: A. Gardener\ndate: 2024-03-01\ntags: [peas, beans]\n# note\n---\n\n# In spring\n\nPeas first.\n"))
	assert.Equal(t, "Sowing", doc.Title)
	assert.Equal(t, "A. Gardener", doc.Author)
	assert.Equal(t, time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC), doc.Created)
	assert.Equal(t, "peas, beans", doc.Meta["keywords"])
	assert.True(t, doc.Markdown)
	assert.True(t, strings.HasSuffix(doc.Text, "\n\n# In spring\n\nPeas first."), doc.Text)
	assert.NotContains(t, doc.Text, "---")

	doc = mustParse(t, "a.md", "", []byte("---\n\nA rule, then text.\n\n---\n\n## Only heading ##\n"))
	assert.Equal(t, "Only heading", doc.Title)
	assert.True(t, strings.HasPrefix(doc.Text, "---\n"))
}
