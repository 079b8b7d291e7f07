package light

import (
	"encoding/csv"
	"maps"
	"slices"
	"strings"
)

func (r *rst) csvTable(header string, body []string) {
	var rows [][]string
	for _, l := range append([]string{header}, body...) {
		c := csv.NewReader(strings.NewReader(l))
		c.LazyQuotes, c.TrimLeadingSpace = true, true
		if row, err := c.Read(); err == nil {
			rows = append(rows, r.inlines(row))
		}
	}
	r.table(rows)
}

// listTable reads a table that is a list of lists.
func (r *rst) listTable(body []string) {
	var rows [][]string
	for _, l := range body {
		t := strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(t, "* - "); ok {
			rows = append(rows, []string{rest})
		} else if rest, ok := strings.CutPrefix(t, "- "); ok && len(rows) > 0 {
			rows[len(rows)-1] = append(rows[len(rows)-1], rest)
		} else if n := len(rows); n > 0 && t != "" {
			row := rows[n-1]
			row[len(row)-1] += " " + t
		}
	}
	for i := range rows {
		rows[i] = r.inlines(rows[i])
	}
	r.table(rows)
}

func (r *rst) inlines(cells []string) []string {
	for i := range cells {
		cells[i] = r.inline(strings.TrimSpace(cells[i]))
	}
	return cells
}

// gridTable reads a table whose cell borders are drawn with + - and |. A cell belongs to the column in which it begins.
func (r *rst) gridTable(lines []string) int {
	n := 0
	for n < len(lines) && (strings.HasPrefix(lines[n], "+") || strings.HasPrefix(lines[n], "|")) {
		n++
	}
	cols := map[int]bool{}
	for _, l := range lines[:n] {
		if l[0] == '+' {
			for i := range len(l) {
				if l[i] == '+' {
					cols[i] = true
				}
			}
		}
	}
	var rows [][]string
	var row map[int]string
	flush := func() {
		if row == nil {
			return
		}
		var cells []string
		for _, i := range slices.Sorted(maps.Keys(cols)) {
			cells = append(cells, row[i])
		}
		rows = append(rows, r.inlines(cells[:max(0, len(cells)-1)]))
		row = nil
	}
	for _, l := range lines[:n] {
		if l[0] == '+' && strings.Trim(l, "+-= ") == "" {
			flush()
			continue
		}
		runes := []rune(l)
		start := 0
		for i := 1; i < len(runes); i++ {
			if (runes[i] == '|' || runes[i] == '+') && (cols[i] || i == len(runes)-1) {
				if row == nil {
					row = map[int]string{}
				}
				cell := strings.TrimSpace(string(runes[start+1 : i]))
				if strings.Trim(cell, "-=+") != "" {
					row[start] = strings.TrimSpace(row[start] + " " + cell)
				}
				start = i
			}
		}
	}
	flush()
	r.table(rows)
	return n
}

// simpleTable reads a table whose columns are underlined by =.
func (r *rst) simpleTable(lines []string) int {
	type column struct{ from, to int }
	var cols []column
	for i, rule := 0, lines[0]; i < len(rule); {
		if rule[i] != '=' {
			i++
			continue
		}
		from := i
		for i < len(rule) && rule[i] == '=' {
			i++
		}
		cols = append(cols, column{from, i})
	}
	var rows [][]string
	n, rules := 1, 1
	for ; n < len(lines); n++ {
		l := strings.TrimRight(lines[n], " ")
		if rstSimpleRule.MatchString(l) {
			rules++
			if rules == 3 || rules == 2 && (n+1 == len(lines) || strings.TrimSpace(lines[n+1]) == "") {
				n++
				break
			}
			continue
		}
		if l == "" || strings.Trim(l, "- ") == "" {
			continue
		}
		runes := []rune(l)
		row := make([]string, len(cols))
		for k, c := range cols {
			to := len(runes)
			if k+1 < len(cols) {
				to = cols[k+1].from
			}
			if c.from < len(runes) {
				row[k] = strings.TrimSpace(string(runes[c.from:min(max(to, c.from), len(runes))]))
			}
		}
		if row[0] == "" && len(rows) > 0 { // it continues the row above
			last := rows[len(rows)-1]
			for k := range row {
				last[k] = strings.TrimSpace(last[k] + " " + row[k])
			}
			continue
		}
		rows = append(rows, row)
	}
	for i := range rows {
		rows[i] = r.inlines(rows[i])
	}
	r.table(rows)
	return n
}

// inline converts inline markup to Markdown: links, code, notes and substitutions.
