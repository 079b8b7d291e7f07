package parse

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// stream is a stream of a compound file. Its path has at most one storage.
type stream struct {
	path string
	data []byte
}

// compound packs streams into a compound file ([MS-CFB], version 3). All of them are in the mini stream.
func compound(streams ...stream) []byte {
	const sector, small, end, free = 512, 64, 0xFFFFFFFE, 0xFFFFFFFF
	le := binary.LittleEndian
	type entry struct {
		name                string
		kind                byte
		right, child, start uint32
		size                uint32
	}
	entries := []entry{{name: "Root Entry", kind: 5, right: free, child: free}}
	last := map[string]int{}
	link := func(storage string, e entry) int {
		n := len(entries)
		entries = append(entries, e)
		parent := 0
		if storage != "" {
			parent = last["/"+storage]
		}
		if prev, ok := last[storage]; ok {
			entries[prev].right = uint32(n)
		} else {
			entries[parent].child = uint32(n)
		}
		last[storage] = n
		return n
	}
	var mini []byte
	var miniFAT []uint32
	for _, s := range streams {
		storage, name, ok := strings.Cut(s.path, "/")
		if !ok {
			storage, name = "", s.path
		} else if _, known := last["/"+storage]; !known {
			last["/"+storage] = link("", entry{name: storage, kind: 1, right: free, child: free})
		}
		e := entry{name: name, kind: 2, right: free, child: free, start: uint32(len(miniFAT)), size: uint32(len(s.data))}
		if len(s.data) == 0 {
			e.start = end
		}
		for i := 0; i < len(s.data); i += small {
			next := uint32(len(miniFAT) + 1)
			if i+small >= len(s.data) {
				next = end
			}
			miniFAT = append(miniFAT, next)
		}
		mini = append(mini, s.data...)
		mini = append(mini, make([]byte, (small-len(mini)%small)%small)...)
		link(storage, e)
	}
	var body []byte // sector 0 is the FAT
	var fat []uint32
	fat = append(fat, 0xFFFFFFFD)
	add := func(data []byte) uint32 {
		first := uint32(len(fat))
		for i := 0; i < len(data); i += sector {
			next := uint32(len(fat) + 1)
			if i+sector >= len(data) {
				next = end
			}
			fat = append(fat, next)
		}
		body = append(body, data...)
		body = append(body, make([]byte, (sector-len(body)%sector)%sector)...)
		return first
	}
	entries[0].start, entries[0].size = add(mini), uint32(len(mini))
	var table []byte
	for _, n := range miniFAT {
		table = le.AppendUint32(table, n)
	}
	miniAt := add(table)
	var dir []byte
	for _, e := range entries {
		b := make([]byte, 128)
		units := utf16.Encode([]rune(e.name))
		for i, u := range units {
			le.PutUint16(b[2*i:], u)
		}
		le.PutUint16(b[64:], uint16(2*len(units)+2))
		b[66] = e.kind
		le.PutUint32(b[68:], free)
		le.PutUint32(b[72:], e.right)
		le.PutUint32(b[76:], e.child)
		le.PutUint32(b[116:], e.start)
		le.PutUint32(b[120:], e.size)
		dir = append(dir, b...)
	}
	dirAt := add(dir)
	head := make([]byte, sector)
	copy(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	le.PutUint16(head[24:], 0x3E)
	le.PutUint16(head[26:], 3)
	le.PutUint16(head[28:], 0xFFFE)
	le.PutUint16(head[30:], 9)
	le.PutUint16(head[32:], 6)
	le.PutUint32(head[44:], 1)
	le.PutUint32(head[48:], dirAt)
	le.PutUint32(head[56:], 4096)
	le.PutUint32(head[60:], miniAt)
	le.PutUint32(head[64:], uint32((len(table)+sector-1)/sector))
	le.PutUint32(head[68:], end)
	for i := 76; i < sector; i += 4 {
		le.PutUint32(head[i:], free)
	}
	le.PutUint32(head[76:], 0)
	first := bytes.Repeat([]byte{0xFF}, sector)
	for i, n := range fat {
		le.PutUint32(first[4*i:], n)
	}
	return append(append(head, first...), body...)
}

func unicodeBytes(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// msgProperties makes a property table with the time of sending.
func msgProperties(at time.Time) []byte {
	b := make([]byte, 32)
	b = binary.LittleEndian.AppendUint32(b, 0x00390040)
	b = binary.LittleEndian.AppendUint32(b, 6)
	return binary.LittleEndian.AppendUint64(b, uint64(at.Unix()+11_644_473_600)*1e7)
}

func TestOutlookMessages(t *testing.T) {
	t.Parallel()
	head := []stream{{"__properties_version1.0", msgProperties(time.Date(2024, 4, 9, 12, 0, 0, 0, time.UTC))}, {"__substg1.0_0037001F", unicodeBytes("Möhren")},
		{"__substg1.0_0C1A001F", unicodeBytes("Ann Field")}, {"__substg1.0_5D01001F", unicodeBytes("ann@example.com")}, {"__substg1.0_0E04001E", []byte("Ben; Cleo")}}
	const want = "# Möhren\n\nFrom: Ann Field <ann@example.com>\nTo: Ben; Cleo\nDate: 2024-04-09T12:00:00Z\n\n"
	// The example of [MS-OXRTFCP], 4.1.1.
	rtf := "\x2d\x00\x00\x00\x2b\x00\x00\x00LZFu\xf1\xc5\xc7\xa7\x03\x00\x0a\x00rcpg125\x42\x32\x0a\xf3\x20hel\x09\x00\x20bw\x05\xb0ld}\x0a\x80\x0f\xa0"
	for name, c := range map[string]struct {
		streams []stream
		want    string
	}{
		"plain": {[]stream{{"__substg1.0_1000001F", unicodeBytes("They are sown.\r\n\r\nAnn")}}, want + "They are sown.\n\nAnn"},
		"page":  {[]stream{{"__substg1.0_10130102", []byte("<html><body><p>They are <b>sown</b>.</p></body></html>")}}, want + "They are sown."},
		"rich":  {[]stream{{"__substg1.0_10090102", []byte(rtf)}}, want + "hello world"},
		"attachment": {[]stream{{"__substg1.0_1000001E", []byte("See there.")}, {"__attach_version1.0_#00000000/__properties_version1.0", make([]byte, 8)},
			{"__attach_version1.0_#00000000/__substg1.0_3707001F", unicodeBytes("beds.csv")}, {"__attach_version1.0_#00000000/__substg1.0_37010102", []byte("bed,rows\nnorth,5\n")}},
			want + "See there.\n\n## Attachment: beds.csv\n\n| bed | rows |\n| --- | --- |\n| north | 5 |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := mustParse(t, "a.msg", "", compound(append(head[:len(head):len(head)], c.streams...)...))
			assert.Equal(t, media.MSG, doc.MediaType)
			assert.Equal(t, c.want, doc.Text)
			assert.Equal(t, "Möhren", doc.Title)
			assert.Equal(t, "Ann Field <ann@example.com>", doc.Author)
			assert.Equal(t, 2024, doc.Created.Year())
			assert.Empty(t, doc.Partial)
		})
	}
	whole := compound(append(head, stream{"__substg1.0_1000001F", unicodeBytes(strings.Repeat("They are sown. ", 100))})...)
	for at := 0; at < len(whole); at += 37 {
		doc, err := New().Parse(t.Context(), document.Input{Name: "a.msg", Data: whole[:at]}, document.Limits{})
		assert.True(t, err != nil || doc.Partial != "", at)
	}
}
