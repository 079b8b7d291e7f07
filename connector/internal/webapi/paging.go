package webapi

import (
	"context"
	"strings"
)

// Pages asks for one page of a listing after the other until one says that it is the last, or visit returns false. ask
// gets the cursor of the page, empty for the first, and returns that of the next, empty at the end. A cursor that comes
// twice in a row ends the listing.
func Pages(ctx context.Context, ask func(ctx context.Context, cursor string) (next string, goOn bool, err error)) error {
	for cursor := ""; ; {
		next, goOn, err := ask(ctx, cursor)
		if err != nil || !goOn || next == "" || next == cursor {
			return err
		}
		cursor = next
	}
}

// Size is the number of objects to ask for at once: limit where it is within 1 and most, else most.
func Size(limit, most int) int {
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

// Clip cuts s to at most n bytes between runes.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
