package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/httpapi"
)

// serveFlags are the options of the server.
type serveFlags struct {
	addr             string
	keys, proxies    []string
	cert, certKey    string
	maxBody, maxHeld int64
	bodyTimeout      time.Duration
	depth            int
	rate             float64
	noMCP, noConsole bool
	pprof            bool
	auditLog         string
	backupDir        string
	store            string
	storeListen      string
	index            []string
	indexKey         string
	offloadAfter     time.Duration
	shutdown         time.Duration
}

func (a *app) serveCmd() *cobra.Command {
	var s serveFlags
	c := &cobra.Command{Use: "serve", Short: "Serve REST and MCP until a signal ends it", Args: takes(0, 0),
		Long: `Serve answers both generations of the REST API, and at /mcp the Model Context Protocol over streamable HTTP, and at /console a web page to look inside. An MCP client works on --tenant and
--sub, or on what its headers X-Contextmem-Tenant and X-Contextmem-Sub name.

Requests need a key: one of --api-keys, or one that "contextmem keys create" made. Where there is neither, serve makes a key and shows it, this once.
With --store everything is kept in PostgreSQL, which several servers may share; every one has its indexes below --data and builds them from there. With
--index a Weaviate cluster has the indexes of words and vectors, for all of them.
A contextmem process that uses the directory hands it over and works through the server. An interrupt or SIGTERM lets requests that are under way
end within --shutdown-timeout.`,
		Example: `  contextmem serve
  CONTEXTMEM_API_KEYS=secret contextmem serve --addr :8443 --tls-cert cert.pem --tls-key key.pem`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &s) }}
	f := c.Flags()
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on")
	f.StringSliceVar(&s.keys, "api-keys", nil, "keys as key=organisation; a bare key is of the organisation \"default\"")
	f.StringSliceVar(&s.proxies, "trusted-proxies", nil, "addresses of proxies whose X-Forwarded-* headers count, as CIDRs")
	f.StringVar(&s.cert, "tls-cert", "", "file with the certificate chain in PEM; with --tls-key the server speaks HTTPS")
	f.StringVar(&s.certKey, "tls-key", "", "file with its key in PEM")
	f.Int64Var(&s.maxBody, "max-body-bytes", 0, "size of a request; 0: the default, negative: no bound")
	f.Int64Var(&s.maxHeld, "max-held-bytes", 0, "bytes of requests in memory; 0: the default, negative: no bound")
	f.DurationVar(&s.bodyTimeout, "body-timeout", 0, "time to send a body; 0: the default, negative: no bound")
	f.IntVar(&s.depth, "max-json-depth", 0, "nesting of JSON; 0: the default")
	f.Float64Var(&s.rate, "requests-per-second", 100, "requests of one key over REST, MCP and the console together, with bursts of twice as many; 0: no bound")
	f.BoolVar(&s.noMCP, "no-mcp", false, "do not serve the Model Context Protocol at /mcp")
	f.BoolVar(&s.noConsole, "no-console", false, "do not serve the console at /console")
	f.StringVar(&s.store, "store", "", "database to keep everything in, such as postgres://user:password@host:5432/database: any number of servers may use it; indexes stay in the directory of --data. Empty: the directory keeps everything")
	f.StringVar(&s.storeListen, "store-listen", "", "address that leads to the database of --store directly, where --store leads through a pooler: there the server hears of changes by others")
	f.StringSliceVar(&s.index, "index", nil, "addresses of the nodes of a Weaviate cluster that searches by words and vectors, such as http://node-1:8080?grpc=50051, or without the port of gRPC, and searches are slower; goes with --store. Empty: every server has the whole index in the directory of --data")
	f.StringVar(&s.indexKey, "index-key", "", "API key of the cluster of --index")
	f.DurationVar(&s.offloadAfter, "index-offload-after", 0, "about how long a tenant must be unused before the cluster of --index moves it to its object store, such as 720h; it comes back when it is used. All servers of the cluster take it, whose nodes need Weaviate's module offload-s3. 0: tenants stay on the nodes")
	f.StringVar(&s.backupDir, "backup-dir", "", "directory to which the console writes backups; empty: it makes none")
	f.StringVar(&s.auditLog, "audit-log", "", "file to which a line of JSON is added for each write, with the key's id; - is standard error")
	f.BoolVar(&s.pprof, "pprof", false, "serve profiles of the process at /debug/pprof/ to keys of administrators")
	f.DurationVar(&s.shutdown, "shutdown-timeout", 10*time.Second, "time for requests that are under way when the server ends")
	return c
}

// serve serves until ctx ends.
func (a *app) serve(ctx context.Context, s *serveFlags) (err error) {
	if a.url != "" {
		return usage("--url: serve works on a directory")
	}
	o, err := a.engine.options(a.streams.err)
	if err != nil {
		return err
	}
	ring := &keyring{}
	if ring.fixed, err = parseKeys(s.keys); err != nil {
		return err
	}
	proxies, err := prefixes("trusted-proxies", s.proxies)
	if err != nil {
		return err
	}
	secure, err := s.tls()
	if err != nil {
		return err
	}
	audit, closer, err := auditLog(s.auditLog, a.streams.err)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	b := &bench{a: a, s: s, o: o, fixed: ring.fixed, proxies: proxies, limit: httpapi.NewRateLimit(s.rate), audit: audit, life: ctx}
	d, err := a.own(ctx, s, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.put(d); err != nil {
		return errors.Join(err, d.Close())
	}
	if err := a.firstKey(ctx, d, ring); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return listenError(err)
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	return s.run(ctx, httpapi.NewServer(b), l, secure != nil, o.Logger, a.streams.err)
}

// tls returns the HTTPS configuration, or nil for plain HTTP.
func (s *serveFlags) tls() (*tls.Config, error) {
	if s.cert == "" && s.certKey == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(s.cert, s.certKey)
	if err != nil {
		return nil, usage("--tls-cert and --tls-key: hold no certificate with its key")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// firstKey creates a key if there is none. It prints the key only to a terminal, since a key must not be in a log.
func (a *app) firstKey(ctx context.Context, d served, ring *keyring) error {
	if len(ring.fixed) > 0 {
		return nil
	}
	ks, err := d.Keys(ctx)
	if err != nil || len(ks) > 0 {
		return err
	}
	if !a.bar {
		return usage("there is no API key: set --api-keys, or make one with contextmem keys create")
	}
	_, text, err := d.CreateKey(ctx, contextmem.KeySpec{Owner: "made by serve"})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.streams.err, "There was no API key yet. This one is shown once:\n\n  %s\n\n", text)
	return nil
}

// run serves on a listener until ctx ends.
func (s *serveFlags) run(ctx context.Context, srv *http.Server, l net.Listener, secure bool, log *slog.Logger, w io.Writer) error {
	srv.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	scheme := "http"
	if secure {
		scheme = "https"
	}
	fmt.Fprintf(w, "contextmem is ready at %s://%s\n", scheme, l.Addr())
	if !s.noConsole {
		fmt.Fprintf(w, "its console is at %s://%s/console/\n", scheme, l.Addr())
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdown)
	defer cancel()
	err := srv.Shutdown(sctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests that were under way were cut off"), srv.Close())
	}
	<-served
	return err
}

// listenError returns the error for an address that cannot be listened on, with the reason that the system gives.
func listenError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return usage("--addr: can't be listened on: %v", err)
}
