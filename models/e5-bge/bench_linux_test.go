package both_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	both "github.com/contextmem/contextmem/models/e5-bge"
)

// BenchmarkEmbed is the processor time of a question of 12 tokens and of a memory of 40, special tokens included, in English, which both
// models read, and in German, which one reads.
func BenchmarkEmbed(b *testing.B) {
	all, err := both.New()
	require.NoError(b, err)
	e := all.Memories()
	for name, words := range map[string]string{
		"English": "where did we put the old camera after moving into this house last summer", "German": "wo haben wir die alte Kamera nach dem Umzug in dieses Haus im Sommer",
	} {
		fields := strings.Fields(words)
		text := func(n, i int) string { // never the same text twice, because questions are cached
			out := []string{fmt.Sprint(i)}
			for len(out) < n {
				out = append(out, fields[(len(out)+i)%len(fields)])
			}
			return strings.Join(out, " ")
		}
		run := func(name string, embed func(i int) error) {
			b.Run(name, func(b *testing.B) {
				require.NoError(b, embed(-1))
				before := used(b)
				for i := 0; b.Loop(); i++ {
					if err := embed(i); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((used(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			})
		}
		run(name+"/question", func(i int) error {
			_, err := e.EmbedQuery(b.Context(), text(8, i))
			return err
		})
		run(name+"/memory", func(i int) error {
			_, err := e.EmbedDocuments(b.Context(), []string{text(34, i)})
			return err
		})
	}
}

func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
