package webapi

import (
	"context"
	"strings"
)

// Pages walks a paged listing until its last page or until visit returns false. ask takes a page's cursor, empty for the
// first page, and returns the next page's cursor, empty after the last. The listing also ends when a cursor repeats.
func Pages(ctx context.Context, ask func(ctx context.Context, cursor string) (next string, goOn bool, err error)) error {
	for cursor := ""; ; {
		next, goOn, err := ask(ctx, cursor)
		if err != nil || !goOn || next == "" || next == cursor {
			return err
		}
		cursor = next
	}
}

// Size returns the number of objects to request: limit when it is in [1, most], else most.
func Size(limit, most int) int {
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

// Clip cuts s to at most n bytes at a rune boundary.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
