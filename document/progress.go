package document

import "context"

// progressKey is the context key of the progress function.
type progressKey struct{}

// WithProgress returns a context under which slow readers report their progress to f, in pages of a scan or minutes of a recording.
// f is called by one goroutine at a time and must not block. total is 0 when the reader does not know it.
func WithProgress(ctx context.Context, f func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress reports the progress of a reader to the function of [WithProgress]. Without such a function it does nothing.
// An [OCR] calls it after each page.
func Progress(ctx context.Context, done, total int) {
	if f, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		f(done, total)
	}
}
