package text

import (
	"context"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// TestCleanTextIsShared checks that a text that needs no change shares the file's memory, and that one that needs changes does not modify
// the file.
func TestCleanTextIsShared(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		data, want string
		shared     bool
	}{
		"plain":           {"One line,\n\tanother: größer.\n \n", "One line,\n\tanother: größer.", true},
		"byte order mark": {"\ufeffOne line.", "One line.", true},
		"carriage return": {"One\r\ntwo", "One\ntwo", false},
		"control":         {"One\x01 two", "One two", false},
		"delete":          {"One\x7f two", "One two", false},
		"form feed":       {"One\ftwo", "One\ntwo", false},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(x.data)
			doc, err := Parse(context.Background(), document.Input{Data: data}, document.Limits{MaxOutput: 1 << 20})
			require.NoError(t, err)
			require.Equal(t, x.want, doc.Text)
			require.Equal(t, x.data, string(data))
			at, from := uintptr(unsafe.Pointer(unsafe.StringData(doc.Text))), uintptr(unsafe.Pointer(&data[0]))
			require.Equal(t, x.shared, at >= from && at < from+uintptr(len(data)))
			require.Equal(t, x.shared, output.IsClean(data))
		})
	}
}
