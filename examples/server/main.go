// Command server serves contextmem over REST. It is configured by the environment; -h shows the variables.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/contextmem/contextmem/models/change-multilingual" // the judge that decides which memories replace which
	_ "github.com/contextmem/contextmem/models/e5-bge"              // the embedder
	_ "github.com/contextmem/contextmem/models/reranker-en"         // the reranker of thinking mode
)

func main() {
	switch err := arguments(os.Args[1:], os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, log, nil); err != nil {
		log.Error("server stopped", "err", err)
		os.Exit(1)
	}
}
