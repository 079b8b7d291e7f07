// Package paging turns pages with cursors into iterators.
package paging

import "iter"

// All yields the items of all pages. read returns the page at a cursor and the cursor of the next page, which is empty after
// the last page. The first call of read gets the cursor first. An error is yielded once, at the end.
func All[T any](first string, read func(cursor string) (page []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := first; ; {
			page, next, err := read(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, x := range page {
				if !yield(x, nil) {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}
