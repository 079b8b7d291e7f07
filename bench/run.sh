#!/usr/bin/env bash
# Runs the command table with every contender built in, and optimised for this machine. Arguments are table's own:
#   ./run.sh                                             small sizes, seconds
#   ./corpus.sh corpus.txt && ./run.sh -full -corpus corpus.txt   the tables of README
# Needs cc, c++, sqlite3.h and hnswlib's headers: apt-get install g++ libsqlite3-dev libhnswlib-dev
set -euo pipefail
cd "$(dirname "$0")"
export CGO_CFLAGS="-O3 -march=native -DSQLITE_VEC_ENABLE_AVX" CGO_CXXFLAGS="-O3 -march=native"
exec go run -tags "sqlite_fts5 sqlitevec hnswlib" ./cmd/table "$@"
