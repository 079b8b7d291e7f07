package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// worseThan reads benchstat's CSV output for two files and returns the benchmarks that are worse in the second by more than limit per cent.
// For rates (units per second) a higher value is better; for all other units a lower one. A difference that is not significant is ignored.
func worseThan(table io.Reader, limit float64) ([]string, error) {
	r := csv.NewReader(table)
	r.FieldsPerRecord = -1
	var worse []string
	unit, tables := "", 0
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the table of benchstat: %w", err)
		}
		if at := slices.Index(row, "vs base"); at >= 0 {
			unit = row[1]
			tables++
			continue
		}
		if unit == "" || len(row) < 6 || row[0] == "geomean" || row[5] == "~" || row[5] == "" {
			continue
		}
		by, err := strconv.ParseFloat(strings.TrimSuffix(row[5], "%"), 64)
		if err != nil { // "?" where one of the two is zero
			continue
		}
		if strings.HasSuffix(unit, "/s") {
			by = -by
		}
		if by > limit {
			worse = append(worse, fmt.Sprintf("%s: %s %s", row[0], row[5], unit))
		}
	}
	if tables == 0 {
		return nil, fmt.Errorf("benchstat compared nothing")
	}
	return worse, nil
}
