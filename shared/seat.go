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
	// maxSocket bounds the path of a socket: systems allow 104 to 108 bytes.
	maxSocket = 100
	// handOver is how long guests leave a directory that was handed over to the process that asked for it.
	handOver = 300 * time.Millisecond
	// closePatience is how long requests of guests may take when the owner ends.
	closePatience = 5 * time.Second
)

// owner is what the file OWNER says.
type owner struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
	Key    string `json:"key"`
	Keeps  bool   `json:"keeps"`
}

// seat is the place of a process at a directory: that of the owner, with svc, or that of a guest, with client.
type seat struct {
	svc    *contextmem.Service
	server *http.Server
	served chan struct{}
	asked  chan struct{} // closed when another process asks for the directory
	ask    sync.Once
	ending chan struct{} // closed when the owner ends
	handed bool          // the owner ends because it was asked; set before ending is closed
	files  []string      // to remove
	does   func(what string) Does

	client *client.Client
	local  *http.Client
	key    string
}

// sit becomes the owner when nobody is, else a guest; a process that keeps asks the owner to go.
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
			_ = s.call(ctx, http.MethodPost, "/_local/yield", nil, nil, nil) // an owner that ends before it answers has gone as well
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

// host serves guests.
func (d *Deployment) host(svc *contextmem.Service) (*seat, error) {
	fail := func(err error) error {
		return &fault.Error{Op: "shared", Kind: fault.KindUnavailable, Err: fmt.Errorf("the socket for other processes: %w", err)}
	}
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return nil, fail(err)
	}
	s := &seat{svc: svc, does: d.doing, served: make(chan struct{}), asked: make(chan struct{}), ending: make(chan struct{}), key: rand.Text() + rand.Text()}
	o := owner{PID: os.Getpid(), Socket: filepath.Join(dir, socketFile), Key: s.key, Keeps: d.keeps}
	file := filepath.Join(dir, ownerFile)
	if old, err := readOwner(dir); err == nil { // of an owner that was killed
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
	_ = os.Remove(o.Socket) // what stands in the way makes Listen fail
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
		_ = s.server.Serve(l) // ends with close
	}()
	return s, nil
}

// readOwner reads who owns a directory.
func readOwner(dir string) (*owner, error) {
	b, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if err != nil {
		return nil, err
	}
	var o owner
	return &o, json.Unmarshal(b, &o)
}

// writeOwner writes the file at once, for its user alone.
func writeOwner(file string, o *owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	tmp := file + ".new"
	_ = os.Remove(tmp) // of one that was killed
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}

// visit becomes a guest of the owner, if it can be reached. keeps says that it would not hand the directory over.
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

// localAddress stands for the owner; the socket is what is dialled.
const localAddress = "http://owner.contextmem.internal"

// rest gives a guest's connections back.
func (s *seat) rest() {
	if s.local != nil {
		s.local.CloseIdleConnections()
	}
}

// watch returns when the owner ends, or ctx. It reports whether the owner handed the directory over.
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

// close ends a seat. An owner lets requests of guests end, then closes the service.
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
		_ = s.server.Close() // what did not end in time is cut off
	}
	<-s.served
	for _, f := range s.files {
		_ = os.Remove(f) // the socket is gone with its listener; what stays is replaced by the next owner
	}
	return s.svc.Close()
}
