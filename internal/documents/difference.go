package documents

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/chunk"
)

// maxDifference bounds the product of the sentence counts of two texts that are compared in full. Sentences that both texts begin or end
// with do not count. Beyond the bound all other sentences count as replaced.
const maxDifference = 4 << 20

// Differences returns how before becomes after, as runs of sentences: those that both texts have in common, and those in only one of them.
// Removed sentences come before added ones. It returns nil if one of the texts is empty.
func Differences(before, after string) []content.Difference {
	if before == "" || after == "" {
		return nil
	}
	a, b := sentences(before), sentences(after)
	key := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	ka, kb := make([]string, len(a)), make([]string, len(b))
	for i, s := range a {
		ka[i] = key(s)
	}
	for i, s := range b {
		kb[i] = key(s)
	}
	var d difference
	head := 0
	for head < len(a) && head < len(b) && ka[head] == kb[head] {
		d.add(content.Same, b[head])
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && ka[len(a)-1-tail] == kb[len(b)-1-tail] {
		tail++
	}
	for _, x := range align(ka[head:len(a)-tail], kb[head:len(b)-tail]) {
		switch {
		case x.b < 0:
			d.add(content.Removed, a[head+x.a])
		case x.a < 0:
			d.add(content.Added, b[head+x.b])
		default:
			d.add(content.Same, b[head+x.b])
		}
	}
	for _, s := range b[len(b)-tail:] {
		d.add(content.Same, s)
	}
	return d.out
}

// difference joins sentences of one kind into runs.
type difference struct{ out []content.Difference }

func (d *difference) add(kind content.DifferenceKind, s string) {
	if n := len(d.out); n > 0 && d.out[n-1].Kind == kind {
		d.out[n-1].Text += s
		return
	}
	d.out = append(d.out, content.Difference{Kind: kind, Text: s})
}

// pairing is a pair of sentence indices; -1 means that a text has no counterpart.
type pairing struct{ a, b int }

// align pairs the sentences of the longest common subsequence. Between two pairs, the unpaired sentences of a come first.
func align(a, b []string) (out []pairing) {
	if len(a)*len(b) > maxDifference {
		for i := range a {
			out = append(out, pairing{i, -1})
		}
		for i := range b {
			out = append(out, pairing{-1, i})
		}
		return out
	}
	w := len(b) + 1
	common := make([]int32, (len(a)+1)*w) // length of the longest common subsequence of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*w+j] = common[(i+1)*w+j+1] + 1
			} else {
				common[i*w+j] = max(common[(i+1)*w+j], common[i*w+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, pairing{i, j})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[(i+1)*w+j] >= common[i*w+j+1]:
			out = append(out, pairing{i, -1})
			i++
		default:
			out = append(out, pairing{-1, j})
			j++
		}
	}
	return slices.Clip(out)
}

// sentences splits a text into sentences, each with the white space behind it. Joined they are the text again.
func sentences(text string) (out []string) {
	from := 0
	for start, end := range chunk.Sentences(text) {
		if len(out) > 0 {
			out[len(out)-1] += text[from:start]
			from = start
		}
		out = append(out, text[from:end]) // the first sentence also has the white space before it
		from = end
	}
	if len(out) == 0 {
		return []string{text}
	}
	out[len(out)-1] += text[from:]
	return out
}
