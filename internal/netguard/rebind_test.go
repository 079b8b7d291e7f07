package netguard

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers each question for addresses of IPv4 with the next of its lists.
type nameServer struct {
	answers [][]string
	asked   atomic.Int32
}

func (n *nameServer) resolver(t *testing.T) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			for n.answer(t, server) == nil {
			}
		}()
		return client, nil
	}}
}

// answer reads a question in the form that TCP has, and answers it.
func (n *nameServer) answer(t *testing.T, c net.Conn) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	b := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(b); !assert.NoError(t, err) {
		return err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		i := int(n.asked.Add(1)) - 1
		for _, a := range n.answers[min(i, len(n.answers)-1)] {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body: &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()}})
		}
	}
	out, err := m.AppendPack(make([]byte, 2))
	if !assert.NoError(t, err) {
		return err
	}
	binary.BigEndian.PutUint16(out, uint16(len(out)-2))
	_, err = c.Write(out)
	return err
}

// TestRebinding: a name that is public when it is first looked up and loopback the next time
// is let through the first time only, and an answer that mixes both reaches the public one only.
func TestRebinding(t *testing.T) {
	t.Parallel()
	let := errors.New("the guard let it through") // and nothing is sent
	for name, c := range map[string]struct {
		answers [][]string
		want    []error
	}{
		"public, then loopback":     {[][]string{{"93.184.215.14"}, {"127.0.0.1"}}, []error{let, ErrForbidden, ErrForbidden}},
		"public, then the metadata": {[][]string{{"93.184.215.14"}, {"169.254.169.254"}}, []error{let, ErrForbidden}},
		"both at once":              {[][]string{{"127.0.0.1", "10.0.0.1", "93.184.215.14"}}, []error{let}},
		"private alone":             {[][]string{{"127.0.0.1", "192.168.0.1"}}, []error{ErrForbidden}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &nameServer{answers: c.answers}
			d := none.Dialer()
			d.Resolver = n.resolver(t)
			guard := d.ControlContext
			reached := map[string]bool{}
			d.ControlContext = func(ctx context.Context, network, address string, rc syscall.RawConn) error {
				if err := guard(ctx, network, address, rc); err != nil {
					return err
				}
				reached[address] = true
				return let
			}
			require.NoError(t, none.CheckURL("https://hooks.rebind.example:443"), "the name alone tells nothing")
			for i, want := range c.want {
				_, err := d.DialContext(t.Context(), "tcp4", "hooks.rebind.example:443")
				if want == let {
					require.Equal(t, map[string]bool{"93.184.215.14:443": true}, reached, "attempt %d", i)
				} else {
					require.ErrorIs(t, err, want, "attempt %d", i)
				}
				clear(reached)
			}
		})
	}
}
