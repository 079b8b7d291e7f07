package contextmem

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/connect"
	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/parse"
	"github.com/contextmem/contextmem/internal/slot"
	"github.com/contextmem/contextmem/internal/vectors"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/observe"
	"github.com/contextmem/contextmem/rerank"
)

// Options configure a Service. The zero value of every field is its documented
// default; nil Options are all defaults, and most programs need no more.
//
// What programs set first:
//   - Embedder: a better model than the word table; importing a package under models/ does the same
//   - Extractor: a language model that reads facts, in place of rules
//   - OCR: reads images and scanned documents
//   - Providers: what connectors can sync
//   - Logger: where messages go; without it nothing is said
//   - EncryptionKey: encrypts the files of Open
//   - PublicURL: the address of the REST API, for links in its answers
//
// The others by subject:
//   - models: FastEmbedder, PreviousEmbedders, Reranker, Judge, Summarizer
//   - documents: Parsers, Transcriber, PDFTool, ParseTimeout, ChunkBytes, ChunkMaxBytes, ChunkOverlapBytes
//   - what one call may bring: MaxFileBytes, MaxItems, MaxMemories, MaxMemoryBytes, MaxAdditionalBytes
//   - what is kept: Versions, MaxTenants
//   - recall: RecallBudget, Slots, Forgetting, FeedbackBoosts, VectorRecall
//   - background work and outages: Workers, BatchItems, MaxAttempts, RetryFor, RetryPause, Lease
//   - memory and files: MaxOpenTenants, CacheBytes
//   - webhooks: AllowLocalWebhooks, WebhookNetworks, WebhookSecretOverlap, WebhookVendorHeaders, WebhookTransport
//   - secrets and watching: SecretKey, Observer
type Options struct {
	// Embedder makes the vectors. Default: the one that an imported package under models/ registered (see package embed), else
	// the embedded model static-en-128. With a [Slow] embedder, recalls find new texts at once by the vectors of
	// FastEmbedder and by their words. A background pass adds the vectors of Embedder later; if there are only a few
	// items, they get these vectors before they are completed. See [Tenant.WaitRefined].
	Embedder Embedder
	// FastEmbedder makes the vectors of new texts until a Slow Embedder has embedded them. If FastEmbedder is the Embedder itself,
	// there is no background pass, and items are searchable only after Embedder has embedded them. It is not used if
	// Embedder is not Slow. Default: static-en-128.
	FastEmbedder Embedder
	// PreviousEmbedders serve the tenants whose vectors they made, until Tenant.Reembed has replaced
	// these vectors with those of Embedder. Default: none; such tenants then refuse calls
	// until Reembed is called, and are searched by keywords alone while it runs.
	PreviousEmbedders []Embedder
	// Extractor finds entities, relations and facts. Default: rules, without a language model.
	Extractor extract.Extractor
	// Reranker reorders the best 50 hits in thinking mode, inside RecallBudget. A [Multilingual] one reorders the best 20, and also
	// in mode auto if no hit is clearly the best. Default: the one that an imported package under models/
	// registered (see package rerank), else none; [NoReranker]: none.
	Reranker Reranker
	// Judge decides which memory supersedes which, and how well a passage answers a question. It works in addition to rules, which
	// find only explicit statements that something ended or was wrong. Default: the one that an imported package under models/
	// registered (see package judge), else rules alone; [judge.None]: rules alone. Package judge/llm asks a language model.
	Judge judge.Judge
	// Summarizer writes the summaries of profiles; its Model must not be empty. Without one, or if it fails, a summary consists of
	// sentences of the sources, and Profile.SummaryBy says so. Default: none. Package facts/llm asks a language model.
	Summarizer facts.Summarizer
	// Parsers read further media types (key: "application/x-foo"), or replace a bundled parser. A document.NamedParser also names
	// the extensions of its files. The module readers has one for SQLite and one for Parquet.
	Parsers map[string]document.Parser
	// OCR reads images and scanned PDF documents, such as document.Tesseract{}. Default: none; such files end errored (E1001, E2003).
	OCR document.OCR
	// Transcriber turns recordings of speech into text, such as package transcribe makes. Default: none; such files end errored (E1001).
	// A recording has ParseTimeout, like any document.
	Transcriber document.Transcriber
	// PDFTool reads the text of PDF documents in place of the bundled reader, which stays the fallback; such as
	// document.PDFToText{}. Default: none.
	PDFTool document.PDFTool
	// Providers can be synced by connectors; their names are distinct. Default: none.
	Providers []Provider
	// Observer is called for each recall, each call that adds items and each processed batch, with the durations of their
	// stages; see package observe. [Service.WriteMetrics] does not need it. Default: none.
	Observer observe.Observer
	// Logger gets operational messages, never content. Default: silent.
	Logger *slog.Logger

	// Workers is how many batches are processed at once, 1 to 64. Default: the
	// number of CPUs, at most 8.
	Workers int
	// BatchItems is how many small items one worker takes at once, 1 to 4096. Default 512, which is 2048 while thousands wait, or 256 with an Extractor of your own.
	BatchItems int
	// MaxAttempts is how often processing of an item is tried before the item is errored, if its own content may be the cause
	// of the failures; 1 to 100. See RetryFor for other failures. Default 8.
	MaxAttempts int
	// RetryFor is how long after its acceptance an item is retried while a dependency is down (the embedder, the
	// extractor, the storage), regardless of the number of failures; 1 min to 30 days. Default 24 h.
	RetryFor time.Duration
	// RetryPause is the longest pause before a dependency that is down is tried again, 1 s to 1 h. Pauses grow from one
	// second, with jitter; during a pause no item is processed. Default 5 min.
	RetryPause time.Duration
	// Lease is how long a worker may be silent before another takes over its
	// items, 1 s to 1 h. Default 2 min.
	Lease time.Duration
	// ParseTimeout bounds the parsing of one document. Default 60 s.
	ParseTimeout time.Duration
	// MaxOpenTenants bounds how many idle tenants are kept open. The least recently used ones are
	// closed, and the next use opens them again. With [Open], an open tenant takes up to eight file descriptors, a closed one none.
	// If the process may not open that many files, the bound is lower, and the log says so. Default 100.
	MaxOpenTenants int
	// CacheBytes is the approximate bound of the memory for search indexes with [Open], over all tenants. The least
	// recently used indexes are evicted and loaded from their files again; mapped files do not count. Default 1 GiB;
	// negative: no bound.
	CacheBytes int64

	// ChunkBytes is the target size of chunks, in bytes of UTF-8, 100 to 100000. Default 800.
	ChunkBytes int
	// ChunkMaxBytes is the size that no chunk exceeds; at least ChunkBytes. Default 2000, or 5/3 of ChunkBytes when that is more.
	ChunkMaxBytes int
	// ChunkOverlapBytes is how much of a split paragraph is repeated at the start of the next chunk;
	// negative: none; at most half of ChunkBytes. Default 150.
	ChunkOverlapBytes int

	// MaxFileBytes bounds one file. Default 50 MiB.
	MaxFileBytes int64
	// MaxItems bounds the items of one call. Default 100 files or app items; memories are bounded by MaxMemories.
	MaxItems int
	// MaxMemories bounds the memories of one call. Default 10000.
	MaxMemories int
	// MaxMemoryBytes bounds the text of one memory. Default 4 MiB.
	MaxMemoryBytes int
	// MaxAdditionalBytes bounds the compact JSON of an item's additional metadata. Default 1024.
	MaxAdditionalBytes int
	// Versions is how many earlier versions of an item are kept, at most 1000; see [Sub.History]. Default 10; negative: none.
	Versions int
	// MaxTenants bounds the tenants of an organisation; creating more is
	// forbidden. Default: no bound.
	MaxTenants int

	// VectorRecall is the share of the nearest vectors that a search of supplied vectors finds on average, .9 to 1, if a
	// sub-tenant has so many vectors (from about 20,000) that the search is approximate; 1 searches exactly.
	// [SearchVectorsRequest] can override it. Default .98.
	VectorRecall float64
	// RecallBudget is the time that thinking mode may use before it degrades,
	// visibly in Result.Warnings. Default 150 ms without a Reranker, 2 s with one.
	RecallBudget time.Duration
	// Slots adds slots, by which facts are grouped. A slot with the name of a standard slot extends that slot. See [Sub.Profile].
	Slots []facts.Slot
	slots *slot.Taxonomy // the standard slots and Slots
	// Forgetting weighs memories by age and use: the score is multiplied by a factor from .5 (old, never recalled) to 1.5 (often recalled),
	// which Explain.Forgetting reports. No memory is deleted. A memory told again in the same words supersedes the earlier one, until
	// [Sub.Restore] undoes that. See docs/recall.md.
	Forgetting bool
	// FeedbackBoosts lets ratings and ground truth move the ranking of later recalls.
	FeedbackBoosts bool

	// SecretKey encrypts webhook secrets and connector credentials at rest and signs
	// presigned URLs; 32 bytes. Default: Open makes a key file in its directory; New, and Open with an
	// EncryptionKey, keep a random key in the registry. Opening fails if the key does not decrypt the stored secrets.
	// [Service.RotateSecretKey] replaces it.
	SecretKey []byte
	keyDir    string // of the key file; empty: the registry
	// EncryptionKey encrypts the files of [Open]: every page of the stores and their logs, the index files, and backups; 32 bytes.
	// A directory is encrypted from its first opening, or never. Opening an encrypted directory with another key or without one, or an
	// unencrypted one with a key, fails and changes nothing. File names, sizes and times stay readable. Keep the key elsewhere: without it all data is lost.
	// See [Service.RotateEncryptionKey] and docs/encryption.md. Default: none.
	EncryptionKey []byte
	// AllowLocalWebhooks lets webhooks go to this machine (loopback addresses and localhost), over plain http as well,
	// for development and tests. It opens no other address; see WebhookNetworks.
	AllowLocalWebhooks bool
	// WebhookNetworks are ranges besides the public internet that webhooks may go to, over https, such as 10.1.0.0/16.
	// With it, host names that resolve only inside a network are accepted; the address of every connection is checked. Default: none.
	WebhookNetworks []netip.Prefix
	// WebhookSecretOverlap is how long after a rotation of the signing secret deliveries carry a
	// second signature, made with the secret before, in the header HeaderPreviousSignature; up to 30 days. Default 0: none.
	WebhookSecretOverlap time.Duration
	// WebhookVendorHeaders gives deliveries the headers X-HydraDB-Delivery-ID, -Event and -Signature of the hosted service too.
	WebhookVendorHeaders bool
	// WebhookTransport sends deliveries. Default: one that dials public addresses only, and those that the options above open.
	WebhookTransport http.RoundTripper
	// PublicURL is the address at which an httpapi handler is reachable, used in presigned URLs. Default: they are relative.
	PublicURL string
}

const (
	defaultMaxFile    = 50 << 20
	maxDim            = 4096 // of the vectors of an embedder
	defaultAdditional = 1024 // wire contract: at most 1024 bytes of compact JSON

	// unlimitedTenants is the value of Options.MaxTenants that bounds nothing.
	unlimitedTenants = 1 << 30
)

// withDefaults returns a completed, validated copy for a deployment in dir, or in a backend if dir is empty. The error joins all faults.
func (o *Options) withDefaults(dir string) (*Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	c.keyDir = dir
	f := faults.List{Of: "option "}
	f.NilPlugins(&c)
	c.bounds(&f)
	c.keysAndWebhooks(&f)
	c.models(&f)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if err := f.Err(); err != nil {
		return nil, &fault.Error{Op: "open", Kind: fault.KindInvalid, Err: err}
	}
	return &c, nil
}

// bounds completes and checks numbers and durations.
func (c *Options) bounds(f *faults.List) {
	faults.Within(f, "Workers", &c.Workers, min(runtime.GOMAXPROCS(0), 8), 1, 64)
	batch := 512
	if c.Extractor != nil { // what a model has read of a batch is lost if the process ends meanwhile
		batch = 256
	}
	faults.Within(f, "BatchItems", &c.BatchItems, batch, 1, 4096)
	faults.Within(f, "MaxAttempts", &c.MaxAttempts, 8, 1, 100)
	faults.Within(f, "MaxOpenTenants", &c.MaxOpenTenants, 100, 1, 1<<20)
	faults.Within(f, "ChunkBytes", &c.ChunkBytes, 800, 100, 100000)
	faults.Within(f, "ChunkMaxBytes", &c.ChunkMaxBytes, max(2000, 5*c.ChunkBytes/3), c.ChunkBytes, 400000)
	c.ChunkOverlapBytes = max(cmp.Or(c.ChunkOverlapBytes, min(150, c.ChunkBytes/2)), 0)
	f.Add(c.ChunkOverlapBytes > c.ChunkBytes/2, "ChunkOverlapBytes: %d is over half of ChunkBytes", c.ChunkOverlapBytes)
	faults.Within(f, "MaxItems", &c.MaxItems, 100, 1, 100000)
	faults.Within(f, "MaxMemories", &c.MaxMemories, 10000, 1, 1000000)
	faults.Within(f, "MaxMemoryBytes", &c.MaxMemoryBytes, 4<<20, 1, 1<<30)
	faults.Within(f, "MaxAdditionalBytes", &c.MaxAdditionalBytes, defaultAdditional, 2, 1<<20)
	faults.Within(f, "Versions", &c.Versions, 10, math.MinInt, 1000)
	faults.Within(f, "MaxTenants", &c.MaxTenants, unlimitedTenants, 1, unlimitedTenants)
	f.Add(c.VectorRecall != 0 && !(c.VectorRecall >= vectors.LeastRecall && c.VectorRecall <= 1), "VectorRecall: %v is outside %v to 1", c.VectorRecall, vectors.LeastRecall)
	faults.Within(f, "RetryFor", &c.RetryFor, 24*time.Hour, time.Minute, 30*24*time.Hour)
	faults.Within(f, "RetryPause", &c.RetryPause, 5*time.Minute, time.Second, time.Hour)
	faults.Within(f, "Lease", &c.Lease, 2*time.Minute, time.Second, time.Hour)
	faults.Within(f, "ParseTimeout", &c.ParseTimeout, time.Minute, time.Second, time.Hour)
	faults.Within(f, "MaxFileBytes", &c.MaxFileBytes, defaultMaxFile, 1, 1<<31)
}

// keysAndWebhooks checks what encrypts, and where webhooks may go.
func (c *Options) keysAndWebhooks(f *faults.List) {
	secret, n := len(c.SecretKey), len(c.EncryptionKey)
	f.Add(secret != 0 && secret != 32, "SecretKey: %d bytes, want 32", secret)
	f.Add(c.EncryptionKey != nil && n != atrest.KeyBytes, "EncryptionKey: %d bytes, want %d", n, atrest.KeyBytes)
	f.Add(n == atrest.KeyBytes && c.keyDir == "", "EncryptionKey: is for Open; a backend that New is given encrypts by itself")
	f.Add(c.WebhookSecretOverlap < 0 || c.WebhookSecretOverlap > 30*24*time.Hour, "WebhookSecretOverlap: %v is outside 0 to 720 h", c.WebhookSecretOverlap)
	f.Add(slices.ContainsFunc(c.WebhookNetworks, func(p netip.Prefix) bool { return !p.IsValid() }), "WebhookNetworks: holds a range that is not valid")
}

// models completes and checks what is called: embedders, reranker, summarizer and providers; and slots.
func (c *Options) models(f *faults.List) {
	switch c.Reranker {
	case NoReranker:
		c.Reranker = nil
	case nil:
		if r, err := rerank.Default(); err != nil {
			f.Add(true, "Reranker: %w", err)
		} else if r != nil {
			c.Reranker = r
		}
	}
	budget := 150 * time.Millisecond
	if c.Reranker != nil {
		budget = 2 * time.Second
	}
	faults.Within(f, "RecallBudget", &c.RecallBudget, budget, time.Millisecond, 10*time.Minute)
	checkEmbedder(f, "Embedder", c.Embedder)
	checkEmbedder(f, "FastEmbedder", c.FastEmbedder)
	for i, e := range c.PreviousEmbedders {
		name := fmt.Sprintf("PreviousEmbedders[%d]", i)
		f.Add(e == nil, "%s: is nil", name)
		checkEmbedder(f, name, e)
	}
	f.Add(c.Summarizer != nil && c.Summarizer.Model() == "", "Summarizer: its model has no name")
	var err error
	c.slots, err = slot.New(c.Slots)
	f.Add(err != nil, "%w", err)
	err = connect.CheckProviders(c.Providers)
	f.Add(err != nil, "Providers: %w", err)
}

// checkEmbedder checks an embedder, if there is one.
func checkEmbedder(f *faults.List, name string, e Embedder) {
	if e == nil || f.Nil(name, e) {
		return
	}
	if p, ok := e.(*EmbedderFunc); ok {
		e = *p
	}
	dim, model := name+": dimension", name+": its model has no name"
	if fn, ok := e.(EmbedderFunc); ok {
		dim, model = name+".Length:", name+".Name: is empty"
		f.Add(fn.Embed == nil, "%s.Embed: is nil, want a function", name)
	}
	d := e.Dim()
	f.Add(d < 1 || d > maxDim, "%s %d is outside 1 to %d", dim, d, maxDim)
	f.Add(e.Model() == "", "%s", model)
}

func (o *Options) chunking() chunk.Options {
	return chunk.Options{TargetBytes: o.ChunkBytes, MaxBytes: o.ChunkMaxBytes, OverlapBytes: o.ChunkOverlapBytes}
}

// tenantLimit is MaxTenants for a registry, which counts nothing at 0.
func (o *Options) tenantLimit() int {
	if o.MaxTenants == unlimitedTenants {
		return 0
	}
	return o.MaxTenants
}

func (o *Options) intakeLimits() intake.Limits {
	return intake.Limits{MaxItems: o.MaxItems, MaxMemories: o.MaxMemories, MaxMemoryBytes: o.MaxMemoryBytes, MaxFileBytes: o.MaxFileBytes,
		MaxAdditionalBytes: o.MaxAdditionalBytes, Versions: o.Versions}
}

func (o *Options) parsers() *parse.Registry {
	r := parse.New()
	r.RegisterAll(o.Parsers)
	r.SetOCR(o.OCR)
	r.SetTranscriber(o.Transcriber)
	r.SetPDFTool(o.PDFTool)
	return r
}
