package slack

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxRecent = 2000 // messages whose deletion can be noticed; each takes about 6 bytes of cursor

// stamp is a message's time stamp in microseconds. Slack writes it as seconds, a point and six digits.
type stamp int64

func parseStamp(s string) (stamp, bool) {
	sec, frac, ok := strings.Cut(s, ".")
	if !ok || len(frac) != 6 || len(sec) > 12 {
		return 0, false
	}
	a, err := strconv.ParseUint(sec, 10, 62)
	b, err2 := strconv.ParseUint(frac, 10, 32)
	return stamp(a)*1e6 + stamp(b), err == nil && err2 == nil
}

func (s stamp) String() string { return fmt.Sprintf("%010d.%06d", s/1e6, s%1e6) }

func (s stamp) time() string { return time.UnixMicro(int64(s)).UTC().Format(time.RFC3339) }

func stampOf(t time.Time) stamp {
	if t.IsZero() {
		return 0
	}
	return max(stamp(t.UnixMicro()), 0)
}

// state is the cursor of a channel. All messages up to High were read, and all changes before Mark.
type state struct {
	Version int    `json:"v"`
	Floor   stamp  `json:"f,omitempty"` // older messages are skipped
	High    stamp  `json:"h,omitempty"`
	Mark    stamp  `json:"m,omitempty"`
	Recent  recent `json:"r,omitempty"`

	// The present round reads from Start back to Oldest. Latest is its current position.
	Start   stamp    `json:"s,omitempty"`
	Oldest  stamp    `json:"o,omitempty"`
	Latest  stamp    `json:"l,omitempty"`
	Top     stamp    `json:"t,omitempty"` // newest message of the round
	Read    bool     `json:"d,omitempty"` // the channel is read; threads may be pending
	Threads []thread `json:"p,omitempty"`
}

// thread is a thread whose replies later than After must still be read.
type thread struct {
	Root  stamp `json:"t"`
	After stamp `json:"a,omitempty"`
}

// recent holds the time stamps of known messages, ascending. Its text form is base64 of the differences as varints.
type recent []stamp

// MarshalText implements encoding.TextMarshaler.
func (r recent) MarshalText() ([]byte, error) {
	var b []byte
	var last stamp
	for _, s := range r {
		b = binary.AppendUvarint(b, uint64(s-last))
		last = s
	}
	return base64.RawURLEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *recent) UnmarshalText(text []byte) error {
	b, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	*r = nil
	var last uint64
	for len(b) > 0 {
		d, n := binary.Uvarint(b)
		if n <= 0 || len(*r) >= maxRecent || d > 1<<60 || last+d > 1<<60 {
			return errors.New("not a list of time stamps")
		}
		last += d
		*r = append(*r, stamp(last))
		b = b[n:]
	}
	return nil
}

// replace replaces the stamps strictly between from and to by now, and returns the replaced stamps that now does not contain.
func (r *recent) replace(from, to stamp, now []stamp) (gone []stamp) {
	kept := recent{}
	for _, s := range *r {
		switch {
		case s <= from || s >= to:
			kept = append(kept, s)
		case !slices.Contains(now, s):
			gone = append(gone, s)
		}
	}
	kept = append(kept, now...)
	slices.Sort(kept)
	kept = slices.Compact(kept)
	*r = kept[max(len(kept)-maxRecent, 0):]
	return gone
}

// forget drops the stamps before s.
func (r *recent) forget(s stamp) {
	*r = slices.DeleteFunc(*r, func(x stamp) bool { return x < s })
}
