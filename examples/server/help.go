package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// help is what -h prints.
const help = `server serves contextmem over REST. It is configured by the environment:

  CONTEXTMEM_ADDR                    address to listen on; default 127.0.0.1:8080
  CONTEXTMEM_DATA                    directory of the data; default ./contextmem-data
  CONTEXTMEM_API_KEYS                key=organisation,...; a bare key is organisation "default"; required
  CONTEXTMEM_PUBLIC_URL              address under which clients reach the server, for presigned URLs; default: what
                                     each request was sent to
  CONTEXTMEM_TRUSTED_PROXIES         addresses of proxies whose X-Forwarded-* headers count, as CIDRs: 10.0.0.0/8,...
  CONTEXTMEM_OCR=1                   reads images and scanned PDF documents with tesseract and pdftoppm, which have to
                                     be installed
  CONTEXTMEM_OCR_LANGUAGES           languages of tesseract, joined by +; default eng
  CONTEXTMEM_TRANSCRIBER_URL         address of a server in front of /audio/transcriptions (OpenAI, whisper.cpp, ...),
                                     which turns recordings into text; default: none
  CONTEXTMEM_TRANSCRIBER_MODEL       model of that server; default whisper-1
  CONTEXTMEM_TRANSCRIBER_KEY         key of that server
  CONTEXTMEM_PARSE_TIMEOUT           time for one document, such as 10m; default 60s
  CONTEXTMEM_RERANKER=none           leaves the reranker of thinking mode out (English; tenths of a second a question on
                                     two cores)
  CONTEXTMEM_MODEL_CACHE             folder, which all servers of a machine may share, of what models read of their
                                     weights, up to 110 MB: they start sooner and take less memory; default
                                     contextmem/models in the user's cache directory; none: in memory
  CONTEXTMEM_ALLOW_LOCAL_WEBHOOKS=1  lets webhooks go to http and local addresses
`

// arguments reads the command line, which takes -h alone. It returns flag.ErrHelp after it has printed the help.
func arguments(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, help) }
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		fmt.Fprint(out, help)
		return errors.New("there are no arguments")
	}
	return nil
}
