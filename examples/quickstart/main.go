// Command quickstart puts real documents and a conversation into a contextmem
// directory and answers questions about them, offline.
//
//	go run ./examples/quickstart                  # the documents that the example ships
//	go run ./examples/quickstart -ask "..." DIR   # the files of a folder
//
// Run it twice: the second run finds everything in place and replaces what changed.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/neural"
	_ "github.com/contextmem/contextmem/models/change-multilingual" // the judge that decides which memories replace which
	_ "github.com/contextmem/contextmem/models/e5-bge"              // the embedder
	_ "github.com/contextmem/contextmem/models/reranker-en"         // the reranker of thinking mode
)

//go:embed data
var shipped embed.FS

// questions are asked of the documents, and of the sub-tenant "noor", that the example ships.
var questions = []struct {
	sub    string
	class  contextmem.Class
	text   string
	source string // id of the source that answers
	says   string // text that the chunk with the answer contains
}{
	{"", contextmem.ClassKnowledge, "What should I do when the burners stop working?", "handbook.md", "main gas valve"},
	{"", contextmem.ClassKnowledge, "Where does unsold food end up?", "handbook.md", "Quay Street"},
	{"", contextmem.ClassKnowledge, "Which cookies are safe for someone who can't eat wheat?", "allergens.html", "oat biscuits"},
	{"", contextmem.ClassKnowledge, "Who do we buy flour from, and when does it come?", "suppliers.csv", "Nordmill"},
	{"noor", contextmem.ClassMemory, "What is Noor's sibling called, and where does he live?", "turn-04", "Samir"},
	{"noor", contextmem.ClassMemory, "Is there any food that Noor must avoid?", "turn-05", "dairy"},
	{"noor", contextmem.ClassMemory, "When did the contract for the house come through?", "turn-07", "signed since yesterday"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	fset := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	dir := fset.String("dir", filepath.Join(os.TempDir(), "contextmem-quickstart"), "directory of the deployment")
	ask := fset.String("ask", "", "a question of your own")
	if err := fset.Parse(args); err != nil {
		return err
	}
	if err := neural.CacheInHome(""); err != nil { // the second run starts sooner
		return err
	}
	svc, err := contextmem.Open(ctx, *dir, nil)
	if err != nil {
		return err
	}
	defer svc.Close()
	bakery := svc.Tenant("bakery")
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "bakery"}); err != nil && !errors.Is(err, contextmem.ErrExists) {
		return err
	}
	if err := bakery.WaitReady(ctx); err != nil {
		return err
	}

	start := time.Now()
	if fset.NArg() > 0 {
		err = addFolder(ctx, bakery, os.DirFS(fset.Arg(0)))
	} else {
		err = addShipped(ctx, bakery)
	}
	if err != nil {
		return err
	}
	if err := svc.DrainProgress(ctx, bar); err != nil {
		return err
	}
	found := time.Since(start)
	if err := bakery.WaitRefined(ctx); err != nil { // a service need not wait: everything is found already
		return err
	}
	fmt.Printf("\nfound after %v, by its meaning after %v, kept in %s\n", found.Round(time.Millisecond), time.Since(start).Round(time.Millisecond), *dir)

	if *ask != "" {
		return answer(ctx, bakery.Sub(""), contextmem.ClassAll, *ask)
	}
	if fset.NArg() > 0 {
		fmt.Println("ask with -ask \"...\"")
		return nil
	}
	for _, q := range questions {
		if err := answer(ctx, bakery.Sub(q.sub), q.class, q.text); err != nil {
			return err
		}
	}
	return nil
}

// addShipped ingests the example's own documents as knowledge and its
// conversation as memories of the sub-tenant "noor".
func addShipped(ctx context.Context, t contextmem.Tenant) error {
	data, err := fs.Sub(shipped, "data")
	if err != nil {
		return err
	}
	b, err := fs.ReadFile(data, "conversation.json")
	if err != nil {
		return err
	}
	var turns []struct {
		Time time.Time
		Text string
	}
	if err := json.Unmarshal(b, &turns); err != nil {
		return err
	}
	var batch contextmem.MemoryBatch
	for i, turn := range turns {
		batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprintf("turn-%02d", i), Text: turn.Text, Time: turn.Time})
	}
	if _, err := t.Sub("noor").AddMemories(ctx, batch); err != nil {
		return err
	}
	return addFolder(ctx, t, data)
}

// addFolder ingests the files of a folder, up to 100 in one call. A file with the name
// of an earlier one replaces it.
func addFolder(ctx context.Context, t contextmem.Tenant, folder fs.FS) error {
	batch := contextmem.KnowledgeBatch{Progress: trouble}
	flush := func() error {
		if len(batch.Files) == 0 {
			return nil
		}
		_, err := t.AddKnowledge(ctx, batch)
		batch.Files = nil
		return err
	}
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "conversation.json" {
			return err
		}
		b, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			return nil
		}
		batch.Files = append(batch.Files, contextmem.File{ID: name, Name: path.Base(name), Data: b})
		if len(batch.Files) == 100 {
			return flush()
		}
		return nil
	})
	return errors.Join(err, flush())
}

// trouble prints which files could not be read, as soon as each failure is known.
func trouble(p contextmem.ItemProgress) {
	if p.Status == contextmem.StatusErrored {
		fmt.Printf("\r%s: %s %s (%d of %d of its batch are done)\n", p.ID, p.ErrorCode, p.ErrorMessage, p.Done, p.Total)
	}
}

// bar prints the progress of background work.
func bar(p contextmem.Progress) {
	done := p.Completed + p.Errored
	total := done + p.Waiting()
	if total == 0 {
		return
	}
	const width = 30
	n := width * done / total
	fmt.Printf("\rindexing [%s%s] %d of %d", strings.Repeat("#", n), strings.Repeat(".", width-n), done, total)
}

func answer(ctx context.Context, s contextmem.Sub, class contextmem.Class, question string) error {
	start := time.Now()
	res, err := s.Recall(ctx, contextmem.Recall{Class: class, Query: question, MaxResults: 2})
	if err != nil {
		return err
	}
	fmt.Printf("\n? %s  (%v)\n", question, time.Since(start).Round(time.Microsecond))
	for _, c := range res.Chunks {
		fmt.Printf("  %.2f  %s: %s\n", c.Score, c.Title, excerpt(c))
		e := c.Explain
		fmt.Printf("        semantic %.2f, keyword %.2f, context %.2f, speaker %.2f, entity %.2f\n", e.Semantic, e.Keyword, e.Context, e.Speaker, e.Entity)
	}
	return nil
}

// excerpt returns the text of a hit; for a long hit, the passage that answers.
func excerpt(c contextmem.Chunk) string {
	const most = 300
	r := []rune(strings.Join(strings.Fields(c.Text), " "))
	if len(r) > most && c.Passage.Text != "" {
		r = []rune(strings.Join(strings.Fields(c.Passage.Text), " "))
	}
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}
