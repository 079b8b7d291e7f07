// Command release writes all modules of the repository, in the form of a published version, into a directory that the go
// command can use as a module proxy. In the work tree the modules refer to each other by replace directives, and go install
// rejects such modules. In the output the modules require each other at the version.
//
//	go run ./internal/release v0.9.0 /tmp/proxy
//	GOPROXY=file:///tmp/proxy,$(go env GOPROXY) GONOSUMDB=github.com/contextmem go install github.com/contextmem/contextmem/cmd/contextmem@v0.9.0
//
// Only files tracked by git are included. With -w in place of the directory, the command changes the go.mod files of the work
// tree, for the commit that a release tags.
package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: release VERSION DIR, or release VERSION -w")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

const root = "github.com/contextmem/contextmem"

// module is the go command's JSON description of a go.mod file.
type module struct {
	Module  struct{ Path string }
	Require []struct{ Path, Version string }
	Replace []struct{ Old struct{ Path string } }
}

func ours(path string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// output runs a command and returns its output.
func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

func run(version, to string) error {
	b, err := output("git", "ls-files", "-z")
	if err != nil {
		return fmt.Errorf("git: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	var dirs []string
	for _, f := range files {
		if path.Base(f) == "go.mod" {
			dirs = append(dirs, path.Dir(f))
		}
	}
	if !slices.Contains(dirs, ".") {
		return errors.New("run it at the root of the repository")
	}
	for _, dir := range dirs {
		mod, name, err := published(dir, version)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if to == "-w" {
			err = os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644)
		} else {
			err = write(filepath.Join(to, filepath.FromSlash(name), "@v"), name, version, mod, inside(files, dir, dirs), dir)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// published returns the go.mod file of a module at a version, and the module's path.
func published(dir, version string) (mod []byte, name string, _ error) {
	file := filepath.Join(dir, "go.mod")
	b, err := output("go", "mod", "edit", "-json", file)
	if err != nil {
		return nil, "", err
	}
	var m module
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, "", err
	}
	args := []string{"mod", "edit", "-print"}
	for _, r := range m.Replace {
		if !ours(r.Old.Path) {
			return nil, "", fmt.Errorf("it replaces %s, which can't be published", r.Old.Path)
		}
		args = append(args, "-dropreplace="+r.Old.Path)
	}
	for _, r := range m.Require {
		if ours(r.Path) {
			args = append(args, "-require="+r.Path+"@"+version)
		}
	}
	mod, err = output("go", append(args, file)...)
	return mod, m.Module.Path, err
}

// inside returns the files of the module in dir, without the files of nested modules.
func inside(files []string, dir string, dirs []string) (out []string) {
	for _, f := range files {
		home := "."
		for _, d := range dirs {
			if d != "." && strings.HasPrefix(f, d+"/") && len(d) > len(home) {
				home = d
			}
		}
		if home == dir {
			out = append(out, f)
		}
	}
	return out
}

// write writes a version of a module into the module's directory of a proxy.
func write(to, name, version string, mod []byte, files []string, dir string) (err error) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for file, b := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(to, file), b, 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(to, version+".zip"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := zip.NewWriter(f)
	for _, file := range files {
		rel := file
		if dir != "." {
			rel = strings.TrimPrefix(file, dir+"/")
		}
		w, err := z.Create(name + "@" + version + "/" + rel)
		if err != nil {
			return err
		}
		if rel == "go.mod" {
			_, err = w.Write(mod)
		} else {
			err = copyFile(w, file)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

func copyFile(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}
