package main

import (
	"encoding/hex"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector/feed"
	"github.com/contextmem/contextmem/connector/filesystem"
	"github.com/contextmem/contextmem/connector/github"
	"github.com/contextmem/contextmem/connector/imap"
	"github.com/contextmem/contextmem/connector/notion"
	"github.com/contextmem/contextmem/connector/slack"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/embed/openai"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/extract/llm"
	"github.com/contextmem/contextmem/extract/rules"
	chatprofile "github.com/contextmem/contextmem/facts/llm"
	"github.com/contextmem/contextmem/judge"
	chatjudge "github.com/contextmem/contextmem/judge/llm"
	change "github.com/contextmem/contextmem/models/change-multilingual"
	both "github.com/contextmem/contextmem/models/e5-bge"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
	english "github.com/contextmem/contextmem/models/reranker-en"
	"github.com/contextmem/contextmem/rerank/remote"
	"github.com/contextmem/contextmem/transcribe"
)

// engineFlags are the engine's options. They apply only while this process owns the directory.
type engineFlags struct {
	embedder, embedderURL, embedderKey, embedderModel string
	embedderDim                                       int
	previous                                          []string
	reranker, rerankerURL, rerankerKey, rerankerModel string
	ocr, pdftotext                                    bool
	ocrLanguages                                      string
	transcriberURL, transcriberKey, transcriberModel  string
	fast, extractor, extractorURL, extractorKey       string
	extractorModel                                    string
	judge, judgeURL, judgeKey, judgeModel             string
	summarizer, summarizerURL                         string
	summarizerKey, summarizerModel                    string
	slackURL, githubURL, notionURL                    string
	connectors, roots                                 []string
	localConnectors                                   bool
	localWebhooks                                     bool
	webhookNetworks                                   []string
	webhookOverlap                                    time.Duration
	vendorHeaders                                     bool
	publicURL, secretKey, encryptionKey               string
	boosts                                            bool
	workers, batch, attempts, openTenants, maxTenants int
	chunk, chunkMax, chunkOverlap                     int
	maxFile, cache                                    int64
	maxItems, maxMemories, maxMemory, maxAdditional   int
	versions                                          int
	forgetting                                        bool
	retryFor, retryPause, lease, parse, budget        time.Duration
	vectorRecall                                      float64
	logLevel, modelCache                              string
}

// providerNames are the connector providers that contact public services.
var providerNames = []string{"feed", "github", "imap", "notion", "slack"}

func (e *engineFlags) add(f *pflag.FlagSet) {
	f.StringVar(&e.embedder, "embedder", "e5-bge", "e5-bge (multilingual-e5-small, with an English model beside it), e5 (the first alone), static (static-en-128), openai (a server, see --embedder-url) or the directory of a Hugging Face encoder")
	f.StringVar(&e.embedderURL, "embedder-url", "", "address of an embeddings server in front of /embeddings, such as http://localhost:11434/v1")
	f.StringVar(&e.embedderKey, "embedder-key", "", "key of that server")
	f.StringVar(&e.embedderModel, "embedder-model", "", "model of that server")
	f.IntVar(&e.embedderDim, "embedder-dimensions", 0, "length of its vectors")
	f.StringSliceVar(&e.previous, "previous-embedders", nil, "embedders of vectors that exist: e5-bge, e5, static; see reembed")
	f.StringVar(&e.reranker, "reranker", "en", "en (ms-marco-MiniLM-L-12-v2, for English), none, or what the server of --reranker-url speaks: cohere, jina, tei")
	f.StringVar(&e.rerankerURL, "reranker-url", "", "address of a reranking server in front of /rerank")
	f.StringVar(&e.rerankerKey, "reranker-key", "", "key of that server")
	f.StringVar(&e.rerankerModel, "reranker-model", "", "model of that server")
	f.StringVar(&e.fast, "fast-embedder", "static", "what texts are found by until a slow embedder has embedded them: static, or none: they wait for it")
	f.StringVar(&e.extractor, "extractor", "rules", "what finds entities and facts: rules, or openai (a chat model of the server of --extractor-url)")
	f.StringVar(&e.extractorURL, "extractor-url", "", "address of a server in front of /chat/completions, such as http://localhost:11434/v1")
	f.StringVar(&e.extractorKey, "extractor-key", "", "key of that server")
	f.StringVar(&e.extractorModel, "extractor-model", "", "model of that server")
	f.StringVar(&e.judge, "judge", "change", "model that says which of two statements replaces the other and how well a passage answers, beside the rules: change (change-multilingual), none, or openai (a chat model of the server of --judge-url decides what replaces what, change the rest)")
	f.StringVar(&e.judgeURL, "judge-url", "", "address of a server in front of /chat/completions, such as http://localhost:11434/v1")
	f.StringVar(&e.judgeKey, "judge-key", "", "key of that server")
	f.StringVar(&e.judgeModel, "judge-model", "", "model of that server")
	f.StringVar(&e.summarizer, "summarizer", "none", "what writes the summaries of profiles: none (they are the sources' own sentences), or openai (a chat model of the server of --summarizer-url)")
	f.StringVar(&e.summarizerURL, "summarizer-url", "", "address of a server in front of /chat/completions, such as http://localhost:11434/v1")
	f.StringVar(&e.summarizerKey, "summarizer-key", "", "key of that server")
	f.StringVar(&e.summarizerModel, "summarizer-model", "", "model of that server")
	f.BoolVar(&e.ocr, "ocr", false, "read images and scanned PDF documents with tesseract")
	f.StringVar(&e.ocrLanguages, "ocr-languages", "eng", "languages of tesseract, joined by +")
	f.StringVar(&e.transcriberURL, "transcriber-url", "", "address of a server in front of /audio/transcriptions, which turns recordings into text")
	f.StringVar(&e.transcriberKey, "transcriber-key", "", "key of that server")
	f.StringVar(&e.transcriberModel, "transcriber-model", "", "model of that server; empty: whisper-1")
	f.BoolVar(&e.pdftotext, "pdftotext", false, "read PDF documents with pdftotext of Poppler")
	f.StringSliceVar(&e.connectors, "connectors", providerNames, "connector providers that may be set up; none: none")
	f.StringSliceVar(&e.roots, "connector-roots", nil, "folders that connectors of the provider filesystem may read; none: that provider is off")
	f.StringVar(&e.slackURL, "slack-url", "", "address of the Web API of Slack; empty: the public one")
	f.StringVar(&e.githubURL, "github-url", "", "address of the REST API of GitHub, such as that of an Enterprise server; empty: the public one")
	f.StringVar(&e.notionURL, "notion-url", "", "address of the API of Notion; empty: the public one")
	f.BoolVar(&e.localConnectors, "allow-local-connectors", false, "let the provider imap reach addresses that are not public")
	f.BoolVar(&e.localWebhooks, "allow-local-webhooks", false, "let webhooks go to this machine")
	f.StringSliceVar(&e.webhookNetworks, "webhook-networks", nil, "networks besides the public internet that webhooks may go to, as CIDRs")
	f.DurationVar(&e.webhookOverlap, "webhook-secret-overlap", 0, "how long deliveries carry the signature of the secret before, too")
	f.BoolVar(&e.vendorHeaders, "webhook-vendor-headers", false, "give deliveries the headers X-HydraDB-* of the hosted service too")
	f.StringVar(&e.publicURL, "public-url", "", "address under which clients reach the server, for presigned URLs")
	f.StringVar(&e.secretKey, "secret-key", "", "64 hexadecimal digits that seal secrets at rest; empty: a key file in the directory")
	f.StringVar(&e.encryptionKey, "encryption-key", "", "64 hexadecimal digits that encrypt the directory, from its first use on; empty: it is not encrypted")
	f.BoolVar(&e.forgetting, "forgetting", false, "weigh memories by age and use, and take what is told again in the same words for one")
	f.BoolVar(&e.boosts, "feedback-boosts", false, "let ratings move the ranking of later recalls")
	f.IntVar(&e.workers, "workers", 0, "batches processed at once; 0: the default")
	f.IntVar(&e.batch, "batch-items", 0, "small items that a worker takes at once; 0: the default")
	f.IntVar(&e.attempts, "max-attempts", 0, "tries of an item whose own content may be at fault; 0: the default")
	f.IntVar(&e.openTenants, "max-open-tenants", 0, "tenants kept open while idle; 0: the default")
	f.IntVar(&e.maxTenants, "max-tenants", 0, "tenants of an organisation; 0: no bound")
	f.IntVar(&e.chunk, "chunk-bytes", 0, "size that chunks aim at; 0: the default")
	f.IntVar(&e.chunkMax, "chunk-max-bytes", 0, "size that no chunk exceeds; 0: the default")
	f.IntVar(&e.chunkOverlap, "chunk-overlap-bytes", 0, "text that neighbouring chunks share; 0: the default, negative: none")
	f.Int64Var(&e.maxFile, "max-file-bytes", 0, "size of a file; 0: the default")
	f.Int64Var(&e.cache, "cache-bytes", 0, "memory of search indexes; 0: the default, negative: no bound")
	f.IntVar(&e.maxItems, "max-items", 0, "files and app items of one call; 0: the default")
	f.IntVar(&e.maxMemories, "max-memories", 0, "memories of one call; 0: the default")
	f.IntVar(&e.maxMemory, "max-memory-bytes", 0, "text of one memory; 0: the default")
	f.IntVar(&e.versions, "versions", 0, "earlier versions of an item that are kept; 0: 10, negative: none")
	f.IntVar(&e.maxAdditional, "max-additional-bytes", 0, "additional metadata of an item as JSON; 0: the default")
	f.DurationVar(&e.retryFor, "retry-for", 0, "how long items are tried again in an outage; 0: the default")
	f.DurationVar(&e.retryPause, "retry-pause", 0, "longest pause between these tries; 0: the default")
	f.DurationVar(&e.lease, "lease", 0, "how long a worker may be silent; 0: the default")
	f.DurationVar(&e.parse, "parse-timeout", 0, "time for the parsing of one document; 0: the default")
	f.DurationVar(&e.budget, "recall-budget", 0, "time that thinking recalls may use; 0: the default")
	f.Float64Var(&e.vectorRecall, "vector-recall", 0, "share of the nearest vectors that a search of supplied vectors finds, 0.9 to 1; 0: the default")
	f.StringVar(&e.modelCache, "model-cache", "", "folder, which processes may share, of what models read of their weights, up to 110 MB; empty: in the user's cache directory, none: in memory")
	f.StringVar(&e.logLevel, "log-level", "warn", "debug, info, warn or error")
}

// logger returns a logger with the level of --log-level.
func (e *engineFlags) logger(w io.Writer) (*slog.Logger, error) {
	var l slog.Level
	if l.UnmarshalText([]byte(e.logLevel)) != nil {
		return nil, check("log-level", e.logLevel, "debug", "info", "warn", "error")
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l})), nil
}

// options returns the options of the library.
func (e *engineFlags) options(w io.Writer) (*contextmem.Options, error) {
	log, err := e.logger(w)
	if err != nil {
		return nil, err
	}
	o := &contextmem.Options{Logger: log, Workers: e.workers, BatchItems: e.batch, MaxAttempts: e.attempts, MaxOpenTenants: e.openTenants, MaxTenants: e.maxTenants,
		ChunkBytes: e.chunk, ChunkMaxBytes: e.chunkMax, ChunkOverlapBytes: e.chunkOverlap, MaxFileBytes: e.maxFile, CacheBytes: e.cache, MaxItems: e.maxItems,
		MaxMemories: e.maxMemories, MaxMemoryBytes: e.maxMemory, MaxAdditionalBytes: e.maxAdditional, Versions: e.versions, RetryFor: e.retryFor, RetryPause: e.retryPause, Lease: e.lease,
		ParseTimeout: e.parse, RecallBudget: e.budget, FeedbackBoosts: e.boosts, Forgetting: e.forgetting, VectorRecall: e.vectorRecall, PublicURL: e.publicURL, AllowLocalWebhooks: e.localWebhooks, WebhookSecretOverlap: e.webhookOverlap, WebhookVendorHeaders: e.vendorHeaders}
	if err := neural.CacheInHome(e.modelCache); err != nil {
		return nil, usage("--model-cache: the folder cannot be made")
	}
	for _, set := range []func(*contextmem.Options) error{e.setEmbedders, e.setExtractor, e.setJudge, e.setSummarizer, e.checkProviderURLs, e.setReranker, e.setReaders, e.setKeys} {
		if err := set(o); err != nil {
			return nil, err
		}
	}
	if o.WebhookNetworks, err = prefixes("webhook-networks", e.webhookNetworks); err != nil {
		return nil, err
	}
	return o, e.providers(o)
}

// setEmbedders sets the embedder, the fast embedder and the previous ones.
func (e *engineFlags) setEmbedders(o *contextmem.Options) (err error) {
	if o.Embedder, err = e.embedderNamed("embedder", e.embedder); err != nil {
		return err
	}
	switch e.fast {
	case "static":
	case "none":
		o.FastEmbedder = o.Embedder
	default:
		return check("fast-embedder", e.fast, "static", "none")
	}
	for _, name := range e.previous {
		p, err := e.embedderNamed("previous-embedders", name)
		if err != nil {
			return err
		}
		o.PreviousEmbedders = append(o.PreviousEmbedders, p)
	}
	return nil
}

// setExtractor sets the extractor. Nil stands for the rules.
func (e *engineFlags) setExtractor(o *contextmem.Options) (err error) {
	switch e.extractor {
	case "rules":
	case "openai":
		if o.Extractor, err = llm.New(llm.Config{BaseURL: e.extractorURL, APIKey: e.extractorKey, Model: e.extractorModel, Fallback: rules.New()}); err != nil {
			return usageError{err}
		}
	default:
		return check("extractor", e.extractor, "rules", "openai")
	}
	return nil
}

// setJudge sets the judge. A chat model falls back to the small model.
func (e *engineFlags) setJudge(o *contextmem.Options) error {
	switch e.judge {
	case "none":
		o.Judge = judge.None
	case "change", "openai":
		small, err := change.New()
		if err != nil {
			return err
		}
		o.Judge = small
		if e.judge == "openai" {
			if o.Judge, err = chatjudge.New(chatjudge.Config{BaseURL: e.judgeURL, APIKey: e.judgeKey, Model: e.judgeModel, Fallback: small, Logger: o.Logger}); err != nil {
				return usageError{err}
			}
		}
	default:
		return check("judge", e.judge, "change", "none", "openai")
	}
	return nil
}

// setSummarizer sets what writes the summaries of profiles. Nil stands for the sources' own sentences.
func (e *engineFlags) setSummarizer(o *contextmem.Options) (err error) {
	switch e.summarizer {
	case "none", "":
	case "openai":
		if o.Summarizer, err = chatprofile.New(chatprofile.Config{BaseURL: e.summarizerURL, APIKey: e.summarizerKey, Model: e.summarizerModel}); err != nil {
			return usageError{err}
		}
	default:
		return check("summarizer", e.summarizer, "none", "openai")
	}
	return nil
}

// checkProviderURLs checks the addresses of connector providers.
func (e *engineFlags) checkProviderURLs(*contextmem.Options) error {
	for _, u := range []struct{ flag, address string }{{"slack-url", e.slackURL}, {"github-url", e.githubURL}, {"notion-url", e.notionURL}} {
		if p, err := url.Parse(u.address); u.address != "" && (err != nil || p.Scheme != "http" && p.Scheme != "https" || p.Host == "") {
			return usage("--%s: must be an http or https address", u.flag)
		}
	}
	return nil
}

// setReranker sets the reranker.
func (e *engineFlags) setReranker(o *contextmem.Options) (err error) {
	switch e.reranker {
	case "en":
		if o.Reranker, err = english.New(); err != nil {
			return err
		}
	case "none", "":
		o.Reranker = contextmem.NoReranker
	default:
		if err := check("reranker", e.reranker, "en", "none", "cohere", "jina", "tei"); err != nil {
			return err
		}
		if o.Reranker, err = remote.New(remote.Config{BaseURL: e.rerankerURL, Dialect: remote.Dialect(e.reranker), APIKey: e.rerankerKey, Model: e.rerankerModel}); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// setReaders sets what reads scans, recordings and PDF documents.
func (e *engineFlags) setReaders(o *contextmem.Options) (err error) {
	if e.ocr {
		o.OCR = document.Tesseract{Languages: e.ocrLanguages}
	}
	if e.transcriberURL != "" {
		if o.Transcriber, err = transcribe.New(transcribe.Config{BaseURL: e.transcriberURL, APIKey: e.transcriberKey, Model: e.transcriberModel}); err != nil {
			return usageError{err}
		}
	}
	if e.pdftotext {
		o.PDFTool = document.PDFToText{}
	}
	return nil
}

// setKeys sets the keys that seal secrets and encrypt the directory.
func (e *engineFlags) setKeys(o *contextmem.Options) (err error) {
	if e.secretKey != "" {
		if o.SecretKey, err = hex.DecodeString(e.secretKey); err != nil || len(o.SecretKey) != 32 {
			return usage("--secret-key: wants 64 hexadecimal digits")
		}
	}
	if e.encryptionKey != "" {
		if o.EncryptionKey, err = hex.DecodeString(e.encryptionKey); err != nil || len(o.EncryptionKey) != 32 {
			return usage("--encryption-key: wants 64 hexadecimal digits")
		}
	}
	return nil
}

// embedderNamed creates the embedder with a name.
func (e *engineFlags) embedderNamed(flag, name string) (contextmem.Embedder, error) {
	switch name {
	case "e5-bge":
		return both.New()
	case "e5":
		return e5.New()
	case "static":
		return static.New(), nil
	case "openai":
		if e.embedderDim == 0 {
			return nil, usage("--embedder-dimensions: is needed with openai")
		}
		m, err := openai.New(openai.Config{BaseURL: e.embedderURL, APIKey: e.embedderKey, Model: e.embedderModel, Dimensions: e.embedderDim})
		if err != nil {
			return nil, usageError{err}
		}
		return m, nil
	}
	if !strings.ContainsRune(name, filepath.Separator) {
		return nil, usage("--%s: must be e5-bge, e5, static, openai or the path of a directory", flag)
	}
	m, err := neural.Load(name, nil)
	if err != nil {
		return nil, usage("--%s: the directory holds no encoder that can be read", flag)
	}
	return m, nil
}

// providers enables connector providers.
func (e *engineFlags) providers(o *contextmem.Options) error {
	on := func(name string) bool { return slices.Contains(e.connectors, name) }
	for _, name := range e.connectors {
		if name != "none" {
			if err := check("connectors", name, append([]string{"none"}, providerNames...)...); err != nil {
				return err
			}
		}
	}
	if on("none") && len(e.connectors) > 1 {
		return usage("--connectors: none stands alone")
	}
	for _, p := range []struct {
		name string
		make func() contextmem.Provider
	}{
		{"feed", func() contextmem.Provider { return feed.New(feed.Config{}) }},
		{"github", func() contextmem.Provider { return github.New(github.Config{BaseURL: e.githubURL}) }},
		{"imap", func() contextmem.Provider { return imap.New(imap.Config{AllowLocal: e.localConnectors}) }},
		{"notion", func() contextmem.Provider { return notion.New(notion.Config{BaseURL: e.notionURL}) }},
		{"slack", func() contextmem.Provider { return slack.New(slack.Config{BaseURL: e.slackURL}) }},
	} {
		if on(p.name) {
			o.Providers = append(o.Providers, p.make())
		}
	}
	if len(e.roots) > 0 {
		p, err := filesystem.New(e.roots...)
		if err != nil {
			return usage("--connector-roots: a folder does not exist, or two have one name")
		}
		o.Providers = append(o.Providers, p)
	}
	return nil
}

// prefixes parses network prefixes.
func prefixes(flag string, list []string) (out []netip.Prefix, err error) {
	for i, s := range list {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, usage("--%s: entry %d is no CIDR", flag, i+1)
		}
		out = append(out, p)
	}
	return out, nil
}
