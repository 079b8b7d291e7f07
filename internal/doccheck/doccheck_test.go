// Package doccheck holds the documentation of the public packages in place.
package doccheck

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// publicDirs returns the folders of the module's public packages, relative to the module. Folders named internal,
// testdata, bench, cmd and examples, and folders with a go.mod of their own, hold none.
func publicDirs(t *testing.T) []string {
	t.Helper()
	var dirs []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch name := d.Name(); {
		case path == root:
		case name == "internal", name == "testdata", name == "bench", name == "cmd", name == "examples", strings.HasPrefix(name, "."):
			return filepath.SkipDir
		default:
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir
			}
		}
		if sources, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || len(sources) > 0 {
			rel, relErr := filepath.Rel(root, path)
			if relErr != nil {
				return relErr
			}
			dirs = append(dirs, rel)
			return err
		}
		return nil
	}))
	return dirs
}

// parsed is the syntax of the Go files of a folder, without its tests.
func parsed(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	return set, files
}

// undocumented returns the exported names of files that no comment documents: functions, types, methods (those of
// unexported types too, when an exported type shows them by embedding), constants and variables. A package without a
// package comment is listed as "package".
func undocumented(set *token.FileSet, path string, files []*ast.File) ([]string, error) {
	p, err := doc.NewFromFiles(set, files, path)
	if err != nil {
		return nil, err
	}
	var missing []string
	check := func(text, name string) {
		if strings.TrimSpace(text) == "" {
			missing = append(missing, name)
		}
	}
	funcs := func(prefix string, fs []*doc.Func) {
		for _, f := range fs {
			check(f.Doc, prefix+f.Name)
		}
	}
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			if v.Doc != "" {
				continue
			}
			for _, s := range v.Decl.Specs {
				if spec := s.(*ast.ValueSpec); ast.IsExported(spec.Names[0].Name) && spec.Doc == nil && spec.Comment == nil {
					missing = append(missing, spec.Names[0].Name)
				}
			}
		}
	}
	check(p.Doc, "package")
	funcs("", p.Funcs)
	values(p.Consts)
	values(p.Vars)
	for _, t := range p.Types {
		check(t.Doc, t.Name)
		funcs("", t.Funcs)
		funcs(t.Name+".", t.Methods)
		values(t.Consts)
		values(t.Vars)
		missing = append(missing, interfaceMethods(t)...)
	}
	return missing, nil
}

// wellKnown are methods of interfaces whose name says all, as in the standard library.
var wellKnown = map[string]bool{"Error": true, "String": true, "Close": true, "Unwrap": true}

// interfaceMethods returns the exported methods of an interface type that have no comment.
func interfaceMethods(t *doc.Type) []string {
	var missing []string
	for _, s := range t.Decl.Specs {
		i, ok := s.(*ast.TypeSpec).Type.(*ast.InterfaceType)
		if !ok || len(i.Methods.List) < 2 { // the comment of the type speaks of its only method
			continue
		}
		for _, m := range i.Methods.List {
			if len(m.Names) == 1 && m.Names[0].IsExported() && !wellKnown[m.Names[0].Name] && m.Doc == nil && m.Comment == nil {
				missing = append(missing, t.Name+"."+m.Names[0].Name)
			}
		}
	}
	return missing
}

// TestExportedNamesAreDocumented: every exported name of a public package has a comment.
func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	dirs := publicDirs(t)
	require.Contains(t, dirs, ".")
	require.Contains(t, dirs, "fault")
	require.Contains(t, dirs, filepath.Join("backend", "sqlite"))
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			set, files := parsed(t, dir)
			if len(files) == 0 {
				return
			}
			missing, err := undocumented(set, dir, files)
			require.NoError(t, err)
			require.Empty(t, missing)
		})
	}
}

// TestCommentsNameWhatTheyDocument: the comment of a function or type begins with its name, with or without an article, as
// go doc's readers expect.
func TestCommentsNameWhatTheyDocument(t *testing.T) {
	t.Parallel()
	for _, dir := range publicDirs(t) {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			set, files := parsed(t, dir)
			if len(files) == 0 {
				return
			}
			p, err := doc.NewFromFiles(set, files, dir)
			require.NoError(t, err)
			var wrong []string
			check := func(text, name string) {
				if !strings.HasPrefix(text, "Deprecated:") && !beginsWith(text, name) {
					wrong = append(wrong, name)
				}
			}
			for _, f := range p.Funcs {
				check(f.Doc, f.Name)
			}
			for _, x := range p.Types {
				check(x.Doc, x.Name)
				for _, f := range append(x.Funcs, x.Methods...) {
					check(f.Doc, f.Name)
				}
			}
			require.Empty(t, wrong)
		})
	}
}

// beginsWith reports whether the first words of a comment name name.
func beginsWith(text, name string) bool {
	words := strings.Fields(text)
	for _, w := range words[:min(len(words), 2)] {
		if strings.Trim(w, ",.:;'s") == strings.Trim(name, "s") || strings.TrimSuffix(strings.Trim(w, ",.:;"), "'s") == name {
			return true
		}
	}
	return false
}

// TestUndocumentedFinds: the check sees each kind of exported name.
func TestUndocumentedFinds(t *testing.T) {
	t.Parallel()
	const source = `package p

type Bare struct{}

func (Bare) Method() {}

func Function() {}

const Constant = 1

var (
	Variable int
	Said     int // this one has a comment
)

// Pair is documented, but not all of its methods.
type Pair interface {
	// One is documented.
	One()
	Two()
}

type hidden struct{}

func (hidden) Promoted() {}

// Shown shows what hidden can do.
type Shown struct{ hidden }
`
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", source, parser.ParseComments)
	require.NoError(t, err)
	missing, err := undocumented(set, "p", []*ast.File{f})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"package", "Bare", "Bare.Method", "Function", "Constant", "Variable", "Pair.Two", "Shown.Promoted"}, missing)
}
