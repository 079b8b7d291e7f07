package item

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithoutFingerprint: the fingerprint is the last member of a record, and nothing else is taken for it.
func TestWithoutFingerprint(t *testing.T) {
	t.Parallel()
	encode := func(d Doc) []byte {
		b, err := d.Encode()
		require.NoError(t, err)
		return b
	}
	for name, tc := range map[string]struct{ a, b Doc }{
		"alone":       {Doc{Fingerprint: []byte("0123456789abcdef")}, Doc{Fingerprint: []byte("fedcba9876543210")}},
		"with others": {Doc{URL: "u", Fingerprint: []byte("0123456789abcdef")}, Doc{URL: "u", Fingerprint: []byte("fedcba9876543210")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, WithoutFingerprint(encode(tc.a)), WithoutFingerprint(encode(tc.b)))
			require.NotContains(t, string(WithoutFingerprint(encode(tc.a))), `"fp"`)
		})
	}
	for name, d := range map[string]Doc{
		"no fingerprint":          {URL: "u"},
		"in free members":         {Meta: json.RawMessage(`{"fp":"MDEyMw=="}`)},
		"in a text":               {Note: `"fp":"MDEyMw=="}`},
		"in fields of an app":     {App: &App{Fields: json.RawMessage(`{"fp":"MDEyMw=="}`)}},
		"in relations, and other": {ForcefulRelations: json.RawMessage(`{"fp":"MDEyMw=="}`), Folder: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, string(encode(d)), string(WithoutFingerprint(encode(d))))
		})
	}
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, WithoutFingerprint(nil))
	})
}
