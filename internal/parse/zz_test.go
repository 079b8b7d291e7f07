package parse

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/contextmem/contextmem/document"
)

func TestZZ(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("FILES")) {
		d, _ := os.ReadFile(f)
		doc, err := New().Parse(t.Context(), document.Input{Name: f, Data: d}, document.Limits{})
		if err != nil {
			fmt.Println("=====", f, err)
			continue
		}
		fmt.Printf("===== %s %s title=%q partial=%q meta=%v pages=%v\n%s\n", f, doc.MediaType, doc.Title, doc.Partial, doc.Meta, len(doc.Pages), doc.Text)
	}
}
