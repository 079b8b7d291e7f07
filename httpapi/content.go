package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/contextmem/contextmem"
)

// content serves a presigned URL. The token in the URL is the authorisation, so no key is needed.
func (a *api) content(w http.ResponseWriter, r *http.Request) {
	id := requestID(w)
	f, err := a.svc.OpenPresigned(r.Context(), r.PathValue("token"))
	if err != nil {
		a.call(w, r, &route{family: gen1, path: contextmem.PresignedPath}, id).fail(err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", safeType(f.ContentType))
	h.Set("Content-Disposition", disposition(f))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
	h.Set("Referrer-Policy", "no-referrer")
	rs, ok := f.Reader().(io.ReadSeeker)
	if !ok {
		a.call(w, r, &route{family: gen1, path: contextmem.PresignedPath}, id).fail(errors.New("content can't be sought"))
		return
	}
	ranged := &rangeWriter{ResponseWriter: w}
	http.ServeContent(ranged, r, "", time.Time{}, rs)
	if ranged.refused {
		h.Del("Content-Disposition")
		a.call(w, r, &route{family: gen1, path: contextmem.PresignedPath}, id).fail(&statusError{http.StatusRequestedRangeNotSatisfiable, "RANGE_NOT_SATISFIABLE", "no requested range lies inside the content"})
	}
}

// rangeWriter drops the text of net/http's error response for an invalid range.
type rangeWriter struct {
	http.ResponseWriter
	refused bool
}

// WriteHeader implements http.ResponseWriter.
func (w *rangeWriter) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (w *rangeWriter) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// safeType replaces content types that browsers execute.
func safeType(t string) string {
	mt, params, err := mime.ParseMediaType(t)
	if err != nil {
		return "application/octet-stream"
	}
	switch {
	case mt == "application/pdf", mt == "application/json", mt == "text/plain", mt == "text/markdown", mt == "text/csv",
		strings.HasPrefix(mt, "application/vnd."), mt == "image/png", mt == "image/jpeg", mt == "image/gif", mt == "image/webp":
		return mime.FormatMediaType(mt, params)
	case strings.HasPrefix(mt, "text/"):
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// disposition makes the browser download every file. It removes characters from the name that could break the header.
func disposition(f *contextmem.Fetched) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '/' || r == '\\' || r == '"' {
			return '_'
		}
		return r
	}, path.Base(f.Filename))
	if f.Filename == "" {
		name = "content"
	}
	if d := mime.FormatMediaType("attachment", map[string]string{"filename": name}); d != "" {
		return d
	}
	return "attachment"
}
