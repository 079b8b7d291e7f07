package pipeline

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"syscall"

	"github.com/contextmem/contextmem/internal/modelhttp"
)

// causeOf says what kind of error a plug-in returned, for the message of an item. It repeats no text of a plug-in that is not ours, since
// that may quote content, keys or addresses; the log has it.
func causeOf(who string, err error) string {
	if own, ok := err.(constError); ok {
		return strings.Replace(string(own), "the plug-in", who, 1)
	}
	var (
		status  *modelhttp.StatusError
		answer  *modelhttp.AnswerError
		answers interface{ StatusCode() int }
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		network net.Error
		op      *net.OpError
	)
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.As(err, &answer):
		return answer.Error()
	case errors.As(err, &answers):
		return fmt.Sprintf("the server of %s answered with status %d", who, answers.StatusCode())
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host of the server of " + who + " is unknown"
	case errors.As(err, &cert):
		return "the certificate of the server of " + who + " is not trusted"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, modelhttp.ErrTimeout), errors.As(err, &network) && network.Timeout():
		return who + " did not answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the server of " + who + " refuses connections"
	case errors.As(err, &op), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection to the server of " + who + " failed"
	case errors.Is(err, context.Canceled):
		return who + " cancelled the call"
	}
	if t := typeOf(err); t != "" {
		return fmt.Sprintf("%s returned an error of type %s, whose text is in the log", who, t)
	}
	return who + " returned an error, whose text is in the log"
}

// typeOf returns the type of the innermost error that says more than a text does, or "".
func typeOf(err error) (name string) {
	for ; err != nil; err = errors.Unwrap(err) {
		t := reflect.TypeOf(err)
		base := t
		if t.Kind() == reflect.Pointer {
			base = t.Elem()
		}
		if p := base.PkgPath(); p != "errors" && p != "fmt" && p != "" {
			name = t.String()
		}
	}
	return name
}
