package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Remote measures a tenant of a server through the first version of the REST API.
type Remote struct {
	URL, Key, Tenant string
	Mode             string // fast or thinking
	Alpha            string // a number, "auto", or empty for the default
	Client           *http.Client
}

// maxAnswer bounds an answer of the server.
const maxAnswer = 64 << 20

func (r *Remote) call(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(r.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.Key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	c := r.Client
	if c == nil {
		c = http.DefaultClient
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: the server answered %d", method, path, res.StatusCode)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(b, out)
}

func (r *Remote) json(ctx context.Context, path string, in, out any) error {
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return r.call(ctx, http.MethodPost, path, "application/json", b, out)
}

// Create makes the tenant and waits until it is ready.
func (r *Remote) Create(ctx context.Context) error {
	if err := r.json(ctx, "/tenants/create", map[string]any{"tenant_id": r.Tenant}, nil); err != nil {
		return err
	}
	return poll(ctx, func() (bool, error) {
		var s struct {
			Infra struct {
				Scheduler bool   `json:"scheduler_status"`
				Graph     bool   `json:"graph_status"`
				Vectors   []bool `json:"vectorstore_status"`
			} `json:"infra"`
		}
		err := r.call(ctx, http.MethodGet, "/tenants/infra/status?tenant_id="+url.QueryEscape(r.Tenant), "", nil, &s)
		return s.Infra.Scheduler && s.Infra.Graph && len(s.Infra.Vectors) == 2 && s.Infra.Vectors[0] && s.Infra.Vectors[1], err
	})
}

// Drop deletes the tenant.
func (r *Remote) Drop(ctx context.Context) error {
	return r.call(ctx, http.MethodDelete, "/tenants/delete?tenant_id="+url.QueryEscape(r.Tenant), "", nil, nil)
}

func poll(ctx context.Context, f func() (bool, error)) error {
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		if ok, err := f(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

// Fill implements Target.
func (r *Remote) Fill(ctx context.Context, lane string, g Group) error {
	for start := 0; start < len(g.Docs); start += batch {
		docs := g.Docs[start:min(start+batch, len(g.Docs))]
		if err := r.add(ctx, lane, g.ID, docs); err != nil {
			return err
		}
		v := url.Values{"tenant_id": {r.Tenant}, "sub_tenant_id": {g.ID}}
		for _, d := range docs {
			v.Add("file_ids", d.ID)
		}
		err := poll(ctx, func() (bool, error) {
			var s struct {
				Statuses []struct {
					Status string `json:"indexing_status"`
				} `json:"statuses"`
			}
			if err := r.call(ctx, http.MethodPost, "/ingestion/verify_processing?"+v.Encode(), "", nil, &s); err != nil {
				return false, err
			}
			for _, x := range s.Statuses {
				if x.Status == "errored" {
					return false, errors.New("an item is errored")
				}
				if x.Status != "completed" {
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Remote) add(ctx context.Context, lane, group string, docs []Doc) error {
	if lane == "memory" {
		var ms []map[string]any
		for _, d := range docs {
			m := map[string]any{"source_id": d.ID, "text": d.Text}
			if d.Title != "" {
				m["title"] = d.Title
			}
			if d.Time != "" {
				m["additional_metadata"] = map[string]any{"timestamp": d.Time}
			}
			ms = append(ms, m)
		}
		return r.json(ctx, "/memories/add_memory", map[string]any{"tenant_id": r.Tenant, "sub_tenant_id": group, "memories": ms}, nil)
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	var meta []map[string]any
	for _, d := range docs {
		meta = append(meta, map[string]any{"file_id": d.ID})
	}
	m, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	for _, f := range [][2]string{{"tenant_id", r.Tenant}, {"sub_tenant_id", group}, {"file_metadata", string(m)}} {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return err
		}
	}
	for i, d := range docs {
		h := textproto.MIMEHeader{"Content-Type": {"text/plain; charset=utf-8"},
			"Content-Disposition": {fmt.Sprintf(`form-data; name="files"; filename="%d.txt"`, i)}}
		p, err := w.CreatePart(h)
		if err != nil {
			return err
		}
		text := d.Text
		if d.Title != "" {
			text = d.Title + "\n\n" + text
		}
		if _, err := io.WriteString(p, text); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.call(ctx, http.MethodPost, "/ingestion/upload_knowledge", w.FormDataContentType(), body.Bytes(), nil)
}

// Ask implements Target.
func (r *Remote) Ask(ctx context.Context, lane, group, question string, n int) ([]Hit, error) {
	in := map[string]any{"tenant_id": r.Tenant, "sub_tenant_id": group, "query": question, "max_results": n, "mode": r.Mode}
	switch r.Alpha {
	case "":
	case "auto":
		in["alpha"] = "auto"
	default:
		v, err := strconv.ParseFloat(r.Alpha, 64)
		if err != nil {
			return nil, fmt.Errorf("alpha: %w", err)
		}
		in["alpha"] = v
	}
	path := "/recall/full_recall"
	if lane == "memory" {
		path = "/recall/recall_preferences"
	}
	var out struct {
		Chunks []struct {
			SourceID string `json:"source_id"`
			Text     string `json:"chunk_content"`
		} `json:"chunks"`
	}
	if err := r.json(ctx, path, in, &out); err != nil {
		return nil, err
	}
	hits := make([]Hit, len(out.Chunks))
	for i, c := range out.Chunks {
		hits[i] = Hit{DocID: c.SourceID, Chars: len(c.Text)}
	}
	return hits, nil
}
