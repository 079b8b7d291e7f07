package pdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// taggedPage makes a page whose structure tree has the elements. %[1]d is replaced by the page's object number.
func taggedPage(content, elements string, more ...string) []byte {
	b := newBuilder()
	b.page(helvetica, content)
	root := b.add("")
	b.objs[root-1] = fmt.Sprintf("<< /Type /StructTreeRoot /RoleMap << /Zelle /TD >> /K ["+elements+"] >>", b.pages[0])
	for _, o := range more {
		b.add(o)
	}
	b.root = fmt.Sprintf("/MarkInfo << /Marked true >> /StructTreeRoot %d 0 R", root)
	return b.bytes()
}

func marked(mcid int, content string) string {
	return fmt.Sprintf("/P << /MCID %d >> BDC %s EMC ", mcid, content)
}

func TestTagged(t *testing.T) {
	t.Parallel()
	cells := marked(0, textAt(72, 700, "Bed")) + marked(1, textAt(100, 700, "Rows")) + marked(2, textAt(72, 686, "North of the wall")) + marked(3, textAt(170, 686, "five"))
	row := func(a, b int) string {
		return fmt.Sprintf("<< /S /TR /K [<< /S /TH /K %d /Pg %%[1]d 0 R >> << /S /Zelle /Pg %%[1]d 0 R /K << /Type /MCR /MCID %d >> >>] >>", a, b)
	}
	column := func(u, from int, words string) string {
		var out strings.Builder
		for i := range 6 {
			out.WriteString(textAt(float64(u), float64(700-14*i), fmt.Sprintf("%s %d of the column here", words, from+i)))
		}
		return out.String()
	}
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"a table without lines": {taggedPage(cells, "<< /S /Table /K [<< /S /TBody /K ["+row(0, 1)+row(2, 3)+"] >>] >>"),
			"| Bed | Rows |\n| --- | --- |\n| North of the wall | five |"},
		"rows over two rows": {taggedPage(cells+marked(4, textAt(170, 672, "six")),
			"<< /S /Table /Pg %[1]d 0 R /K ["+row(0, 1)+"<< /S /TR /K [<< /S /TD /A << /O /Table /RowSpan 2 >> /K 2 >> << /S /TD /K 3 >>] >> << /S /TR /K << /S /TD /K 4 >> >>] >>"),
			"| Bed | Rows |\n| --- | --- |\n| North of the wall | five |\n|  | six |"},
		"the order of reading": {taggedPage(marked(0, column(72, 1, "Second"))+marked(1, column(330, 1, "First")), "<< /S /P /Pg %[1]d 0 R /K 1 >> << /S /P /Pg %[1]d 0 R /K 0 >>"),
			"First 1 of the column here First 2 of the column here First 3 of the column here First 4 of the column here First 5 of the column here First 6 of the column here\n\n" +
				"Second 1 of the column here Second 2 of the column here Second 3 of the column here Second 4 of the column here Second 5 of the column here Second 6 of the column here"},
		"the text of an element": {taggedPage(marked(0, textAt(72, 700, "Zuk"))+marked(1, textAt(92, 700, "ker")), "<< /S /Span /ActualText (Zucker) /Pg %[1]d 0 R /K [0 1] >>"), "Zucker"},
		"the head of the page":   {taggedPage("/Artifact << /Type /Pagination /Subtype /Header >> BDC "+textAt(72, 750, "The garden")+" EMC "+marked(0, textAt(72, 700, "Beds.")), "<< /S /P /Pg %[1]d 0 R /K 0 >>"), "Beds."},
		"elements in a circle":   {taggedPage(marked(0, textAt(72, 700, "Beds.")), "<< /S /P /Pg %[1]d 0 R /K 0 >> 6 0 R", "<< /S /Div /K [6 0 R 6 0 R] >>"), "Beds."},
		"cells without a table":  {taggedPage(marked(0, textAt(72, 700, "Beds.")), "<< /S /TD /Pg %[1]d 0 R /K 0 >>"), "Beds."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, mustParse(t, tt.file).Text)
		})
	}
}
