package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// standardJSON is readJSON by encoding/json.
func standardJSON(b []byte) (v any, ok, alone bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, false, false
	}
	_, err := d.Token()
	return v, true, err == io.EOF
}

// readJSON reads the value that b begins with; alone reports that nothing follows it.
func readJSON(b []byte) (v any, ok, alone bool) {
	r := newJSONReader(string(b))
	if v, ok = r.value(); !ok {
		return nil, false, false
	}
	r.space()
	return v, true, r.i == len(r.s)
}

func requireSameJSON(t *testing.T, b []byte) {
	t.Helper()
	want, ok, alone := standardJSON(b)
	got, gotOK, gotAlone := readJSON(b)
	require.Equal(t, ok, gotOK, "%q", b)
	require.Equal(t, alone, gotAlone, "%q", b)
	require.Equal(t, want, got, "%q", b)

	if checkJSON("body", string(b), maxNesting+1) != nil {
		return
	}
	var f fields
	err := parseMembers("body", b, maxNesting+1, f.set)
	m, object := want.(map[string]any)
	require.Equal(t, ok && alone && object, err == nil, "%q", b)
	if err == nil {
		require.Equal(t, m, f.object(), "%q", b)
	}
}

var jsonSeeds = []string{
	"", " ", "{}", "[]", "null", "true", "false", "nul", "truex", "tru", `""`, `"a`, `{"a":1}`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":}`, `{a:1}`, `{"a":1}x`, `{"a":1}}`, "[1,2", "[1,]", "[1 2]", "[,1]",
	"0", "-0", "01", "-", "-a", "1.", "1.5", ".5", "1e", "1e+", "1e+5", "1E-05", "12x", "+1", "1e5.2", "1e400", "123456789012345678901234567890", "NaN", "Infinity", "0x10",
	`"\n\t\b\f\r\/\\\""`, `"\x"`, `"\u00e9"`, `"\u00G9"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\u00e9"`, `"\ud83d\uzzzz"`, `"\u12"`, `"\`, `"\u`, "\"a\nb\"", "\"a\x01\"", "\"\x7f\"",
	`{"a":1,"a":{"b":2},"a":[3]}`, `{"a":{"x":1},"a":{"y":2}}`, ` { "a" : [ 1 , "x" , null , true , { } ] } ` + "\n\t\r", "\u00a0{}", "\ufeff{}", "{}\v", `"日本語 and a long tail that is plain"`, `{"é":"日本"}`, "[[[[]]]]", `{"query":"who?","tenant_id":"acme"} {"a":1}`, `"plain text of some length"7`,
	`{"": ""}`, `["\u0041\u0042"]`, "\"\u2028\"", "//x\n{}", "{}/*x*/", "'a'", `[1e5,-2.5E+3,0.1]`,
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	for _, s := range jsonSeeds {
		requireSameJSON(t, []byte(s))
		requireSameJSON(t, []byte(strings.Repeat(" ", sharedBytes)+s)) // strings are copied
		for i := range s {
			requireSameJSON(t, []byte(s[:i]))
		}
	}
	for _, n := range []int{maxNesting, maxNesting + 1} {
		requireSameJSON(t, []byte(strings.Repeat("[", n)+strings.Repeat("]", n)))
		requireSameJSON(t, []byte(strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)))
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if utf8.Valid(b) { // anything else is refused before
			requireSameJSON(t, b)
		}
	})
}
