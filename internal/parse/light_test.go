package parse

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

// TestLightMarkups checks markup that the pandoc files in testdata/made do not have.
func TestLightMarkups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"admonition.rst", "Title\n=====\n\n.. note:: Mind the gate.\n\n   It sticks.\n\n.. a comment\n\n.. |pea| replace:: *Pisum*\n\nSow |pea| with :ref:`care <care>`::\n\n   rake()\n\nEnd.",
			"# Title\n\nNote: Mind the gate.\n\nIt sticks.\n\nSow *Pisum* with care:\n\n```\nrake()\n```\n\nEnd."},
		{"grid.rst", "+------+-------+\n| Bed  | Rows  |\n+======+=======+\n| nor  | 5     |\n| th   |       |\n+------+-------+\n| south| 8     |\n+------+-------+\n",
			"| Bed | Rows |\n| --- | --- |\n| nor th | 5 |\n| south | 8 |"},
		{"list.rst", ".. list-table:: Beds\n   :header-rows: 1\n\n   * - Bed\n     - Rows\n   * - north\n     - 5\n", "Beds\n\n| Bed | Rows |\n| --- | --- |\n| north | 5 |"},
		{"levels.rst", "====\nBook\n====\n\nOne\n===\n\nA\n\nTwo\n---\n\nB\n\nThree\n=====\n", "# Book\n\n## One\n\nA\n\n### Two\n\nB\n\n## Three"},
		{"blocks.adoc", "= Book\nAnn Gardener <ann@garden.example>\nv1, 2024-03-01\n:pea: Pisum\n\nNOTE: Sow {pea} early.\n\n[source,go]\n----\nrake()\n----\n\n.A table\n|===\n|Bed |Rows\n\n|north\n|5\n|===\n\n// gone\nSee <<beds,the beds>> and https://garden.example[the site].",
			"# Book\n\nAuthor: Ann Gardener\n\nNote: Sow Pisum early.\n\n```go\nrake()\n```\n\nA table\n\n| Bed | Rows |\n| --- | --- |\n| north | 5 |\n\nSee the beds and [the site](https://garden.example)."},
		{"outline.org", "#+TITLE: Beds\n* TODO North :plan:urgent:\n:PROPERTIES:\n:ID: 1\n:END:\nRake =it= /well/.\n: code\n# comment\n** Rows\n| a | b |\n|---+---|\n| 1 | 2 |\n",
			"# Beds\n\n## TODO North (plan, urgent)\n\nRake `it` *well*.\n\n```\ncode\n```\n\n### Rows\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"},
		{"article.tex", "\\documentclass{article}\n\\newcommand{\\pea}{\\emph{Pisum}}\n\\begin{document}\n\\section{Beds}% why\nSow \\pea{} in M\\\"arz \\& May\\footnote{Or \\textbf{June}.}. \\textcolor{red}{Red}\n\n\\begin{tabular}{|l|r|}\\hline\n\\multicolumn{2}{|c|}{Both} \\\\ \\hline\nnorth & 5 \\\\[2pt]\nsouth \\& west & 8\n\\end{tabular}\n\\begin{verbatim}\n% kept\n\\end{verbatim}\n\\end{document}\nnot this",
			"## Beds\n\nSow *Pisum* in März & May[^1]. Red\n\n| Both |  |\n| --- | --- |\n| north | 5 |\n| south & west | 8 |\n\n```\n% kept\n```\n\n[^1]: Or **June**."},
		{"page.1", ".Dd May 1, 2024\n.Dt BEDS 1\n.Os\n.Sh NAME\n.Nm beds\n.Nd list beds\n.Sh SYNOPSIS\n.Nm\n.Op Fl a\n.Op Ar name\n.Sh DESCRIPTION\nLists them, see\n.Xr garden 5 .\n.Bl -tag\n.It Fl a\nall\n.El\n",
			"## NAME\n\nbeds — list beds\n\n## SYNOPSIS\n\nbeds [-a] [name]\n\n## DESCRIPTION\n\nLists them, see garden(5).\n\n-a\n\nall"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc := mustParse(t, c.name, "", []byte(c.text))
			assert.Equal(t, c.want, doc.Text)
			assert.Empty(t, doc.Partial)
		})
	}
}

// tooLong is what no input of this package's tests takes on a busy machine unless the work grows faster than the text: it takes milliseconds, or
// seconds with the race detector.
const tooLong = time.Minute

// TestLightMarkupsAreQuick checks that no input takes quadratic time, and that Partial reports a block without end.
func TestLightMarkupsAreQuick(t *testing.T) {
	t.Parallel()
	size := 100_000
	if testing.Short() {
		size = 2_000
	}
	pieces := []string{"\\begin{a}", "{", "\\emph{", "$", "\\(", "\\item ", "\\'", "\\verb|", "[", "`", "`a", "``", "|a", "  ", " - a\n", "* a\n  ", "a\n  ", ".. a::\n   ", "+-+\n",
		"= =\n", "::\n\n ", "<<", "link:a[", "* a\n+\n", "====\n", "|===\n", "a::\n", "** a\n", "#+begin_a\n", ":a:\n", "[[a][", "| a\n", "*a", ".de a\n", ".TS\n", "T{\n", "\\[", ".if \\{\n",
		"\\def\\a{", "\\multicolumn{9}{c}{", "&", "\\\\"}
	for _, ext := range []string{"rst", "adoc", "org", "tex", "man"} {
		t.Run(ext, func(t *testing.T) {
			for _, p := range pieces {
				data := []byte("A title\n=======\n\n" + strings.Repeat(p, size/len(p)))
				start := time.Now()
				_, err := New().Parse(t.Context(), document.Input{Name: "a." + ext, Data: data}, document.Limits{MaxOutput: 4 << 20})
				var kind *document.Error
				if err != nil {
					require.ErrorAs(t, err, &kind)
					require.NotEqual(t, document.Internal, kind.Kind, "%s %q", ext, p)
				}
				require.Less(t, time.Since(start), tooLong, "%s %q", ext, p)
			}
		})
	}
	for name, text := range map[string]string{"a.adoc": "= A\n\n----\ncode", "a.org": "* A\n#+begin_src\ncode", "a.tex": "\\begin{document}\ntext", "b.tex": "\\documentclass{article}\n\\title{Beds}\nsome words", "a.man": ".TH A 1\n.SH B\n.nf\ncode"} {
		t.Run(name, func(t *testing.T) {
			assert.NotEmpty(t, mustParse(t, name, "", []byte(text)).Partial, name)
		})
	}
}
