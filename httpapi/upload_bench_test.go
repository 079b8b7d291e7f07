package httpapi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
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

// resident returns a line of this process's memory in bytes: VmRSS now, VmHWM the most since the mark was last reset.
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

// prose is text of about size bytes in sections: sentences of this repository's documents in random order, with names and
// numbers of their own, so that no two paragraphs are alike.
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

// BenchmarkUpload sends 20 MB of text as files over REST to a directory and waits until all are completed. Resident memory
// is per byte of the text, beyond what the open service took: the most (peak), and what is left 10 s behind.
func BenchmarkUpload(b *testing.B) {
	const total = 20_000_000
	for _, count := range []int{1, 20, 400} {
		b.Run(fmt.Sprintf("%d files", count), func(b *testing.B) {
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
				before, used := resident(b, "VmRSS"), processor(b)
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
				require.NoError(b, svc.Drain(b.Context()))
				b.StopTimer()
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
			b.ReportMetric(total/1e6*float64(b.N)/b.Elapsed().Seconds(), "MB/s")
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

// uploadFile writes the bodies of upload requests, of at most 100 files each, and returns their names and content type.
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
