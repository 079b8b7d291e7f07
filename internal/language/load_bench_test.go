package language

import "testing"

// BenchmarkLoad measures what the first text pays for reading the tables of words.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		readTables()
	}
}
