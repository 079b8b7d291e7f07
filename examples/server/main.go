// Command server serves contextmem over REST. It is configured by the environment:
//
//	CONTEXTMEM_ADDR      address to listen on; default 127.0.0.1:8080
//	CONTEXTMEM_DATA      directory of the data; default ./contextmem-data
//	CONTEXTMEM_API_KEYS  key=organisation,...; a bare key is organisation "default"; required
//	CONTEXTMEM_PUBLIC_URL       address under which clients reach the server, for presigned URLs; default: what each
//	                            request was sent to
//	CONTEXTMEM_TRUSTED_PROXIES  addresses of proxies whose X-Forwarded-* headers count, as CIDRs: 10.0.0.0/8,...
//	CONTEXTMEM_OCR=1                 reads images and scanned PDF documents with tesseract and pdftoppm, which have to be
//	                                 installed
//	CONTEXTMEM_OCR_LANGUAGES         languages of tesseract, joined by +; default eng
//	CONTEXTMEM_TRANSCRIBER_URL       address of a server in front of /audio/transcriptions (OpenAI, whisper.cpp, ...), which
//	                                 turns recordings into text; default: none
//	CONTEXTMEM_TRANSCRIBER_MODEL     model of that server; default whisper-1
//	CONTEXTMEM_TRANSCRIBER_KEY       key of that server
//	CONTEXTMEM_PARSE_TIMEOUT         time for one document, such as 10m; default 60s
//	CONTEXTMEM_RERANKER=none    leaves the reranker of thinking mode out (English; tenths of a second a question on two cores)
//	CONTEXTMEM_MODEL_CACHE      folder, which all servers of a machine may share, of what models read of their weights, up to 110 MB: they start
//	                            sooner and take less memory; default contextmem/models in the user's cache directory; none: in memory
//	CONTEXTMEM_ALLOW_LOCAL_WEBHOOKS=1  lets webhooks go to http and local addresses
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/contextmem/contextmem/models/change-multilingual" // the judge that decides which memories replace which
	_ "github.com/contextmem/contextmem/models/e5-bge"              // the embedder
	_ "github.com/contextmem/contextmem/models/reranker-en"         // the reranker of thinking mode
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, log, nil); err != nil {
		log.Error("server stopped", "err", err)
		os.Exit(1)
	}
}
