// Command dev starts what a development machine without Docker needs to try several machines on: PostgreSQL from the
// distribution's packages, and nodes of Weaviate, which it builds from their Go module the first time (minutes). It prints the
// command that serves over them. At SIGINT or SIGTERM it ends them and deletes their data.
//
//	go run ./deploy/dev            # PostgreSQL and one node
//	go run ./deploy/dev -nodes 3   # three nodes; with -nodes 0 PostgreSQL alone
//
// The servers listen on loopback and a Unix socket alone, without passwords.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/contextmem/contextmem/internal/testtool"
)

const mostNodes = 9

func main() {
	nodes := flag.Int("nodes", 1, fmt.Sprintf("nodes of Weaviate, 0 to %d", mostNodes))
	flag.Parse()
	if *nodes < 0 || *nodes > mostNodes || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *nodes); err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		stop()
		os.Exit(1)
	}
}

// run starts the servers, writes how to use them, and ends them when ctx does.
func run(ctx context.Context, out io.Writer, nodes int) error {
	args := []string{"contextmem serve", "--api-keys secret"}
	db, err := testtool.StartPostgres(true)
	if err != nil {
		return err
	}
	defer db.Stop()
	if err := db.CreateDatabase("contextmem", ""); err != nil {
		return err
	}
	args = append(args, "--store '"+db.URL("contextmem")+"'")
	if nodes > 0 {
		bin, err := testtool.BuildWeaviate(ctx)
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "contextmem-dev")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		cluster, err := testtool.StartWeaviate(bin, dir, nodes, nil)
		if err != nil {
			return err
		}
		defer cluster.Stop()
		args = append(args, "--index '"+strings.Join(cluster.URLs(), ",")+"'")
	}
	_, err = fmt.Fprintln(out, strings.Join(args, " "))
	if err == nil {
		<-ctx.Done()
	}
	return err
}
