module github.com/contextmem/contextmem/models/e5-bge

go 1.26.0

replace (
	github.com/contextmem/contextmem => ../..
	github.com/contextmem/contextmem/models/bge-memory-en => ../bge-memory-en
	github.com/contextmem/contextmem/models/bge-small-en => ../bge-small-en
	github.com/contextmem/contextmem/models/e5-memory => ../e5-memory
	github.com/contextmem/contextmem/models/multilingual-e5-small => ../multilingual-e5-small
)

require (
	github.com/contextmem/contextmem v0.0.0
	github.com/contextmem/contextmem/models/bge-memory-en v0.0.0
	github.com/contextmem/contextmem/models/bge-small-en v0.0.0
	github.com/contextmem/contextmem/models/e5-memory v0.0.0
	github.com/contextmem/contextmem/models/multilingual-e5-small v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/hashicorp/errwrap v1.0.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
