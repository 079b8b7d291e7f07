package testtool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// s3Version is the release of the S3 server that tests run against.
const s3Version = "v1.8.0"

// ErrNoS3 is returned when the S3 server cannot be built.
var ErrNoS3 = errors.New("the S3 server (versitygw, built from its Go module) is missing")

// EnvS3 names the variable with the path of an existing S3 server. Without it the server is built once, into the cache.
const EnvS3 = "CONTEXTMEM_TEST_S3"

// BuildS3 returns the path of an S3 server. If the cache has none, BuildS3 builds it from its Go module, which takes minutes.
func BuildS3(ctx context.Context) (string, error) {
	if path := os.Getenv(EnvS3); path != "" {
		return path, nil
	}
	path, err := buildProgram(ctx, "github.com/versity/versitygw/cmd/versitygw", s3Version)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoS3, err)
	}
	return path, nil
}

// S3 is an S3 server on this machine's loopback. It stores objects as files.
type S3 struct {
	dir    string
	port   int
	cmd    *exec.Cmd
	exited chan struct{}
	log    bytes.Buffer
}

// s3Key is the key and the secret of the server.
const s3Key = "contextmem"

// StartS3 starts an S3 server with its data below dir, with one empty bucket. bin is the path of the server. The caller must call Stop.
func StartS3(bin, dir, bucket string) (*S3, error) {
	port, err := Ports(1)
	if err != nil {
		return nil, err
	}
	buckets, meta := filepath.Join(dir, "buckets"), filepath.Join(dir, "meta")
	s := &S3{dir: filepath.Join(buckets, bucket), port: port}
	if err := errors.Join(os.MkdirAll(s.dir, 0o755), os.MkdirAll(meta, 0o755)); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(bin, "--quiet", "--port", "127.0.0.1:"+strconv.Itoa(port), "posix", "--sidecar", meta, buckets)
	s.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s3Key, "ROOT_SECRET_KEY="+s3Key)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if s.exited, err = startChild(s.cmd); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), time.Second)
		if err == nil {
			return s, c.Close()
		}
		select {
		case <-s.exited:
			return nil, fmt.Errorf("the S3 server ended: %s", s.log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.Stop()
	return nil, errors.New("the S3 server does not answer")
}

// Env returns the environment with which a Weaviate node offloads tenants to a bucket of the server.
func (s *S3) Env() map[string]string {
	return map[string]string{
		"ENABLE_MODULES": "offload-s3", "OFFLOAD_S3_ENDPOINT": "http://127.0.0.1:" + strconv.Itoa(s.port), "OFFLOAD_S3_BUCKET": filepath.Base(s.dir),
		"AWS_ACCESS_KEY_ID": s3Key, "AWS_SECRET_ACCESS_KEY": s3Key, "AWS_REGION": "us-east-1",
	}
}

// Objects returns the number of objects whose names have all of some parts, and their bytes.
func (s *S3) Objects(parts ...string) (n int, size int64, err error) {
	err = s.walk(parts, func(_ string, e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil {
			n, size = n+1, size+info.Size()
		}
		return err
	})
	return n, size, err
}

// RemoveBucket deletes the bucket, behind the server's back.
func (s *S3) RemoveBucket() error { return os.RemoveAll(s.dir) }

// walk calls f for each object whose name has all of some parts.
func (s *S3) walk(parts []string, f func(path string, e fs.DirEntry) error) error {
	return filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			for _, p := range parts {
				if !strings.Contains(path[len(s.dir):], p) {
					return nil
				}
			}
			err = f(path, e)
		}
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			return nil
		}
		return err
	})
}

// Remove deletes the objects whose names have all of some parts, behind the server's back.
func (s *S3) Remove(parts ...string) error {
	return s.walk(parts, func(path string, _ fs.DirEntry) error { return os.Remove(path) })
}

// Pause suspends the server until Resume. It accepts connections, but answers nothing.
func (s *S3) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume continues a paused server.
func (s *S3) Resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// Stop ends the server.
func (s *S3) Stop() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}
