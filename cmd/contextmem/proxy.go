package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/adapters/openaiproxy"
)

func (a *app) proxyCmd() *cobra.Command {
	var addr, upstream string
	var most int
	c := &cobra.Command{Use: "proxy", Short: "Give any client of the OpenAI chat API a memory", Args: takes(0, 0),
		Long: `Proxy stands in front of a chat API: into each request it puts what it recalls about the question, and it remembers the exchange when the answer has
passed. Streams go through as they come, other requests untouched. In the client set the base URL to http://127.0.0.1:8081/v1; its key and its
model are those of --upstream.

It works on --tenant and --sub; a header X-Contextmem-Sub of a request names another sub-tenant. It has no keys of its own: who can reach --addr
can reach the memory.`,
		Example: `  contextmem proxy --upstream https://api.openai.com/v1
  contextmem proxy --upstream http://localhost:11434/v1 --sub alice`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			to, err := url.Parse(upstream)
			if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
				return usage("--upstream: wants an http or https address, such as https://api.openai.com/v1")
			}
			if most < 1 {
				return usage("--max: must be 1 or more")
			}
			log, err := a.engine.logger(a.streams.err)
			if err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, h home) error {
				if err := h.EnsureTenant(ctx, a.tenant); err != nil {
					return err
				}
				p := &openaiproxy.Proxy{Upstream: to, Max: most, Logger: log, Memories: func(r *http.Request) (contextmem.Memories, error) {
					sub := a.sub
					if s := r.Header.Get(subHeader); s != "" {
						sub = s
						r.Header.Del(subHeader) // the model must not receive this header
					}
					return h.Sub(a.tenant, sub), nil
				}}
				l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
				if err != nil {
					return listenError(err)
				}
				fmt.Fprintf(a.streams.err, "contextmem is ready at http://%s/v1 in front of %s\n", l.Addr(), to.Host)
				srv := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
				served := make(chan error, 1)
				go func() { served <- srv.Serve(l) }()
				select {
				case err := <-served:
					return err
				case <-ctx.Done():
				}
				sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
				defer cancel()
				err = srv.Shutdown(sctx)
				if errors.Is(err, context.DeadlineExceeded) {
					err = errors.Join(errors.New("requests that were under way were cut off"), srv.Close())
				}
				<-served
				return err
			})
		}}
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:8081", "address to listen on")
	c.Flags().StringVar(&upstream, "upstream", "", "base URL of the chat API, in front of /chat/completions")
	c.Flags().IntVarP(&most, "max", "n", 6, "most passages that are put into a request")
	return c
}
