package doccheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxComplexity is the maximum cyclomatic complexity of a function: one more than the number of its branches. A function with more of them
// has parts that can be named.
const maxComplexity = 30

// TestFunctionsStaySimple checks the functions of all modules, those of tests aside.
func TestFunctionsStaySimple(t *testing.T) {
	t.Parallel()
	functions, branchy := 0, []string{}
	fset := token.NewFileSet()
	eachGoFile(t, func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			functions++
			if n := complexity(decl); n > maxComplexity {
				branchy = append(branchy, fmt.Sprintf("%s: complexity %d", fset.Position(decl.Pos()), n))
			}
		}
	})
	assert.Empty(t, branchy, "name the parts of these functions")
	assert.Greater(t, functions, 5000, "the walk found the functions")
}

// complexity returns one more than the number of branches within n: conditions, loops, cases and the operators && and ||.
func complexity(n ast.Node) int {
	count := 1
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			count++
		case *ast.CaseClause:
			if n.List != nil { // not the default
				count++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				count++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				count++
			}
		}
		return true
	})
	return count
}

// TestComplexity counts the branches of one function of each kind.
func TestComplexity(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		``:                                       1,
		`if a && b || c { return }`:              4,
		`for range 3 { for a { } }`:              3,
		`switch { case a, b: case c: default: }`: 3,
		`select { case <-x: default: }`:          2,
		`defer func() { if a { return } }(); x := a && b; _ = x`: 3,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+body+"}", 0)
		require.NoError(t, err)
		assert.Equal(t, want, complexity(file.Decls[0]), body)
	}
}
