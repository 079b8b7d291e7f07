package parse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/document"
)

func TestHTMLStructure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"headings and paragraphs": {
			`<h1>Garden</h1><p>One <b>bold</b>
 word.<p>Two&nbsp;parts<br>of a line.<h3 class=x>Part</h3><div>A</div><div>B</div>`,
			"# Garden\n\nOne bold word.\n\nTwo parts\nof a line.\n\n### Part\n\nA\n\nB",
		},
		"lists": {
			`<ul><li>one<li>two<ol start=3><li>sub</li><li>sub b</ol><li><p>three</p><p>more</p></ul><p>end`,
			"- one\n- two\n  3. sub\n  4. sub b\n- three\n  more\n\nend",
		},
		"table": {
			`<table><caption>Beds</caption><tr><th>Bed<th>Plant<tr><td>North</td><td>Peas | beans</td></tr></table>after`,
			"Beds\n\n| Bed | Plant |\n| --- | --- |\n| North | Peas \\| beans |\n\nafter",
		},
		"spans": {
			`<table><tr><td colspan=2>wide</td><td>c</td></tr><tr><td rowspan=2>tall</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>`,
			"| wide | wide | c |\n| --- | --- | --- |\n| tall | 1 | 2 |\n| tall | 3 | 4 |",
		},
		"layout table": {
			`<table><tr><td><h2>Menu</h2><td><table><tr><td>a<td>b<tr><td>1<td>2</table></table>`,
			"## Menu\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
		},
		"links": {
			`<a href="https://garden.example/a b">the beds</a> <a href="#x">top</a> <a href="javascript:x()">run</a> <a href="https://a.example">https://a.example</a> <a href="mailto:a@b.example">a@b.example</a>`,
			"[the beds](https://garden.example/a%20b) top run https://a.example a@b.example",
		},
		"code": {
			"<p>Run <code>dig</code>:<pre><code class=\"language-go\">func a() {\n\treturn\n}\n</code></pre>done",
			"Run dig:\n\n```go\nfunc a() {\n\treturn\n}\n```\n\ndone",
		},
		"quote": {`<blockquote><p>one<p>two</blockquote>three`, "> one\n>\n> two\n\nthree"},
		"dropped": {
			`<head><style>p{}</style><script>var x="<p>no</p>"</script></head><p hidden>no<p>yes<div style="display: none"><p>no<div>no</div></div><noscript>no</noscript><template>no</template><svg><text>no</text></svg><!-- no -->`,
			"yes",
		},
		"alt text":           {`<p>A <img src=x.png alt="red gate"> here`, "A ![red gate]() here"},
		"definitions":        {`<dl><dt>Bed<dd>A place<dt>Hoe<dd>A tool</dl>`, "Bed\n: A place\n\nHoe\n: A tool"},
		"soft hyphen":        {`rhu&shy;barb`, "rhubarb"},
		"stray ends":         {`</div></table></p>a</b></td>b`, "ab"},
		"paragraph like a #": {`<p># not a heading`, `\# not a heading`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, mustParse(t, "a.html", "", []byte(tc.in)).Text)
		})
	}
}

func TestHTMLMetadata(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.html", "", []byte(`<html lang="en-GB"><head><title>The
 garden</title><meta name="Author" content="A. Gardener"><meta name=description content="On beds">
<meta property="article:published_time" content="2024-03-01T10:00:00+02:00"><body><p>text`))
	assert.Equal(t, "The garden", doc.Title)
	assert.Equal(t, "A. Gardener", doc.Author)
	assert.Equal(t, "en-GB", doc.Language)
	assert.Equal(t, "On beds", doc.Meta["description"])
	assert.Equal(t, "2024-03-01T08:00:00Z", doc.Created.Format("2006-01-02T15:04:05Z07:00"))
	assert.Equal(t, "text", doc.Text)
}

func TestHTMLCharset(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Пруд", mustParse(t, "a.html", "", []byte(`<meta charset="koi8-r"><p>`+"\xf0\xd2\xd5\xc4")).Text)
	assert.Equal(t, "Пруд", mustParse(t, "a.html", "text/html; charset=windows-1251",
		[]byte(`<meta charset="koi8-r"><p>`+"\xcf\xf0\xf3\xe4")).Text)
	assert.Equal(t, "Gemüse", mustParse(t, "a.xhtml", "",
		[]byte(`<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head><body><p>Gem`+"\xfc"+`se</p></body></html>`)).Text)
}

func TestHTMLBoundsNesting(t *testing.T) {
	t.Parallel()
	const n = 50_000
	for name, in := range map[string]string{
		"div":   strings.Repeat("<div>", n) + "deep" + strings.Repeat("</div>", n),
		"table": strings.Repeat("<table><tr><td>", n) + "deep",
		"quote": strings.Repeat("<blockquote>", n) + "deep",
		"list":  strings.Repeat("<ul><li>", n) + "deep",
		"spans": strings.Repeat(`<table><tr><td colspan=100000 rowspan=100000>deep`, 50),
	} {
		t.Run(name, func(t *testing.T) {
			doc := mustParse(t, "a.html", "", []byte(in))
			assert.Contains(t, doc.Text, "deep", name)
			assert.Less(t, len(doc.Text), 100_000, name)
		})
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, in, want string }{
		"plain":      {"a.csv", "bed,plant\nnorth,\"peas, late\"\n", "| bed | plant |\n| --- | --- |\n| north | peas, late |"},
		"semicolon":  {"a.csv", "bed;rows\nnorth;1,5\nsouth;2,5\n", "| bed | rows |\n| --- | --- |\n| north | 1,5 |\n| south | 2,5 |"},
		"tab":        {"a.tsv", "bed\tnote\r\nnorth\tone, two\r\n", "| bed | note |\n| --- | --- |\n| north | one, two |"},
		"named":      {"a.csv", "sep=|\r\na|b\r\n1|2\r\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"},
		"line break": {"a.csv", "a,b\n\"one\ntwo\",\"a \"\"b\"\"\"\n", "| a | b |\n| --- | --- |\n| one two | a \"b\" |"},
		"open quote": {"a.csv", "a,b\n\"one,2\nthree,4\n", "| a | b |\n| --- | --- |\n| \"one | 2 |\n| three | 4 |"},
		"ragged":     {"a.csv", "a,b\n1\n1,2,3\n\n", "| a | b |\n| --- | --- |\n| 1 |\n| 1 | 2 | 3 |"},
		"one column": {"a.csv", "name\npeas\nbeans\n", "name\npeas\nbeans"},
		"bar inside": {"a.csv", "a,b\nx|y,2\n", "| a | b |\n| --- | --- |\n| x\\|y | 2 |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, mustParse(t, tc.file, "", []byte(tc.in)).Text)
		})
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want, partial string }{
		"object":    {`{"bed":"north","rows":[1,2.5e3],"soil":{"ph":6,"wet":false},"none":null}`, "bed: north\nrows:\n  - 1\n  - 2.5e3\nsoil:\n  ph: 6\n  wet: false\nnone: null", ""},
		"records":   {`[{"a":1,"b":2},{"a":3}]`, "- a: 1\n  b: 2\n- a: 3", ""},
		"lines":     {"{\"a\":1}\n{\"a\":2}\n", "a: 1\n\na: 2", ""},
		"escapes":   {`{"a":"x\u00e9\ud83c\udf31\"\\\/\nnext"}`, "a: xé🌱\"\\/\n  next", ""},
		"bad pair":  {`["\ud83c x","\uZZZZ"]`, "- \uFFFD x\n- \uFFFDZZZZ", ""},
		"empty":     {`{"a":{},"b":[],"c":[[],[1]]}`, "a:\nb:\nc:\n  - \n  - - 1", ""},
		"truncated": {`{"a":"one","b":["two","thr`, "a: one\nb:\n  - two\n  -", "the JSON ends too early"},
		"not json":  {"// remark\n{a: 1}", "// remark\n{a: 1}", "not valid JSON at byte 0: kept as plain text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := mustParse(t, "a.json", "", []byte(tc.in))
			assert.Equal(t, tc.want, doc.Text)
			assert.Equal(t, tc.partial, doc.Partial)
		})
	}
	assert.Equal(t, document.LimitExceeded, parseKind(t, document.Input{Name: "a.json", Data: []byte(strings.Repeat("[", 1000))}, document.Limits{}))
}

// TestFormulasOfPages checks formulas that end early, late or never, and what is around them.
func TestFormulasOfPages(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"<p>a <math><msup><mi>x</mi><mn>2</mn></msup></math> b</p>":                                       "a x^2 b",
		"<p>a <math><mfrac><mi>x</mi><mn>2</mn></p><p>b</p>":                                              "a x/2\n\nb",
		"<table><tr><td>n<td><math><msqrt><mi>k</mi></msqrt><tr><td>m<td>4</table>":                       "| n | √k |\n| --- | --- |\n| m | 4 |",
		"<p>a <math><semantics><mi>x</mi><annotation>\\x <b>y</b></annotation></semantics></math> b</p>":  "a x b",
		"<p>a <math><mi>x</mi></math> <math display=block><mfenced open='['><mi>c</mi><mi>d</mi></math>e": "a x [c,d)e",
		"<p><math><math><mi>x</mi></math> y":                                                              "x y",
		"<p>a <MATH><mml:msub><mml:mi>x</mml:mi><mml:mi>i</mml:mi></mml:msub></MATH>":                     "a x_i",
		"<p>a <math><mtext>if <b>so</b></mtext></math> b":                                                 "a ifso b",
		"<p>a <span hidden><math><mi>x</mi></math></span> b":                                              "a b",
		"<pre><math><mi>x</mi></math></pre>":                                                              "```\nx\n```",
		"<p>a <math><mi>x</mi>":                                                                           "a x",
		"<p>a</math> b":                                                                                   "a b",
	} {
		assert.Equal(t, want, mustParse(t, "a.html", "", []byte(page)).Text, page)
	}
	deep := "<p>" + strings.Repeat("<math><mrow>", 5000) + "<mi>x</mi>" + strings.Repeat("</mrow>", 5000) + "</math> after"
	assert.Equal(t, "x after", mustParse(t, "a.html", "", []byte(deep)).Text)
}
