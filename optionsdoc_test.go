package contextmem_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestOptionsDocNamesEveryField: the comment of Options lists each field once, so that a reader finds it by its subject.
func TestOptionsDocNamesEveryField(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(gotoken.NewFileSet(), "options.go", nil, parser.ParseComments)
	require.NoError(t, err)
	doc := ""
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == gotoken.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == "Options" {
			doc = g.Doc.Text()
		}
	}
	times := map[string]int{}
	for _, line := range regexp.MustCompile(`(?m)^  - .*$`).FindAllString(doc, -1) {
		for _, name := range regexp.MustCompile(`\b[A-Z]\w+`).FindAllString(line, -1) {
			times[name]++
		}
	}
	for field := range reflect.TypeFor[contextmem.Options]().Fields() {
		if field.IsExported() {
			require.Equal(t, 1, times[field.Name], field.Name)
		}
	}
}
