module github.com/contextmem/contextmem/cmd/contextmem

go 1.26.0

replace (
	github.com/contextmem/contextmem => ../..
	github.com/contextmem/contextmem/backend/postgres => ../../backend/postgres
	github.com/contextmem/contextmem/backend/sqlite/purego => ../../backend/sqlite/purego
	github.com/contextmem/contextmem/backend/weaviate => ../../backend/weaviate
	github.com/contextmem/contextmem/connector/imap => ../../connector/imap
	github.com/contextmem/contextmem/models/bge-memory-en => ../../models/bge-memory-en
	github.com/contextmem/contextmem/models/bge-small-en => ../../models/bge-small-en
	github.com/contextmem/contextmem/models/change-multilingual => ../../models/change-multilingual
	github.com/contextmem/contextmem/models/e5-bge => ../../models/e5-bge
	github.com/contextmem/contextmem/models/e5-memory => ../../models/e5-memory
	github.com/contextmem/contextmem/models/multilingual-e5-small => ../../models/multilingual-e5-small
	github.com/contextmem/contextmem/models/reranker-en => ../../models/reranker-en
)

require (
	github.com/contextmem/contextmem v0.0.0
	github.com/contextmem/contextmem/backend/postgres v0.0.0
	github.com/contextmem/contextmem/backend/sqlite/purego v0.0.0-00010101000000-000000000000
	github.com/contextmem/contextmem/backend/weaviate v0.0.0-00010101000000-000000000000
	github.com/contextmem/contextmem/connector/imap v0.0.0-00010101000000-000000000000
	github.com/contextmem/contextmem/models/change-multilingual v0.0.0-00010101000000-000000000000
	github.com/contextmem/contextmem/models/e5-bge v0.0.0
	github.com/contextmem/contextmem/models/multilingual-e5-small v0.0.0
	github.com/contextmem/contextmem/models/reranker-en v0.0.0
	github.com/mattn/go-sqlite3 v1.14.52
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/ncruces/go-sqlite3 v0.37.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5
)

require (
	github.com/asaskevich/govalidator v0.0.0-20230301143203-a9d515a09cc2 // indirect
	github.com/go-openapi/analysis v0.23.0 // indirect
	github.com/go-openapi/errors v0.22.0 // indirect
	github.com/go-openapi/jsonpointer v0.21.0 // indirect
	github.com/go-openapi/jsonreference v0.21.0 // indirect
	github.com/go-openapi/loads v0.22.0 // indirect
	github.com/go-openapi/spec v0.21.0 // indirect
	github.com/go-openapi/strfmt v0.23.0 // indirect
	github.com/go-openapi/swag v0.23.0 // indirect
	github.com/go-openapi/validate v0.24.0 // indirect
	github.com/josharian/intern v1.0.0 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/mitchellh/mapstructure v1.5.0 // indirect
	github.com/oklog/ulid v1.3.1 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/weaviate/weaviate v1.33.0-rc.1 // indirect
	github.com/weaviate/weaviate-go-client/v5 v5.5.0 // indirect
	go.mongodb.org/mongo-driver v1.14.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250728155136-f173205681a0 // indirect
	google.golang.org/grpc v1.74.2 // indirect
	google.golang.org/protobuf v1.36.6 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

require (
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/chewxy/math32 v1.10.1 // indirect
	github.com/contextmem/contextmem/adapters/openaiproxy v0.0.0-00010101000000-000000000000
	github.com/contextmem/contextmem/models/bge-memory-en v0.0.0 // indirect
	github.com/contextmem/contextmem/models/bge-small-en v0.0.0 // indirect
	github.com/contextmem/contextmem/models/e5-memory v0.0.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/emersion/go-imap/v2 v2.0.0-beta.8 // indirect
	github.com/emersion/go-message v0.18.2 // indirect
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/hashicorp/errwrap v1.1.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/ncruces/go-sqlite3-wasm/v6 v6.5.35401 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/viterin/partial v1.1.0 // indirect
	github.com/viterin/vek v0.4.3 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/exp v0.0.0-20240808152545-0cdaa3abc0fa // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)

replace github.com/contextmem/contextmem/adapters/openaiproxy => ../../adapters/openaiproxy
