package doccheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parameters are the fields of errors that Go callers pass as parameters, by the folder that makes the error and the name of the parameter.
var parameters = map[[2]string]bool{{".", "key"}: true, {".", "limit"}: true, {"client", "address"}: true, {"internal/connect", "limit"}: true,
	{"internal/explore", "ids"}: true, {"internal/explore", "reason"}: true, {"internal/vectors", "limit"}: true}

// wireFolders name fields as their own callers write them: over REST, in a file, on a command line.
var wireFolders = []string{"httpapi", "console", "cmd", "adapters", "internal/transfer", "examples"}

// TestErrorsNameGoFields checks that errors of the library name a field as Go callers write it. Package httpapi translates.
func TestErrorsNameGoFields(t *testing.T) {
	t.Parallel()
	checked := 0
	eachGoFile(t, func(path string, text []byte) {
		rel, err := filepath.Rel(root, path)
		require.NoError(t, err)
		for _, f := range wireFolders {
			if strings.HasPrefix(filepath.ToSlash(rel), f+"/") {
				return
			}
		}
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			name, ok := fieldOfError(n)
			if !ok {
				return true
			}
			checked++
			name = strings.TrimLeft(name, "[]%d.")
			if name != "" && !parameters[[2]string{filepath.ToSlash(filepath.Dir(rel)), name}] && !unicode.IsUpper(rune(name[0])) {
				assert.Fail(t, "an error names a field that no Go caller wrote", "%s: %q", fset.Position(n.Pos()), name)
			}
			return true
		})
	})
	assert.Greater(t, checked, 100, "the walk found the errors")
}

// fieldOfError returns the last literal of the field that a node gives to an error.
func fieldOfError(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		at, known := map[string]int{"Fieldf": 3, "CheckText": 1}[f.Sel.Name]
		if known && at < len(n.Args) {
			return lastLiteral(n.Args[at])
		}
	case *ast.CompositeLit:
		typ, ok := n.Type.(*ast.SelectorExpr)
		if !ok || typ.Sel.Name != "Error" {
			return "", false
		}
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if k, ok := kv.Key.(*ast.Ident); ok && k.Name == "Field" {
					return lastLiteral(kv.Value)
				}
			}
		}
	}
	return "", false
}

func lastLiteral(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		return lastLiteral(e.Y)
	}
	return "", false
}
