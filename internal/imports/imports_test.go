// Package imports holds the import graph of the module in place.
package imports

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/contextmem/contextmem"

type pkg struct {
	ImportPath string
	Imports    []string
}

// mayImport lists, by package (longest prefix wins), what it may import of this
// module; "*" is everything.
var mayImport = map[string][]string{
	"":                    {"backend", "internal/", "extract", "extract/rules", "backend/sqlite", "backend/local", "embed/static"},
	"backend":             {},
	"backend/sqlite":      {"backend"},
	"backend/local":       {"backend", "internal/"},
	"backend/inmem":       {"backend", "internal/lexical", "internal/item"},
	"backend/backendtest": {"backend", "backend/inmem", "internal/item"},
	"embed/":              {"internal/modelhttp"},
	"embed/static":        {"internal/simd"},
	"extract":             {},
	"extract/":            {"extract"},
	"internal/":           {"backend", "internal/", "extract", "extract/rules"},
	"internal/recall":     {"backend", "internal/", "extract/rules", "rerank/local"},
	"rerank/":             {"", "internal/modelhttp"},
	"rerank/local":        {"internal/lexical"},
	"httpapi":             {""},
	"eval":                {""},
	"connector/":          {"", "connector/internal/"},
	"bench":               {"", "backend", "backend/inmem", "backend/local", "embed/static", "internal/"},
	"bench/":              {"bench"},
	"examples/":           {"", "httpapi", "eval", "backend", "backend/inmem", "embed/openai", "extract/llm"},
}

func allowed(from, to string) bool {
	best, list := -1, []string(nil)
	for prefix, l := range mayImport {
		match := from == prefix || strings.HasSuffix(prefix, "/") && strings.HasPrefix(from, prefix)
		if match && len(prefix) > best {
			best, list = len(prefix), l
		}
	}
	for _, a := range list {
		if to == a || strings.HasSuffix(a, "/") && strings.HasPrefix(to, a) {
			return true
		}
	}
	return strings.HasPrefix(to, from+"/internal/")
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	require.NoError(t, err)
	var ps []pkg
	d := json.NewDecoder(strings.NewReader(string(out)))
	for d.More() {
		var p pkg
		require.NoError(t, d.Decode(&p))
		ps = append(ps, p)
	}
	require.NotEmpty(t, ps)
	return ps
}

func TestImportGraph(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, i := range p.Imports {
			if i != module && !strings.HasPrefix(i, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(i, module), "/")
			if !allowed(from, to) {
				t.Errorf("%q must not import %q", from, to)
			}
		}
	}
}

func TestAssertionsStayInTests(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if strings.HasSuffix(p.ImportPath, "/backendtest") {
			continue
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "github.com/stretchr/") || i == "testing" {
				t.Errorf("%s links %s into users' binaries", p.ImportPath, i)
			}
		}
	}
}
