package main

import (
	"context"
	"os"

	"github.com/philippgille/chromem-go"
)

func main() {
	ctx := context.Background()
	embed := func(_ context.Context, t string) ([]float32, error) { return []float32{1, 0, 0}, nil }
	out := os.Args[1]
	fill := func(db *chromem.DB) {
		c, err := db.GetOrCreateCollection("recipes", map[string]string{"lang": "en"}, embed)
		if err != nil {
			panic(err)
		}
		if err := c.AddDocument(ctx, chromem.Document{ID: "scone", Content: "Scones need cold butter.", Metadata: map[string]string{"author": "Noor"}}); err != nil {
			panic(err)
		}
		if err := c.AddDocument(ctx, chromem.Document{ID: "bun", Content: "Buns rise twice."}); err != nil {
			panic(err)
		}
		d, err := db.GetOrCreateCollection("rota", nil, embed)
		if err != nil {
			panic(err)
		}
		if err := d.AddDocument(ctx, chromem.Document{ID: "1", Content: "Ines opens on Mondays."}); err != nil {
			panic(err)
		}
	}
	mem := chromem.NewDB()
	fill(mem)
	for name, gz := range map[string]bool{"chromem-go-0.7.0-export.gob": false, "chromem-go-0.7.0-export.gob.gz": true} {
		if err := mem.ExportToFile(out+"/"+name, gz, ""); err != nil {
			panic(err)
		}
	}
	if err := mem.ExportToFile(out+"/chromem-go-0.7.0-encrypted.gob.enc", false, "0123456789abcdef0123456789abcdef"); err != nil {
		panic(err)
	}
	for name, gz := range map[string]bool{"chromem-go-0.7.0-db": false, "chromem-go-0.7.0-db-gz": true} {
		db, err := chromem.NewPersistentDB(out+"/"+name, gz)
		if err != nil {
			panic(err)
		}
		fill(db)
	}
}
