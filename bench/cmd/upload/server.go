package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const key = "upload-key"

// server is a running server.
type server struct {
	cmd  *exec.Cmd
	base string
}

// start starts a server on an empty directory and waits until it answers.
func start(ctx context.Context, binary, dir string) (*server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.CommandContext(ctx, path), base: "http://" + addr}
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "CONTEXTMEM_ADDR="+addr, "CONTEXTMEM_DATA="+filepath.Join(dir, "data"), "CONTEXTMEM_API_KEYS="+key)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if c, err := new(net.Dialer).DialContext(ctx, "tcp", addr); err == nil {
			return s, c.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the server does not answer"), s.stop())
}

func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// call sends a request and decodes the answer into v.
func (s *server) call(ctx context.Context, method, path, contentType string, body io.Reader, v any) error {
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	return json.Unmarshal(answer, v)
}

// prepare creates the tenant and waits until it is ready.
func (s *server) prepare(ctx context.Context) error {
	if err := s.call(ctx, "POST", "/tenants/create", "application/json", strings.NewReader(`{"tenant_id": "acme"}`), new(any)); err != nil {
		return err
	}
	for range 100 {
		var found struct {
			Statuses []struct {
				State string `json:"indexing_status"`
			} `json:"statuses"`
		}
		if s.call(ctx, "POST", "/ingestion/verify_processing?tenant_id=acme&file_ids=none", "application/json", strings.NewReader("{}"), &found) == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the tenant does not become ready")
}

// upload sends the texts as files of one request and returns their ids.
func (s *server) upload(ctx context.Context, contentType string, body []byte) (ids []string, err error) {
	var answer struct {
		Results []struct {
			Source string `json:"source_id"`
		} `json:"results"`
	}
	if err := s.call(ctx, "POST", "/ingestion/upload_knowledge", contentType, bytes.NewReader(body), &answer); err != nil {
		return nil, err
	}
	for _, r := range answer.Results {
		ids = append(ids, r.Source)
	}
	return ids, nil
}

// await waits until all files are completed.
func (s *server) await(ctx context.Context, ids []string) error {
	path := "/ingestion/verify_processing?" + url.Values{"tenant_id": {"acme"}, "file_ids": ids}.Encode()
	for {
		var found struct {
			Statuses []struct {
				ID    string `json:"file_id"`
				State string `json:"indexing_status"`
			} `json:"statuses"`
		}
		if err := s.call(ctx, "POST", path, "application/json", strings.NewReader("{}"), &found); err != nil {
			return err
		}
		completed := 0
		for _, f := range found.Statuses {
			switch f.State {
			case "completed":
				completed++
			case "errored":
				return fmt.Errorf("file %s is errored", f.ID)
			}
		}
		if completed == len(ids) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// form returns the body of an upload of texts, whose names have the ending.
func form(ending string, texts [][]byte) (contentType string, body []byte, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("tenant_id", "acme"); err != nil {
		return "", nil, err
	}
	for i, t := range texts {
		part, err := w.CreateFormFile("files", fmt.Sprintf("text%d%s", i, ending))
		if err != nil {
			return "", nil, err
		}
		if _, err := part.Write(t); err != nil {
			return "", nil, err
		}
	}
	if err := w.Close(); err != nil {
		return "", nil, err
	}
	return w.FormDataContentType(), b.Bytes(), nil
}

// measure uploads texts to a new server.
func measure(ctx context.Context, binary, ending string, texts [][]byte, rest time.Duration) (r result, err error) {
	dir, err := os.MkdirTemp("", "upload")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	contentType, body, err := form(ending, texts)
	if err != nil {
		return r, err
	}
	s, err := start(ctx, binary, dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.prepare(ctx); err != nil {
		return r, err
	}
	time.Sleep(2 * time.Second) // for what the server does at its start
	before, err := s.memory("VmRSS")
	if err != nil {
		return r, err
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0o600) // lets VmHWM begin anew; without it, the start counts
	used, err := s.processor()
	if err != nil {
		return r, err
	}
	began := time.Now()
	ids, err := s.upload(ctx, contentType, body)
	if err != nil {
		return r, err
	}
	if err := s.await(ctx, ids); err != nil {
		return r, err
	}
	r.clock = time.Since(began)
	now, err := s.processor()
	if err != nil {
		return r, err
	}
	r.cpu = now - used
	peak, err := s.memory("VmHWM")
	if err != nil {
		return r, err
	}
	r.peak = peak - before
	if rest > 0 {
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(rest):
		}
		left, err := s.memory("VmRSS")
		if err != nil {
			return r, err
		}
		r.left = left - before
	}
	return r, nil
}

// memory returns a line of the process's status in bytes.
func (s *server) memory(line string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(l, line+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb * 1024, err
		}
	}
	return 0, fmt.Errorf("no line %s in the status of the process", line)
}

// processor returns the time that the process has used of all processors.
func (s *server) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("the stat of the process is short")
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, err
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on all architectures of Linux that Go has
	return time.Duration(user+system) * tick, nil
}
