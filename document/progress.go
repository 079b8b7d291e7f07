package document

import "context"

// progressKey carries what is told how far reading has come.
type progressKey struct{}

// WithProgress returns a context under which slow readers tell f how far they are: pages of a scan, minutes of a recording.
// f is called by one goroutine at a time and must not block. total is 0 where the reader does not know it.
func WithProgress(ctx context.Context, f func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress tells the function of [WithProgress] how far reading has come; without one it does nothing. An [OCR] calls it
// after each page.
func Progress(ctx context.Context, done, total int) {
	if f, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		f(done, total)
	}
}
