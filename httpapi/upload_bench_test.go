package httpapi

import (
	"bytes"
	"fmt"
	"html"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// resident returns a line of this process's memory in bytes: VmRSS is the current size, VmHWM the maximum since its
// last reset.
func resident(tb testing.TB, line string) float64 {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("memory is read from /proc")
	}
	m := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(tb, m)
	n, err := strconv.Atoi(string(m[1]))
	require.NoError(tb, err)
	return float64(n) * 1024
}

// prose returns text of about size bytes in sections: sentences of this repository's documents in random order, with
// names and numbers added so that no two paragraphs are alike.
func prose(tb testing.TB, seed uint64, size int) []byte {
	tb.Helper()
	var sentences []string
	names, err := filepath.Glob("../docs/*.md")
	require.NoError(tb, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(tb, err)
		for _, s := range strings.Split(strings.NewReplacer("|", " ", "`", "", "#", " ", "*", "", "\n", " ").Replace(string(text)), ". ") {
			if n := len(s); n > 30 && n < 300 {
				sentences = append(sentences, strings.Join(strings.Fields(s), " "))
			}
		}
	}
	people := strings.Fields("Ada Grace Alan Edsger Barbara Donald Niklaus Tony Frances John Kathleen Ken Dennis Radia")
	rnd := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	for section := 0; b.Len() < size; section++ {
		fmt.Fprintf(&b, "# Section %d of %s\n\n", section, people[rnd.IntN(len(people))])
		for range 3 {
			for range 4 {
				fmt.Fprintf(&b, "%s, as %s %c. said on day %d. ", sentences[rnd.IntN(len(sentences))], people[rnd.IntN(len(people))], 'A'+rune(rnd.IntN(26)), rnd.IntN(10_000))
			}
			b.WriteString("\n\n")
		}
	}
	return b.Bytes()[:size]
}

// BenchmarkUpload sends 20 MB of text as files over REST to a directory and waits until all are completed, which gives the
// speed, and then until the service has nothing left to do, such as to write index files. It reports resident memory per
// byte of text beyond that of the open service: the maximum until then (peak), and what is left after 10 s.
func BenchmarkUpload(b *testing.B) {
	const total = 20_000_000
	for _, count := range []int{1, 20, 400} {
		b.Run(fmt.Sprintf("%d files", count), func(b *testing.B) {
			var completed time.Duration
			for b.Loop() {
				b.StopTimer()
				svc, err := contextmem.Open(b.Context(), b.TempDir(), nil)
				require.NoError(b, err)
				_, err = svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "acme"})
				require.NoError(b, err)
				require.NoError(b, svc.Tenant("acme").WaitReady(b.Context()))
				h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
				require.NoError(b, err)
				server := httptest.NewServer(h)
				body, contentType := uploadFile(b, count, total)
				debug.FreeOSMemory()
				_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600)
				before, used, began, done := resident(b, "VmRSS"), processor(b), time.Now(), false
				b.StartTimer()
				for from := 0; from < len(body); from++ {
					f, err := os.Open(body[from])
					require.NoError(b, err)
					r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/ingestion/upload_knowledge", f)
					require.NoError(b, err)
					r.Header.Set("Content-Type", contentType)
					r.Header.Set("Authorization", "Bearer "+fullKey)
					resp, err := http.DefaultClient.Do(r)
					require.NoError(b, err)
					require.Less(b, resp.StatusCode, 300)
					require.NoError(b, resp.Body.Close())
				}
				require.NoError(b, svc.DrainProgress(b.Context(), func(p contextmem.Progress) {
					if p.Completed == count && !done {
						done, completed = true, completed+time.Since(began)
					}
				}))
				b.StopTimer()
				require.True(b, done)
				b.ReportMetric((processor(b) - used).Seconds(), "processor-s")
				b.ReportMetric((resident(b, "VmHWM")-before)/total, "peak/text")
				p, err := svc.Tenant("acme").Sub("").List(b.Context(), contextmem.ListRequest{})
				require.NoError(b, err)
				require.Equal(b, count, p.Total)
				time.Sleep(10 * time.Second)
				runtime.GC()
				b.ReportMetric((resident(b, "VmRSS")-before)/total, "left/text")
				server.Close()
				require.NoError(b, svc.Close())
				b.StartTimer()
			}
			b.ReportMetric(total/1e6*float64(b.N)/completed.Seconds(), "MB/s")
		})
	}
}

// processor returns the time that the process has used of all processors, its own and the system's.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// uploadFile writes the bodies of upload requests with at most 100 files each, and returns their names and content
// type.
func uploadFile(b *testing.B, count, total int) (names []string, contentType string) {
	b.Helper()
	for from := 0; from < count; from += 100 {
		f, err := os.Create(filepath.Join(b.TempDir(), "body"))
		require.NoError(b, err)
		w := multipart.NewWriter(f)
		require.NoError(b, w.SetBoundary("boundary"))
		require.NoError(b, w.WriteField("tenant_id", "acme"))
		for i := from; i < min(from+100, count); i++ {
			part, err := w.CreateFormFile("files", fmt.Sprintf("%d.md", i))
			require.NoError(b, err)
			_, err = part.Write(prose(b, uint64(i), total/count))
			require.NoError(b, err)
		}
		require.NoError(b, w.Close())
		require.NoError(b, f.Close())
		names, contentType = append(names, f.Name()), w.FormDataContentType()
	}
	return names, contentType
}

// BenchmarkPages sends a PDF of 500 pages or more over REST to a directory and waits until it is completed. LaTeX and
// LibreOffice create it from prose in sections, with a running header, page numbers and some tables.
func BenchmarkPages(b *testing.B) {
	const pages = 500
	for _, tool := range []struct {
		name string
		make func(tb testing.TB, dir string, size int) (name string, pages int)
		size int // bytes of text for the pages
	}{{"latex", latexPDF, 1_850_000}, {"libreoffice", officePDF, 2_200_000}} {
		b.Run(tool.name, func(b *testing.B) {
			name, count := tool.make(b, b.TempDir(), tool.size)
			require.GreaterOrEqual(b, count, pages)
			data, err := os.ReadFile(name)
			require.NoError(b, err)
			for b.Loop() {
				b.StopTimer()
				svc, err := contextmem.Open(b.Context(), b.TempDir(), nil)
				require.NoError(b, err)
				_, err = svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "acme"})
				require.NoError(b, err)
				require.NoError(b, svc.Tenant("acme").WaitReady(b.Context()))
				h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
				require.NoError(b, err)
				server := httptest.NewServer(h)
				var body bytes.Buffer
				w := multipart.NewWriter(&body)
				require.NoError(b, w.WriteField("tenant_id", "acme"))
				part, err := w.CreateFormFile("files", "book.pdf")
				require.NoError(b, err)
				_, err = part.Write(data)
				require.NoError(b, err)
				require.NoError(b, w.Close())
				used := processor(b)
				b.StartTimer()
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/ingestion/upload_knowledge", &body)
				require.NoError(b, err)
				r.Header.Set("Content-Type", w.FormDataContentType())
				r.Header.Set("Authorization", "Bearer "+fullKey)
				resp, err := http.DefaultClient.Do(r)
				require.NoError(b, err)
				require.Less(b, resp.StatusCode, 300)
				require.NoError(b, resp.Body.Close())
				require.NoError(b, svc.Drain(b.Context()))
				b.StopTimer()
				b.ReportMetric((processor(b) - used).Seconds(), "processor-s")
				p, err := svc.Tenant("acme").Sub("").List(b.Context(), contextmem.ListRequest{})
				require.NoError(b, err)
				require.Equal(b, 1, p.Total)
				server.Close()
				require.NoError(b, svc.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(count), "pages")
			b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}

// latexPDF lets pdfTeX set prose as a report with a contents page, running heads, page numbers and a table in every
// tenth section.
func latexPDF(tb testing.TB, dir string, size int) (name string, pages int) {
	tb.Helper()
	if _, err := exec.LookPath("pdflatex"); err != nil {
		tb.Skip("pdflatex is not installed")
	}
	var b bytes.Buffer
	b.WriteString("\\documentclass[11pt]{report}\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}\\pagestyle{headings}\\begin{document}\\tableofcontents\n")
	escape := strings.NewReplacer("\\", "", "&", "\\&", "%", "\\%", "$", "\\$", "#", "\\#", "_", "\\_", "{", "\\{", "}", "\\}", "~", " ", "^", " ")
	for i, section := range strings.Split(string(prose(tb, 1, size)), "# Section ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		command := "section"
		if i%12 == 0 {
			command = "chapter"
		}
		ascii := strings.Map(func(r rune) rune {
			if r > 126 {
				return -1
			}
			return r
		}, text)
		fmt.Fprintf(&b, "\\%s{Section %s}\n%s\n", command, escape.Replace(title), escape.Replace(ascii))
		if i%10 == 0 {
			b.WriteString("\\par\\begin{tabular}{|l|r|r|}\\hline Quarter & Orders & Returns \\\\\\hline\n")
			for q := range 4 {
				fmt.Fprintf(&b, "Quarter %d & %d & %d \\\\\n", q+1, 1000+37*i+q, 10+i+q)
			}
			b.WriteString("\\hline\\end{tabular}\\par\n")
		}
	}
	b.WriteString("\\end{document}\n")
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "book.tex"), b.Bytes(), 0o600))
	for range 2 { // the second time with the contents
		cmd := exec.CommandContext(tb.Context(), "pdflatex", "-interaction=batchmode", "-halt-on-error", "book.tex")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(tb, err, "%s", out)
	}
	log, err := os.ReadFile(filepath.Join(dir, "book.log"))
	require.NoError(tb, err)
	m := regexp.MustCompile(`\((\d+) pages`).FindSubmatch(log)
	require.NotNil(tb, m)
	pages, err = strconv.Atoi(string(m[1]))
	require.NoError(tb, err)
	return filepath.Join(dir, "book.pdf"), pages
}

// officePDF lets LibreOffice convert the same prose from HTML.
func officePDF(tb testing.TB, dir string, size int) (name string, pages int) {
	tb.Helper()
	if _, err := exec.LookPath("soffice"); err != nil {
		tb.Skip("LibreOffice is not installed")
	}
	var b bytes.Buffer
	b.WriteString("<html><body>\n")
	for _, section := range strings.Split(string(prose(tb, 1, size)), "# Section ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		fmt.Fprintf(&b, "<h2>Section %s</h2>\n", html.EscapeString(title))
		for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
			fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(p))
		}
	}
	b.WriteString("</body></html>\n")
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "book.html"), b.Bytes(), 0o600))
	cmd := exec.CommandContext(tb.Context(), "soffice", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless", "--convert-to", "pdf:writer_web_pdf_Export", "--outdir", dir, filepath.Join(dir, "book.html"))
	out, err := cmd.CombinedOutput()
	require.NoError(tb, err, "%s", out)
	data, err := os.ReadFile(filepath.Join(dir, "book.pdf"))
	require.NoError(tb, err)
	return filepath.Join(dir, "book.pdf"), len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(data, -1))
}
