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

// floors lists the rooms of the house, the top floor first. A package stands on the floor that names it or the longest
// prefix of it (a prefix ends in "/"); imports of this module run to lower floors only.
var floors = [][]string{
	{"examples/", "cmd/", "deploy/dev", "otel", "bench/cmd/", "bench/scale", "bench/neural", "bench/modernc", "models/e5-bge/build/", "models/change-multilingual/build/"},
	{"cmd/contextmem/internal/", "adapters/"},
	{"shared"},
	{"httpapi", "console", "client", "eval", "eval/persona", "bench", "internal/servicetest", "internal/behaviour"},
	{""},
	{"models/e5-bge", "internal/vectors", "internal/search", "internal/transfer", "internal/verify", "internal/erase", "internal/backup"},
	{"internal/intake", "internal/documents", "internal/recall", "internal/profile", "internal/explore", "internal/schedule", "connector/", "readers/", "models/change-multilingual", "models/e5-memory"},
	{"internal/workspace", "internal/connect", "internal/graph", "internal/rank", "internal/change", "models/", "connector/internal/", "backend/backendtest", "backend/sqlite/purego", "internal/models/modeltest"},
	{"internal/pipeline", "internal/metadata", "internal/lease", "internal/usage", "internal/feedback", "internal/webhook", "internal/access", "embed/neural", "rerank/neural", "judge/llm", "judge/neural", "facts/llm",
		"connector", "backend/inmem", "backend/local", "rerank/local", "internal/checkpoint/tiny"},
	{"extract/rules", "extract/llm", "internal/wire", "internal/checkpoint", "internal/parse", "internal/item", "internal/intact", "internal/slot", "internal/block", "embed/openai", "transcribe", "rerank/remote", "backend/sqlite", "backend/postgres", "backend/weaviate"},
	{"facts", "internal/transformer", "internal/lexical", "internal/vector", "embed/static", "internal/parse/mail", "internal/parse/office", "internal/parse/folder", "internal/parse/light"},
	{"internal/parse/markup", "internal/parse/chat"},
	{"internal/parse/text", "internal/parse/xmlscan", "internal/parse/archive"},
	{"internal/parse/charset", "internal/parse/output", "rerank", "embed/joint"},
	{"backend/sqlite/internal/", "internal/storerules", "internal/openset", "internal/move", "internal/language", "internal/cas", "document", "fault", "internal/parse/"},
	{"backend", "chat", "content", "extract", "judge", "embed", "internal/", "bench/internal/"},
	{"observe", "internal/models", "internal/simd"},
}

// floorOf returns the floor of a package, counted from the bottom, -1 for one without.
func floorOf(path string) int {
	best, floor := -1, -1
	for i, rooms := range floors {
		for _, room := range rooms {
			fits := path == room || strings.HasSuffix(room, "/") && strings.HasPrefix(path, room)
			if fits && len(room) > best {
				best, floor = len(room), len(floors)-1-i
			}
		}
	}
	return floor
}

// only lists packages that may import no others of this module than these, so that their users link nothing else.
var only = map[string][]string{
	"httpapi":            {"", "content", "facts", "fault", "document", "connector", "internal/reuse", "internal/meter", "internal/simd", "internal/wire"},
	"console":            {"", "content", "facts", "fault"},
	"client":             {"", "content", "facts", "fault", "internal/wire"},
	"backend":            {},
	"chat":               {},
	"content":            {},
	"document":           {},
	"extract":            {},
	"facts":              {"content"},
	"fault":              {"backend", "content"},
	"judge":              {"internal/models"},
	"embed":              {"internal/models"},
	"rerank":             {"internal/models"},
	"embed/":             {"embed", "internal/faults", "internal/language", "internal/modelhttp", "internal/simd", "internal/checkpoint", "internal/tokenize", "internal/transformer"},
	"rerank/":            {"internal/faults", "internal/modelhttp", "internal/lexical", "internal/checkpoint", "internal/tokenize", "internal/transformer"},
	"facts/":             {"facts", "internal/faults", "internal/block", "internal/modelhttp"},
	"judge/":             {"judge", "internal/faults", "internal/modelhttp", "internal/transformer"},
	"extract/":           {"extract", "internal/faults", "internal/language", "internal/lexical", "internal/modelhttp", "internal/numtable"},
	"connector/":         {"connector", "connector/internal/", "content", "document"},
	"transcribe":         {"document", "internal/faults", "internal/modelhttp"},
	"models/":            {"embed", "embed/joint", "embed/neural", "rerank", "rerank/neural", "judge", "judge/neural", "models/", "internal/tokenize", "internal/models"},
	"examples/":          {"", "content", "facts", "fault", "httpapi", "eval", "eval/persona", "backend", "backend/inmem", "embed", "embed/", "extract/", "rerank", "rerank/", "judge", "judge/", "connector/", "models/", "document", "transcribe"},
	"internal/parse/pdf": {},
}

// mayImport reports whether the rule for a package in only, if there is one, allows an import.
func mayImport(from, to string) bool {
	best, list := -1, []string(nil)
	for room, l := range only {
		fits := from == room || strings.HasSuffix(room, "/") && strings.HasPrefix(from, room)
		if fits && len(room) > best {
			best, list = len(room), l
		}
	}
	if best < 0 {
		return true
	}
	for _, room := range list {
		if to == room || strings.HasSuffix(room, "/") && strings.HasPrefix(to, room) {
			return true
		}
	}
	return false
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

// TestImportsRunDown: an arrow upwards, or between rooms of one floor, fails.
func TestImportsRunDown(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from := within(p.ImportPath)
		if floorOf(from) < 0 {
			t.Errorf("%q stands on no floor", from)
		}
		for _, i := range p.Imports {
			if i != module && !strings.HasPrefix(i, module+"/") {
				continue
			}
			to := within(i)
			if floorOf(to) >= floorOf(from) {
				t.Errorf("%q (floor %d) must not import %q (floor %d)", from, floorOf(from), to, floorOf(to))
			}
			if !mayImport(from, to) {
				t.Errorf("%q must not link %q into its users' programs", from, to)
			}
		}
	}
}

// within is an import path without that of the module.
func within(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

func TestAssertionsStayInTests(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if strings.HasSuffix(p.ImportPath, "/backendtest") || strings.HasSuffix(p.ImportPath, "/modeltest") || p.ImportPath == module+"/internal/servicetest" || p.ImportPath == module+"/internal/testtool" { // tests alone import these
			continue
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "github.com/stretchr/") || i == "testing" {
				t.Errorf("%s links %s into users' binaries", p.ImportPath, i)
			}
		}
	}
}
