// Package bench compares contextmem with other embedded search engines, in one run on
// one machine: chromem-go, bleve, SQLite FTS5, sqlite-vec and hnswlib. It is a module of
// its own, so that users of contextmem do not depend on these engines.
//
// Each experiment loads the same data into each contender and asks the same
// queries. Contenders take turns in short rounds, so that a busy moment of the machine
// affects all of them. A query is timed by its processor time on one processor. Every
// latency is shown with its recall, which is computed against a brute-force answer.
//
// The command table runs experiments and prints Markdown tables. By default they are
// small and end in seconds; -full has the sizes that README's tables show. The
// contenders in C and C++ are built with these tags, without which they are left out:
//
//	sqlite_fts5   SQLite FTS5 (needs nothing but the tag)
//	sqlitevec     sqlite-vec (needs sqlite3.h: libsqlite3-dev)
//	hnswlib       hnswlib (needs its headers and a C++ compiler: libhnswlib-dev, g++)
//
// run.sh sets the tags and the compiler flags that let them use the machine.
package bench
