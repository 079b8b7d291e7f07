module github.com/contextmem/contextmem/examples

go 1.26.0

replace (
	github.com/contextmem/contextmem => ..
	github.com/contextmem/contextmem/models/bge-memory-en => ../models/bge-memory-en
	github.com/contextmem/contextmem/models/bge-small-en => ../models/bge-small-en
	github.com/contextmem/contextmem/models/change-multilingual => ../models/change-multilingual
	github.com/contextmem/contextmem/models/e5-bge => ../models/e5-bge
	github.com/contextmem/contextmem/models/e5-memory => ../models/e5-memory
	github.com/contextmem/contextmem/models/multilingual-e5-small => ../models/multilingual-e5-small
	github.com/contextmem/contextmem/models/reranker-en => ../models/reranker-en
)

require (
	github.com/contextmem/contextmem v0.0.0
	github.com/contextmem/contextmem/models/bge-memory-en v0.0.0 // indirect
	github.com/contextmem/contextmem/models/bge-small-en v0.0.0
	github.com/contextmem/contextmem/models/change-multilingual v0.0.0-00010101000000-000000000000
	github.com/contextmem/contextmem/models/e5-bge v0.0.0
	github.com/contextmem/contextmem/models/e5-memory v0.0.0 // indirect
	github.com/contextmem/contextmem/models/multilingual-e5-small v0.0.0
	github.com/contextmem/contextmem/models/reranker-en v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/chewxy/math32 v1.10.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/hashicorp/errwrap v1.0.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/mattn/go-sqlite3 v1.14.52 // indirect
	github.com/viterin/partial v1.1.0 // indirect
	github.com/viterin/vek v0.4.3 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20230817173708-d852ddb80c63 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)
