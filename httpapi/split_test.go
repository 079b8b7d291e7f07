package httpapi

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSplit checks that an object and an array are split into the values that encoding/json finds.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{`{}`, ` { "a" : 1 , "b\"\\" : [ "]}" , {"c":null} ] ,"a":-2e3,"é\u00e9":"" } `, `[]`, `[ 1 , "a,]" ,[[]],{"x":{}} ]`, `[null,true]`, `{"":false}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			return
		}
		b = bytes.TrimSpace(b)
		switch b[0] {
		case '{':
			var want map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(b, &want))
			if checkJSON("", b, len(b)) != nil { // encoding/json replaces what is not UTF-8; bodies hold none such
				return
			}
			for _, text := range []string{"", string(b)} {
				got := map[string]json.RawMessage{}
				split(b, text, func(k string, v member) {
					got[k] = v.json
					if text != "" {
						require.Equal(t, string(v.json), v.raw)
					}
				})
				require.Equal(t, want, got)
			}
		case '[':
			want, got := []json.RawMessage{}, []json.RawMessage{}
			require.NoError(t, json.Unmarshal(b, &want))
			require.NoError(t, elementsOf(b, func(_ int, v json.RawMessage) error { got = append(got, v); return nil }))
			require.Equal(t, want, got)
		}
	})
}
