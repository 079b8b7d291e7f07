package language

import (
	"iter"
	"strings"
)

// TableLines yields the lines of a table without comments and empty lines.
func TableLines(table string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(table) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// tableWords yields the words of a table without comments.
func tableWords(table string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range TableLines(table) {
			for w := range strings.FieldsSeq(line) {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// TableSections divides a table at its lines "@ name" and returns the sections by name. Comments are dropped.
func TableSections(table string) map[string]string {
	sections := make(map[string]string)
	name := ""
	for line := range TableLines(table) {
		if head, ok := strings.CutPrefix(line, "@ "); ok {
			name = head
			continue
		}
		if sections[name] != "" {
			line = "\n" + line
		}
		sections[name] += line
	}
	return sections
}
