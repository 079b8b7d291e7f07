package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFlatObject(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`{}`, `{ }`, `{"a":1}`, `{"a":"b","c":true, "d" : false ,"e":null}`, "{\n\t\"a\" : \"b\"\r\n}", `{"a":"x{}:,[]'"}`, `{"":""}`} {
		t.Run(s, func(t *testing.T) {
			assert.True(t, isFlatObject([]byte(s)), s)
		})
	}
	for _, s := range []string{``, `{`, `}`, `{"}`, `{"a}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 2}`, `{"a":01}`, `{"a":-1}`, `{"a":1.5}`, `{"a":tru}`, `{"a":trues}`, "{\"a\n:1}", `{"a":"b}`, `{"a":"b\"}`,
		`{"a":{"b":1}}`, `{"a":[1]}`, `{"a":"\u0000"}`, `{"a":"é"}`, `{"a":1}}`, `[1]`, `{"a":1}{}`, "{\"a\":\"\x00\"}", `{"a":nul}`} {
		t.Run(s, func(t *testing.T) {
			assert.False(t, isFlatObject([]byte(s)), s)
		})
	}
}

// FuzzFlatObject checks that a text accepted as a flat object is an object without nested values and without a NUL.
func FuzzFlatObject(f *testing.F) {
	for _, s := range []string{`{"a":"b","c":12}`, `{"a" : null, "b":false}`, `{"a":"\\"}`, `{ "a":true }`, `{"a":"b"`, `{"":""}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !isFlatObject([]byte(s)) {
			return
		}
		if !json.Valid([]byte(s)) || checkJSON("x", []byte(s), 1) != nil || strings.ContainsRune(s, 0) {
			t.Fatalf("%q", s)
		}
	})
}
