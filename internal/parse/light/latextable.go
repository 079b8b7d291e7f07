package light

import (
	"strconv"
	"strings"
)

// tabular writes the rows of a table.
func (l *latex) tabular(body string) {
	var rows [][]string
	for _, line := range splitAt(body, `\\`) {
		_, line, _ = option(strings.TrimPrefix(line, "*"))
		for {
			t := strings.TrimSpace(line)
			name, rest := "", ""
			if strings.HasPrefix(t, `\`) {
				name, rest = command(t[1:])
			}
			switch name {
			case "hline", "toprule", "midrule", "bottomrule", "endhead", "endfirsthead", "endfoot", "endlastfoot", "addlinespace", "noalign", "cline", "cmidrule", "specialrule":
				line = rest
				if strings.HasPrefix(line, "(") {
					_, line, _ = strings.Cut(line, ")")
				}
				_, line, _ = option(line)
				for {
					_, after, ok := l.argument(line)
					if !ok {
						break
					}
					line = after
				}
				continue
			}
			break
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		var row []string
		for _, cell := range splitAt(line, "&") {
			t, span := strings.TrimSpace(cell), 1
			for _, spanning := range []string{`\multicolumn`, `\multirow`} {
				rest, ok := strings.CutPrefix(t, spanning)
				if !ok {
					continue
				}
				_, rest, _ = option(rest)
				n, rest, _ := l.argument(rest)
				_, rest, _ = option(rest)
				_, rest, _ = l.argument(rest)
				_, rest, _ = option(rest)
				if inner, after, ok := l.argument(rest); ok {
					t = strings.TrimSpace(inner + after)
				}
				if k, err := strconv.Atoi(n); err == nil && spanning == `\multicolumn` {
					span = max(1, min(k, 64))
				}
			}
			row = append(row, strings.Join(strings.Fields(l.inline(t)), " "))
			for range span - 1 {
				row = append(row, "")
			}
		}
		rows = append(rows, row)
	}
	l.table(rows)
}

// splitAt splits a text at each mark that is outside braces and environments.
func splitAt(s, mark string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case depth == 0 && strings.HasPrefix(s[i:], mark):
			out = append(out, s[from:i])
			i += len(mark) - 1
			from = i + 1
		case strings.HasPrefix(s[i:], `\begin{`):
			depth++
			i += len(`\begin{`) - 1
			for i < len(s) && s[i] != '}' {
				i++
			}
		case strings.HasPrefix(s[i:], `\end{`):
			depth = max(0, depth-1)
			i += len(`\end{`) - 1
			for i < len(s) && s[i] != '}' {
				i++
			}
		case s[i] == '\\':
			i++
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth = max(0, depth-1)
		}
	}
	return append(out, s[from:])
}
