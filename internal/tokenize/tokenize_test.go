package tokenize

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// unzip reads a compressed file of testdata.
func unzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return data
}

// judged are lines with the ids that the tokenizers package gives them.
func judged(t testing.TB, name string) (lines []string, ids [][]int32) {
	t.Helper()
	all := unzip(t, name+".ids.gz")
	next := func() int32 {
		v, n := binary.Uvarint(all)
		require.Positive(t, n)
		all = all[n:]
		return int32(v)
	}
	for s := bufio.NewScanner(bytes.NewReader(unzip(t, "lines.json.gz"))); s.Scan(); {
		var line string
		require.NoError(t, json.Unmarshal(s.Bytes(), &line))
		want := make([]int32, next())
		for i := range want {
			want[i] = next()
		}
		lines, ids = append(lines, line), append(ids, want)
	}
	require.Empty(t, all)
	require.Len(t, lines, 10000)
	return lines, ids
}

func open(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tok, err := FromJSON(unzip(t, name+".json.gz"))
	require.NoError(t, err)
	return tok
}

// TestAgainstTokenizers compares with the tokenizers package, id by id.
func TestAgainstTokenizers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"wordpiece", "unigram"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tok := open(t, name)
			again, err := Open(bytes.Clone(tok.Compact()))
			require.NoError(t, err)
			lines, want := judged(t, name)
			bad := 0
			for i, line := range lines {
				got := tok.Append(nil, line)
				if !slices.Equal(got, again.Append(nil, line)) {
					t.Fatalf("line %d %+q: the compact form differs", i, line)
				}
				if !slices.Equal(got, want[i]) {
					if bad++; bad <= 40 {
						t.Errorf("line %d %+q:\n got %d\nwant %d", i, line, got, want[i])
					}
				}
			}
			require.Zero(t, bad, "lines that differ")
		})
	}
}
