package shared

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/fault"
)

const (
	ownerFile  = "OWNER"
	socketFile = "owner.sock"
	// maxSocket bounds the path of a socket, in bytes. Systems allow 104 to 108.
	maxSocket = 100
	// handOver is how long guests do not claim a directory that was handed over, so that the asking process gets it.
	handOver = 300 * time.Millisecond
	// closePatience bounds how long a closing owner waits for guests' requests.
	closePatience = 5 * time.Second
)

// owner is the content of the file OWNER.
type owner struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
	Key    string `json:"key"`
	Keeps  bool   `json:"keeps"`
}

// seat is a process's role at a directory. svc is set for the owner, client for a guest.
type seat struct {
	svc       *contextmem.Service
	server    *http.Server
	served    chan struct{}
	asked     chan struct{} // closed when another process asks for the directory
	ask       sync.Once
	ending    chan struct{} // closed when the owner ends
	handed    bool          // the owner ends because another process asked for the directory; set before ending is closed
	files     []string      // files to remove
	handlerOf func(what string) Handler

	client *client.Client
	local  *http.Client
	key    string
}

// sit makes this process the owner if there is none, else a guest. If keeps is set, it asks the present owner to yield.
func (d *Deployment) sit(ctx context.Context) (*seat, error) {
	giveUp := time.Now().Add(patience)
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		opts := d.opts
		svc, err := contextmem.Open(ctx, d.dir, &opts)
		if err == nil {
			s, err := d.host(svc)
			if err != nil {
				return nil, errors.Join(err, svc.Close())
			}
			return s, nil
		}
		if !errors.Is(err, backend.ErrLocked) {
			return nil, err
		}
		if s, keeps, ok := d.visit(ctx); ok {
			switch {
			case !d.keeps:
				return s, nil
			case keeps:
				s.rest()
				return nil, err
			}
			_ = s.call(ctx, http.MethodPost, "/_local/yield", nil, nil, nil) // an owner that ends before it answers has yielded too
			s.rest()
		}
		if time.Now().After(giveUp) {
			return nil, err
		}
		if perr := pause(ctx, wait); perr != nil {
			return nil, perr
		}
	}
}

// host serves requests of guests.
func (d *Deployment) host(svc *contextmem.Service) (*seat, error) {
	fail := func(err error) error {
		return &fault.Error{Op: "shared", Kind: fault.KindUnavailable, Err: fmt.Errorf("the socket for other processes: %w", err)}
	}
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return nil, fail(err)
	}
	s := &seat{svc: svc, handlerOf: d.handler, served: make(chan struct{}), asked: make(chan struct{}), ending: make(chan struct{}), key: rand.Text() + rand.Text()}
	o := owner{PID: os.Getpid(), Socket: filepath.Join(dir, socketFile), Key: s.key, Keeps: d.keeps}
	file := filepath.Join(dir, ownerFile)
	if old, err := readOwner(dir); err == nil { // left by an owner that was killed
		_ = os.Remove(old.Socket)
		if filepath.Dir(old.Socket) != dir {
			_ = os.Remove(filepath.Dir(old.Socket))
		}
	}
	_ = os.Remove(file)
	s.files = []string{file, o.Socket}
	if len(o.Socket) > maxSocket {
		tmp, err := os.MkdirTemp("", "contextmem-")
		if err != nil {
			return nil, fail(err)
		}
		o.Socket = filepath.Join(tmp, socketFile)
		s.files = []string{file, o.Socket, tmp}
	}
	_ = os.Remove(o.Socket) // if this fails, Listen fails
	l, err := net.Listen("unix", o.Socket)
	if err != nil {
		return nil, fail(err)
	}
	if err := writeOwner(file, &o); err != nil {
		return nil, errors.Join(fail(err), l.Close())
	}
	s.server = &http.Server{Handler: s.lazily(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(l) // returns when the server is closed
	}()
	return s, nil
}

// readOwner reads the file OWNER of a directory.
func readOwner(dir string) (*owner, error) {
	b, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if err != nil {
		return nil, err
	}
	var o owner
	return &o, json.Unmarshal(b, &o)
}

// writeOwner writes the file OWNER atomically, readable by its user only.
func writeOwner(file string, o *owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	tmp := file + ".new"
	_ = os.Remove(tmp) // left by a process that was killed
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}

// visit makes this process a guest of the owner, if the owner can be reached. keeps reports that the owner refuses to yield.
func (d *Deployment) visit(ctx context.Context) (s *seat, keeps, ok bool) {
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return nil, false, false
	}
	o, err := readOwner(dir)
	if err != nil {
		return nil, false, false
	}
	tr := &http.Transport{MaxIdleConnsPerHost: 16, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", o.Socket)
	}}
	s = &seat{local: &http.Client{Transport: tr}, key: o.Key}
	if s.client, err = client.New(localAddress, o.Key, &client.Options{HTTPClient: s.local, Retries: -1}); err != nil {
		return nil, false, false
	}
	if err := s.call(ctx, http.MethodGet, "/_local/hello", nil, nil, nil); err != nil {
		s.rest()
		return nil, false, false
	}
	return s, o.Keeps, true
}

// localAddress is a placeholder URL for the owner. The client dials the socket instead.
const localAddress = "http://owner.contextmem.internal"

// rest closes a guest's idle connections.
func (s *seat) rest() {
	if s.local != nil {
		s.local.CloseIdleConnections()
	}
}

// watch blocks until the owner or ctx ends. It reports whether the owner handed the directory over.
func (s *seat) watch(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, localAddress+"/_local/watch", nil)
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := s.local.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if lines.Text() == handedOverLine {
			return true
		}
	}
	return false
}

// close ends a seat. An owner waits for guests' requests, then closes the service.
func (s *seat) close(handed bool) error {
	if s.svc == nil {
		s.rest()
		return nil
	}
	s.handed = handed
	close(s.ending)
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close() // cut off the requests that did not end in time
	}
	<-s.served
	for _, f := range s.files {
		_ = os.Remove(f) // the listener removed the socket; the next owner replaces any leftover
	}
	return s.svc.Close()
}
