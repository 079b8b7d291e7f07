package text

import (
	"context"
	"html"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

const (
	// speechPause is the silence in milliseconds behind which speech begins a new paragraph.
	speechPause = 4000
	// speechLength is how many bytes a paragraph of speech has before the end of a sentence ends it.
	speechLength = 500
)

var (
	// cueTime is the line of a cue that has its times: WebVTT (W3C) with a dot and optional hours, SubRip with a comma.
	cueTime = lazyregexp.New(`^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})`)
	// cueVoice is the tag of WebVTT that names who speaks.
	cueVoice = lazyregexp.New(`^<v(?:\.[^ \t>]*)?[ \t]+([^>]{1,200})>`)
	cueTag   = lazyregexp.New(`<[^<>]{0,200}>|\{\\[^{}]{0,100}\}`)
	// cueName is how SubRip files name who speaks.
	cueName = lazyregexp.New(`^(?:[-–]\s*)?([\p{Lu}][\p{L}\p{N}.'’ ]{0,30}):\s+(.*)$`)
)

// speech gathers cues to paragraphs, each with the time at which it begins and who speaks.
type speech struct {
	w       *output.Writer
	speaker string
	lines   []string // of the open paragraph
	size    int
	end     int      // of the last cue in milliseconds
	last    []string // the lines of the last cue
	any     bool
}

// ParseSubtitles reads WebVTT and SubRip: what is said as paragraphs that begin with "[00:01:05] Name: ".
func ParseSubtitles(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	plain, err := Parse(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	s := &speech{w: output.New(lim, len(plain.Text))}
	lines := strings.Split(plain.Text, "\n")
	title := ""
	if rest, ok := strings.CutPrefix(lines[0], "WEBVTT"); ok {
		title = strings.TrimLeft(rest, " \t-")
	}
	for i := 0; i < len(lines) && !s.w.Full; i++ {
		if i&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m := cueTime.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		var cue []string
		for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" && !cueTime.MatchString(lines[i+1]) {
			i++
			cue = append(cue, lines[i])
		}
		s.cue(cueMillis(m[1:5]), cueMillis(m[5:9]), cue)
	}
	s.flush()
	if !s.any {
		plain.AddPartial("not subtitles: they have no times, and were kept as plain text")
		return plain, nil
	}
	doc := s.w.Document()
	doc.Title, doc.Partial = title, plain.Partial
	return doc, nil
}

// Speech writes recorded speech as [ParseSubtitles] does.
func Speech(said []document.Utterance, lim document.Limits) *document.Document {
	s := &speech{w: output.New(lim, 1<<10)}
	for _, u := range said {
		line := clean.OneLine(u.Text)
		if u.Speaker != "" {
			if name := clean.OneLine(u.Speaker); name != s.speaker {
				s.flush()
				s.speaker = name
			}
		}
		s.add(int(u.Start.Milliseconds()), line)
		s.end = int(max(u.Start, u.End).Milliseconds())
	}
	s.flush()
	return s.w.Document()
}

func cueMillis(f []string) int {
	ms := clean.Int(f[3])
	for range 3 - len(f[3]) {
		ms *= 10
	}
	return ((clean.Int(f[0])*60+clean.Int(f[1]))*60+clean.Int(f[2]))*1000 + ms
}

// cue adds what is said between two times.
func (s *speech) cue(start, end int, lines []string) {
	s.any = true
	var kept []string
	for _, l := range lines {
		name := ""
		if m := cueVoice.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
			name = m[1]
		}
		l = clean.OneLine(html.UnescapeString(cueTag.ReplaceAllString(l, "")))
		if m := cueName.FindStringSubmatch(l); m != nil && name == "" {
			name, l = m[1], m[2]
		}
		if name = clean.OneLine(html.UnescapeString(name)); name != "" && name != s.speaker {
			s.flush()
			s.speaker = name
		}
		if l == "" {
			continue
		}
		kept = append(kept, l)
		if repeated(s.last, l) { // captions that roll show each line twice
			continue
		}
		s.add(start, l)
	}
	s.end, s.last = end, kept
}

// add adds a line that is said from a time on.
func (s *speech) add(start int, line string) {
	if line == "" {
		return
	}
	if start-s.end > speechPause || s.size > speechLength && endsSentence(s.lines) {
		s.flush()
	}
	if len(s.lines) == 0 {
		label := cueClock(start)
		if s.speaker != "" {
			label += s.speaker + ": "
		}
		s.lines = append(s.lines, label)
	}
	s.lines = append(s.lines, line)
	s.size += len(line)
}

func repeated(last []string, line string) bool {
	for _, l := range last {
		if l == line {
			return true
		}
	}
	return false
}

func endsSentence(lines []string) bool {
	return len(lines) > 0 && strings.ContainsAny(lines[len(lines)-1][len(lines[len(lines)-1])-1:], ".!?")
}

// cueClock writes a time as "[00:01:05] ".
func cueClock(ms int) string {
	two := func(n int) string { return string([]byte{byte('0' + n/10%10), byte('0' + n%10)}) }
	sec := ms / 1000
	hours := two(sec / 3600)
	return "[" + hours + ":" + two(sec/60%60) + ":" + two(sec%60) + "] "
}

func (s *speech) flush() {
	if len(s.lines) > 0 {
		s.w.Block()
		s.w.Raw(strings.TrimSuffix(s.lines[0], " "))
		s.w.WordBreak()
		s.w.Text(strings.Join(s.lines[1:], " "))
		s.w.Block()
	}
	s.lines, s.size = s.lines[:0], 0
}
