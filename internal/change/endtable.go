package change

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed endings.txt
var endingsText string

// endingTable is what endings.txt says.
type endingTable struct {
	class    map[string]map[string]bool // words of things by class
	beside   map[string]map[string]bool // words that make another thing of them
	diets    map[string][]string        // classes that a diet excludes
	names    map[string]string          // class by its names in endings
	does     map[string]map[string]bool // words of an activity by its verb
	activity map[string]string          // verb by the words of its activity
	means    map[string]map[string]bool // words that stand for what a name of an ending names
	same     map[string]string          // name of an activity by the words for it and for its place
}

// endTable returns what endings.txt says.
var endTable = sync.OnceValue(func() *endingTable {
	t := &endingTable{map[string]map[string]bool{}, map[string]map[string]bool{}, map[string][]string{}, map[string]string{}, map[string]map[string]bool{}, map[string]string{}, map[string]map[string]bool{}, map[string]string{}}
	for line := range strings.Lines(endingsText) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, list, _ := strings.Cut(rest, ": ")
		switch kind {
		case "class":
			t.class[name] = words(list)
		case "beside":
			t.beside[name] = words(list)
		case "means":
			t.means[name] = words(list)
		case "same":
			for w := range words(list) {
				t.same[w] = name
			}
		case "names":
			for w := range strings.SplitSeq(list, ", ") {
				t.names[w] = name
			}
		case "does":
			t.does[name] = words(list)
			for w := range words(list) {
				t.activity[w] = name
			}
		case "diet":
			of, classes, _ := strings.Cut(rest, " | ")
			for d := range strings.SplitSeq(of, ", ") {
				t.diets[d] = strings.Fields(classes)
			}
		}
	}
	return t
})

// dietNames returns an expression with a group that matches the names of diets.
func dietNames() string {
	var all []string
	for d := range maps.Keys(endTable().diets) {
		all = append(all, regexp.QuoteMeta(d))
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return `(` + strings.Join(all, "|") + `)`
}

// classWord returns the first word of a clause that names a thing of some classes, empty if there is none.
func (t *endingTable) classWord(all, classes []string) string {
	for i, w := range all {
		for _, c := range classes {
			if t.class[c][w] && !(i > 0 && t.beside[c][all[i-1]]) && !(i+1 < len(all) && t.beside[c][all[i+1]]) {
				return w
			}
		}
	}
	return ""
}
