package testtool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"syscall"
)

// buildProgram returns the path of a program of a Go module. If the cache has none, buildProgram builds it. Other processes that need
// a program meanwhile wait.
func buildProgram(ctx context.Context, pkg, version string) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	name := path.Base(pkg)
	dir := filepath.Join(cache, "contextmem-test")
	program := filepath.Join(dir, name+"-"+version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "build.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	bin, err := os.MkdirTemp(dir, "build")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(bin) }()
	cmd := exec.CommandContext(ctx, "go", "install", "-ldflags=-s -w", pkg+"@"+version)
	cmd.Dir = bin
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOWORK=off", "GOFLAGS=")
	if os.Getenv("GOCACHE") == "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install: %w\n%s", err, out[max(0, len(out)-2000):])
	}
	return program, os.Rename(filepath.Join(bin, name), program)
}
