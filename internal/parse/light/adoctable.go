package light

import (
	"encoding/csv"
	"strconv"
	"strings"
)

// delimitedTable reads the rows of a table. A row ends with its line, or has as many cells as the first.
func (a *asciidoc) delimitedTable(fence string, body []string) {
	if fence[0] != '|' && fence[0] != '!' {
		var rows [][]string
		for _, l := range body {
			c := csv.NewReader(strings.NewReader(l))
			c.LazyQuotes = true
			if fence[0] == ':' {
				c.Comma = ':'
			}
			if row, err := c.Read(); err == nil {
				for i := range row {
					row[i] = a.inline(strings.TrimSpace(row[i]))
				}
				rows = append(rows, row)
			}
		}
		a.table(rows)
		return
	}
	var cells []string
	cols := 0
	for i, l := range body {
		l = strings.ReplaceAll(l, `\|`, "\x00")
		if fence[0] == '!' {
			l = strings.ReplaceAll(l, "!", "|")
		}
		at := adocCell.FindAllStringSubmatchIndex(l, -1)
		if len(at) == 0 {
			if n := len(cells); n > 0 && strings.TrimSpace(l) != "" {
				cells[n-1] += " " + strings.TrimSpace(l)
			}
			continue
		}
		if lead := strings.TrimSpace(l[:at[0][0]]); lead != "" && len(cells) > 0 {
			cells[len(cells)-1] += " " + lead
		}
		for k, m := range at {
			end := len(l)
			if k+1 < len(at) {
				end = at[k+1][0]
			}
			cell := strings.TrimSpace(strings.ReplaceAll(l[m[1]:end], "\x00", "|"))
			cells = append(cells, cell)
			for range spanOf(l, m) - 1 {
				cells = append(cells, "")
			}
		}
		if cols == 0 && (i+1 == len(body) || i > 0 || strings.TrimSpace(body[i+1]) == "" || len(cells) > 1) {
			cols = len(cells)
		}
	}
	if a.cols > 0 {
		cols = a.cols
	}
	cols, a.cols = max(cols, 1), 0
	var rows [][]string
	for ; len(cells) > 0; cells = cells[min(cols, len(cells)):] {
		row := cells[:min(cols, len(cells))]
		for i := range row {
			row[i] = a.inline(row[i])
		}
		rows = append(rows, row)
	}
	a.table(rows)
}

// colsOf returns the number of table columns that an attribute list declares. cols="1,2*" declares three.
func colsOf(attrs string) int {
	m := adocCols.FindStringSubmatch(attrs)
	if m == nil {
		return 0
	}
	n := 0
	for _, c := range strings.Split(strings.ReplaceAll(m[1]+m[2], ";", ","), ",") {
		times, _, ok := strings.Cut(strings.TrimSpace(c), "*")
		k, err := strconv.Atoi(times)
		if !ok || err != nil {
			k = 1
		}
		n += max(0, min(k, 64))
	}
	return min(n, 256)
}

func spanOf(l string, m []int) int {
	n := 1
	if m[2] >= 0 {
		n = 0
		for _, c := range l[m[2]:m[3]] {
			n = min(n*10+int(c-'0'), 64)
		}
	}
	return max(n, 1)
}

// list writes items until something else begins.
