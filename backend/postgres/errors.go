package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// constraintError is the error of a statement that violated a constraint.
type constraintError struct{ name string }

func (e *constraintError) Error() string { return "constraint " + e.name }

// breaks reports whether an error is a violation of the given constraint. In a partitioned table the error names the partition's own index,
// whose name PostgreSQL derives from the table and the columns.
func breaks(err error, prefix string) bool {
	var c *constraintError
	return errors.As(err, &c) && strings.HasPrefix(c.name, prefix)
}

// errAgain is wrapped by errors after which the same transaction can be retried, because it was rolled back or never began.
var errAgain = errors.New("try again")

// errLost is wrapped by errors of a lost connection. After such an error the process must ask whether a commit in flight took place.
var errLost = errors.New("connection lost")

// errSlow is wrapped by errors of statements that took too long.
var errSlow = errors.New("statement timeout")

// errPrepared is wrapped by errors of statements that a pooler sent to another connection than the one that prepared them.
var errPrepared = errors.New("prepared statements do not survive: put default_query_exec_mode=cache_describe into the URL")

// translate converts errors of the driver to errors of package backend. It omits server messages that may quote content.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var pe *pgconn.PgError
	switch {
	case errors.As(err, &pe):
		return translateServer(pe)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, puddle.ErrClosedPool):
		return backend.ErrClosed
	}
	var ne net.Error
	var ce *pgconn.ConnectError
	if errors.As(err, &ne) || errors.As(err, &ce) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed") {
		return fmt.Errorf("postgres: the connection broke: %w: %w", errLost, backend.ErrUnavailable)
	}
	return fmt.Errorf("postgres: %w", err)
}

func translateServer(pe *pgconn.PgError) error {
	said := fmt.Errorf("postgres: %s %s", pe.Severity, pe.Code)
	switch {
	case pe.Code == "23505":
		return &constraintError{pe.ConstraintName}
	case pe.Code == assumedCode:
		return errAssumed
	case pe.Code == movedCode:
		return fmt.Errorf("%w: %w", backend.ErrMoved, backend.ErrUnavailable)
	case pe.Code == "40001", pe.Code == "40P01", pe.Code == "55P03":
		return fmt.Errorf("%w: %w: %w", said, errAgain, backend.ErrUnavailable)
	case pe.Code == "26000", pe.Code == "42P05":
		return fmt.Errorf("%w: %w: %w", said, errPrepared, backend.ErrUnavailable)
	case strings.HasPrefix(pe.Code, "57P"), strings.HasPrefix(pe.Code, "08"), pe.Code == "25006", pe.Code == "25P03":
		// The server is shut down, has crashed or is starting up; the connection is broken; the server is a standby; or the session was ended.
		return fmt.Errorf("%w: %w: %w", said, errLost, backend.ErrUnavailable)
	case pe.Code == "57014":
		return fmt.Errorf("%w: %w: %w", said, errSlow, backend.ErrUnavailable)
	case strings.HasPrefix(pe.Code, "53"), strings.HasPrefix(pe.Code, "58"):
		// Lack of disk space, memory or connections; I/O errors.
		return fmt.Errorf("%w: %w", said, backend.ErrUnavailable)
	case pe.Code == "XX001", pe.Code == "XX002":
		return fmt.Errorf("%w: %w", said, backend.ErrCorrupt)
	}
	// All other errors are defects of this package. Their messages contain only names of tables and types, and no content.
	return fmt.Errorf("%w: %s", said, pe.Message)
}

// again reports whether retrying the call may avoid the error.
func again(err error) bool { return errors.Is(err, errAgain) || errors.Is(err, errLost) }

// losses collects damaged rows that a read leaves out.
type losses struct{ storerules.Losses }

// skip reports whether the row just read is damaged, and records it if so.
func (l *losses) skip(r *row) bool {
	if !l.Skips(r.err) {
		return false
	}
	r.err = nil
	return true
}
