package contextmem

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/item"
)

// intake turns a batch of items into what the Store accepts. Everything is
// checked before anything is stored.
type intake struct {
	op           string
	held         *held
	sub          Sub
	part         backend.Partition
	class        backend.Class
	now          time.Time
	failIfExists bool
	lenient      bool   // connectors: metadata that the schema does not declare is kept, but matches no filter
	instructions string // for items without their own

	items  []backend.Incoming
	result []IngestItem
	links  []*Relations // by item
	named  []string     // ids that were not made up here
	failed []failedItem // app items that can't be accepted
}

// failedItem is an item that is reported at its place but not stored.
type failedItem struct {
	at   int
	item IngestItem
}

func (in *intake) bad(kind Kind, field, format string, args ...any) error {
	return fieldError(in.op, kind, "", field, format, args...)
}

// take opens the tenant, lets read check what came, and accepts it; progress is told what becomes of it.
func (in *intake) take(ctx context.Context, progress ProgressFunc, read func() error) (*IngestResult, error) {
	h, err := in.sub.svc.open(ctx, in.op, in.sub.org, in.sub.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	if h.rec.data.Embeddings {
		return nil, fieldError(in.op, KindInvalid, ResourceTenant, "tenant_id", "the tenant is an embeddings tenant: it holds raw vectors only")
	}
	in.held, in.now = h, time.Now().UTC()
	if err := read(); err != nil {
		return nil, err
	}
	res, err := in.accept(ctx)
	in.sub.follow(progress, res)
	return res, err
}

// begin resolves the partition.
func (in *intake) begin(ctx context.Context) error {
	if err := checkText(in.op, "sub_tenant_id", in.sub.sub, maxSubTenantBytes); err != nil {
		return err
	}
	name, err := in.sub.resolve(ctx, in.held)
	if err != nil {
		return wrap(in.op, ResourceSub, in.sub.sub, err)
	}
	in.part = backend.Partition{Class: in.class, Sub: name}
	return nil
}

// checkText refuses text that can't be stored and shown: not UTF-8, holding NUL, or too long.
func checkText(op, field, s string, maxBytes int) error {
	switch {
	case len(s) > maxBytes:
		return fieldError(op, KindInvalid, "", field, "%d bytes are over the limit of %d", len(s), maxBytes)
	case !utf8.ValidString(s):
		return fieldError(op, KindInvalid, "", field, "is not valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return fieldError(op, KindInvalid, "", field, "holds a NUL character")
	}
	return nil
}

// checkTime refuses times that can't be written as RFC 3339, which has four digits for the year.
func checkTime(op, field string, t time.Time) error {
	if y := t.UTC().Year(); !t.IsZero() && (y < 1 || y > 9999) {
		return fieldError(op, KindInvalid, "", field, "the year must be between 1 and 9999")
	}
	return nil
}

// common fills what all kinds of item share.
func (in *intake) common(field string, inc *backend.Incoming, doc *item.Doc, base, own, abase, aown map[string]any) error {
	meta, mb, err := in.encodeMap(field+"metadata", base, own, maxMetadataBytes)
	if err != nil {
		return err
	}
	declared := meta
	if in.lenient {
		declared = declaredMetadata(in.held.rec.data.Schema, meta)
	}
	if err := checkMetadata(in.op, field+"metadata", in.held.rec.data.Schema, declared, false); err != nil {
		return err
	}
	add, ab, err := in.encodeMap(field+"additional_metadata", abase, aown, in.held.svc.opts.MaxAdditionalBytes)
	if err != nil {
		return err
	}
	for _, s := range [...]struct{ name, value string }{{"title", inc.Title}, {"type", inc.Kind}, {"description", doc.Description}, {"note", doc.Note},
		{"url", doc.URL}, {"user_name", doc.UserName}, {"custom_instructions", doc.Instructions}, {"session", inc.Session},
		{"content_type", inc.MediaType}, {"timestamp", doc.Timestamp}} {
		if err := checkText(in.op, field+s.name, s.value, 64<<10); err != nil {
			return err
		}
	}
	if len(doc.ACL) > maxPrincipals {
		return in.bad(KindInvalid, field+"acl", "%d principals are over the limit of %d", len(doc.ACL), maxPrincipals)
	}
	for _, p := range doc.ACL {
		if strings.TrimSpace(p) == "" {
			return in.bad(KindInvalid, field+"acl", "a principal is blank")
		}
		if err := checkText(in.op, field+"acl", p, maxSourceIDBytes); err != nil {
			return err
		}
	}
	if err := checkTime(in.op, field+"timestamp", inc.Time); err != nil {
		return err
	}
	inc.Part, inc.Metadata, inc.Additional = in.part, mb, ab
	inc.CreatedAt, inc.UpdatedAt, inc.IfAbsent = in.now, in.now, in.failIfExists
	doc.Dense, doc.Sparse = embeddedFields(in.held.rec.data.Schema, meta)
	if inc.Time.IsZero() {
		inc.Time = timeFromMetadata(add, meta)
	}
	if in.class == backend.Memory && inc.Session == "" {
		inc.Session = sessionFromMetadata(add, meta)
	}
	if doc.Instructions == "" {
		doc.Instructions = in.instructions
	}
	inc.Tags = sourceTags(inc.Source, doc, declared, add)
	inc.Doc, err = doc.Encode()
	if err != nil {
		return wrap(in.op, "", inc.ID, err)
	}
	return nil
}

func (in *intake) id(field, id string) (string, error) {
	if id == "" {
		return newUID(), nil
	}
	if strings.TrimSpace(id) == "" {
		return "", in.bad(KindInvalid, field, "is blank")
	}
	in.named = append(in.named, id)
	return id, checkText(in.op, field, id, maxSourceIDBytes)
}

func (in *intake) memories(ctx context.Context, b MemoryBatch) error {
	if len(b.Memories) == 0 {
		return in.bad(KindUnprocessed, "memories", "needs at least one item")
	}
	if n := in.held.svc.opts.MaxMemories; len(b.Memories) > n {
		return in.bad(KindInvalid, "memories", "%d items are over the limit of %d", len(b.Memories), n)
	}
	if err := in.begin(ctx); err != nil {
		return err
	}
	in.items = make([]backend.Incoming, 0, len(b.Memories))
	for i := range b.Memories {
		if err := in.memory(fmt.Sprintf("memories[%d].", i), &b.Memories[i], b, len(b.Memories) == 1); err != nil {
			return err
		}
	}
	return in.graphs(b.Graphs)
}

func (in *intake) memory(field string, m *Memory, b MemoryBatch, alone bool) error {
	text, pairs := m.Text, false
	switch {
	case m.Text != "" && len(m.Pairs) > 0:
		return in.bad(KindUnprocessed, field+"text", "text and user_assistant_pairs exclude each other")
	case len(m.Pairs) > 0:
		cp := make([]chunk.Pair, len(m.Pairs))
		for i, p := range m.Pairs {
			if strings.TrimSpace(p.User) == "" && strings.TrimSpace(p.Assistant) == "" {
				return in.bad(KindUnprocessed, fmt.Sprintf("%suser_assistant_pairs[%d]", field, i), "has neither user nor assistant text")
			}
			cp[i] = chunk.Pair{User: p.User, Assistant: p.Assistant}
		}
		text, _ = chunk.Pairs(cp, m.UserName)
		pairs = true
	case strings.TrimSpace(m.Text) == "":
		return in.bad(KindUnprocessed, field+"text", "text or user_assistant_pairs is required")
	}
	if err := checkText(in.op, field+"text", text, in.held.svc.opts.MaxMemoryBytes); err != nil {
		return err
	}
	if m.TTL < 0 {
		return in.bad(KindInvalid, field+"expiry_time", "must not be negative")
	}
	id, err := in.id(field+"source_id", m.ID)
	if err != nil {
		return err
	}
	inc := backend.Incoming{Source: backend.Source{ID: id, Title: m.Title, MediaType: "text/plain", SizeBytes: int64(len(text)), Infer: m.Infer, Time: m.Time.UTC(), Session: m.Session}}
	if m.Time.IsZero() {
		inc.Time = time.Time{}
	}
	if m.TTL > 0 {
		inc.ExpiresAt = in.now.Add(m.TTL)
	}
	if m.Markdown {
		inc.MediaType = "text/markdown"
	}
	inc.Blobs = []backend.Blob{{Kind: backend.Original, Data: []byte(text)}}
	doc := &item.Doc{UserName: m.UserName, Markdown: m.Markdown, Pairs: pairs, NamedTitle: m.Title != ""}
	if doc.UserName == "" {
		doc.UserName = defaultUserName
	}
	if m.Infer {
		doc.Instructions = m.Instructions
	}
	if err := in.relate(field, m.Relations, doc); err != nil {
		return err
	}
	if err := in.common(field, &inc, doc, b.Metadata, m.Metadata, b.AdditionalMetadata, m.AdditionalMetadata); err != nil {
		return err
	}
	if inc.Time.IsZero() && alone {
		inc.Time = in.now
	}
	in.add(inc, IngestItem{ID: id, Title: m.Title, Infer: m.Infer}, m.Relations)
	return nil
}

// shortTitle is the start of a text, for display where no title was given.
func shortTitle(text string) string {
	line, cut := titleLine(text)
	if cut {
		line += cutSign
	}
	return line
}

const cutSign = "…"

// titleLine is the part of a text that shortTitle shows, and whether cutSign follows.
func titleLine(text string) (line string, cut bool) {
	line, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	for line != "" && (line[0] == ' ' || line[0] == '#' || line[0] == '>' || line[0] == '*' || line[0] == '-') {
		line = line[1:]
	}
	line = strings.TrimSpace(line)
	n := 0
	for end := range line {
		if n++; n > maxTitle {
			line = line[:end]
			if i := strings.LastIndexByte(line, ' '); i > 20 {
				line = line[:i]
			}
			return line, true
		}
	}
	return line, false
}

// maxTitle is how many characters a title made of a text has at most.
const maxTitle = 60

func (in *intake) add(inc backend.Incoming, res IngestItem, rel *Relations) {
	in.items = append(in.items, inc)
	in.result = append(in.result, res)
	in.links = append(in.links, rel)
}

func (in *intake) knowledge(ctx context.Context, b KnowledgeBatch) error {
	n := len(b.Files) + len(b.Apps)
	if n == 0 {
		return in.bad(KindInvalid, "files", "needs at least one file or app item")
	}
	if lim := in.held.svc.opts.MaxItems; n > lim {
		return in.bad(KindInvalid, "files", "%d items are over the limit of %d", n, lim)
	}
	if err := in.begin(ctx); err != nil {
		return err
	}
	derived := map[string]int{}
	for i := range b.Files {
		if err := in.file(ctx, fmt.Sprintf("files[%d].", i), &b.Files[i], b, derived); err != nil {
			return err
		}
	}
	for i := range b.Apps {
		if err := in.app(fmt.Sprintf("app_knowledge[%d].", i), &b.Apps[i], b); err != nil {
			return err
		}
	}
	return in.graphs(b.Graphs)
}

func (in *intake) file(ctx context.Context, field string, f *File, b KnowledgeBatch, derived map[string]int) error {
	name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
	if f.Name == "" || name == "." || name == "/" {
		name = ""
	}
	if err := checkText(in.op, field+"name", name, 1024); err != nil {
		return err
	}
	if !in.held.svc.parsers.Supported(name, f.ContentType) {
		return &Error{Op: in.op, Kind: KindFormat, Resource: ResourceFile, ID: shortID(name), Field: strings.TrimSuffix(field, "."),
			Err: fmt.Errorf("file %q has a format that is not supported", shortID(name))}
	}
	data, err := in.read(ctx, field, f, name)
	if err != nil {
		return err
	}
	id := f.ID
	if id == "" && name != "" {
		// Deterministic, so that the same name again replaces it; equal names in one call stay apart.
		derived[name]++
		h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", in.part.Sub, name, derived[name]))
		id = hex.EncodeToString(h[:16])
	}
	if id, err = in.id(field+"file_id", id); err != nil {
		return err
	}
	title := f.Title
	if title == "" {
		title = name
	}
	inc := backend.Incoming{Source: backend.Source{ID: id, Title: title, Kind: f.Kind, Filename: name, MediaType: f.ContentType, SizeBytes: int64(len(data)), Time: f.Time.UTC()},
		Blobs: []backend.Blob{{Kind: backend.Original, Data: data}}}
	if f.Time.IsZero() {
		inc.Time = time.Time{}
	}
	if inc.Kind == "" {
		inc.Kind = "file"
	}
	doc := &item.Doc{URL: f.URL, Description: f.Description, NamedTitle: f.Title != "", ACL: f.ACL}
	if !f.Time.IsZero() {
		doc.Timestamp = f.Time.UTC().Format(time.RFC3339)
	}
	if err := in.relate(field, f.Relations, doc); err != nil {
		return err
	}
	if err := in.common(field, &inc, doc, b.Metadata, f.Metadata, b.AdditionalMetadata, f.AdditionalMetadata); err != nil {
		return err
	}
	in.add(inc, IngestItem{ID: id, Filename: name, Title: title}, f.Relations)
	return nil
}

func (in *intake) read(ctx context.Context, field string, f *File, name string) ([]byte, error) {
	limit := in.held.svc.opts.MaxFileBytes
	tooLarge := func() error {
		return &Error{Op: in.op, Kind: KindTooLarge, Resource: ResourceFile, ID: shortID(name), Field: strings.TrimSuffix(field, "."),
			Err: fmt.Errorf("file %q is over the limit of %d bytes", shortID(name), limit)}
	}
	data := f.Data
	if data == nil && f.Open != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := f.Open()
		if err != nil {
			return nil, wrap(in.op, ResourceFile, name, fmt.Errorf("open the file: %w", err))
		}
		data, err = io.ReadAll(io.LimitReader(r, limit+1))
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, wrap(in.op, ResourceFile, name, fmt.Errorf("read the file: %w", err))
		}
	}
	if int64(len(data)) > limit {
		return nil, tooLarge()
	}
	if len(data) == 0 {
		return nil, &Error{Op: in.op, Kind: KindFormat, Resource: ResourceFile, ID: shortID(name), Field: strings.TrimSuffix(field, "."),
			Err: fmt.Errorf("file %q is empty", shortID(name))}
	}
	return data, nil
}

// accept stores the batch and reports.
func (in *intake) accept(ctx context.Context) (*IngestResult, error) {
	h := in.held
	if len(in.items) == 0 {
		return in.report(&IngestResult{}), nil
	}
	if err := in.keepGraphs(ctx); err != nil {
		return nil, wrap(in.op, ResourceSource, "", err)
	}
	var acc []backend.Accepted
	err := h.svc.sched.admit(ctx, h.uid, func() (err error) {
		acc, err = h.store.Accept(ctx, in.items)
		return err
	})
	if err != nil {
		return nil, wrap(in.op, ResourceTenant, in.sub.tenant, err)
	}
	res := &IngestResult{Items: in.result}
	var expiry time.Time
	for i := range acc {
		it := &res.Items[i]
		if acc[i].Exists {
			it.Status = StatusFailed
			it.Err = &Error{Op: in.op, Kind: KindExists, Resource: ResourceSource, ID: shortID(it.ID), Err: errors.New("an item with this id exists and upsert is false")}
			res.Failed++
			continue
		}
		it.Status = StatusQueued
		res.Accepted++
		if e := in.items[i].ExpiresAt; !e.IsZero() && (expiry.IsZero() || e.Before(expiry)) {
			expiry = e
		}
	}
	if !expiry.IsZero() {
		h.svc.sched.planExpiry(h.uid, expiry)
	}
	if err := in.countRelations(ctx, res); err != nil {
		h.svc.opts.Logger.Warn("checking relations failed", "err", err)
	}
	return in.report(res), nil
}

// report puts items that were not accepted at their places.
func (in *intake) report(res *IngestResult) *IngestResult {
	for _, f := range in.failed {
		res.Items = slices.Insert(res.Items, f.at, f.item)
		res.Failed++
	}
	return res
}
