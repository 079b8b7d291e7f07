package text

import (
	"bytes"
	"context"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

const (
	// speechPause is the silence in milliseconds after which a new paragraph begins.
	speechPause = 4000
	// speechLength is the size in bytes from which a paragraph ends at the next end of a sentence.
	speechLength = 500
)

var (
	// cueTime matches the timing line of a cue. WebVTT (W3C) uses a dot and optional hours; SubRip uses a comma.
	cueTime = lazyregexp.New(`^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})`)
	// cutTime matches what can be left of a timing line that was cut off, and cutArrow what has a whole time and a part of the arrow at least.
	cutTime  = lazyregexp.New(`^\s*\d{1,4}(?::\d{0,2}){0,2}(?:[.,]\d{0,3})?\s*(?:-{1,2}|-->[\s\d:.,]*)?$`)
	cutArrow = lazyregexp.New(`^\s*(?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3}\s*(?:-{1,2}|-->[\s\d:.,]*)$`)
	// badTime matches a timing line with a time that is none.
	badTime = lazyregexp.New(`^\s*\d[^\s]{3,15}\s*(?:-->|-+>|→)\s*\S{4,16}(?:\s+\S+:\S+)*\s*$`)
	// cueVoice matches the WebVTT tag that names the speaker.
	cueVoice = lazyregexp.New(`<v(?:\.[^ \t<>]*)?[ \t]+([^<>]{1,200})>`)
	cueTag   = lazyregexp.New(`<[^<>]{0,200}>|\{\\[^{}]{0,100}\}`)
	// cueName matches a speaker's name as meeting tools and SubRip files write it:
	// "Ida Miller: ", "- BEN: ", ">> BEN: ", "[SPEAKER_01]: ".
	cueName = lazyregexp.New(`^((?:[-–]|>>)\s*)?\[?([\p{Lu}\p{Lo}][\p{L}\p{M}\p{N}.'’_() -]{0,60})\]?[:：]\s*([^\s/].*)$`)
	// cueBlock matches the first line of a WebVTT block that is not speech.
	cueBlock = lazyregexp.New(`^(?:NOTE|STYLE|REGION)(?:\s|$)`)
)

// speech collects cues into paragraphs. Each paragraph has a start time and a speaker.
type speech struct {
	w       *output.Writer
	speaker string
	lines   []string // of the open paragraph
	size    int
	end     int      // of the last cue in milliseconds
	last    []string // the lines of the last cue
	any     bool
	names   map[string]int // candidate speaker name -> number of cues that begin with it
}

// ParseSubtitles reads WebVTT and SubRip. The speech becomes paragraphs that begin with "[00:01:05] Name: ".
func ParseSubtitles(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	plain, err := Parse(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	s := &speech{w: output.New(lim, len(plain.Text))}
	lines, cut := withoutCutCue(strings.Split(plain.Text, "\n"))
	title := ""
	if rest, ok := strings.CutPrefix(lines[0], "WEBVTT"); ok {
		title = strings.TrimLeft(rest, " \t-")
	}
	cues, bad, err := cuesOf(ctx, lines)
	if err != nil {
		return nil, err
	}
	if n := len(cues); n > 1 && cues[n-1].silent() && !slices.ContainsFunc(cues[:n-1], cue.silent) && !bytes.HasSuffix(bytes.ReplaceAll(in.Data, []byte("\r"), nil), []byte("\n\n")) {
		plain.AddPartial("the last cue has no words: the file may be cut off")
	}
	if bad > 0 {
		plain.AddPartial(strconv.Itoa(bad) + " lines with the times of cues cannot be read; what is said there has the times of the cue before")
	}
	s.count(cues)
	for i := range cues {
		if i&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.w.Full {
			break
		}
		s.cue(&cues[i])
	}
	s.flush()
	if !s.any {
		plain.AddPartial("not subtitles: they have no times, and were kept as plain text")
		return plain, nil
	}
	doc := s.w.Document()
	doc.Title, doc.Partial = title, plain.Partial
	if cut {
		doc.AddPartial("the file ends before the time of a cue is complete, and may be cut off")
	}
	return doc, nil
}

// Speech writes recorded speech in the same form as [ParseSubtitles].
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

// cue is the speech between two times, which are in milliseconds.
type cue struct {
	start, end int
	lines      []string
}

// silent reports whether a cue has no words.
func (c cue) silent() bool {
	return !slices.ContainsFunc(c.lines, func(l string) bool { return plainCue(l) != "" })
}

// cuesOf reads the cues of a file. A cue ends at the next timing line, because generated files have empty lines within cues. bad is the number of
// timing lines whose times are none. What follows such a line begins a cue at the end of the one before.
func cuesOf(ctx context.Context, lines []string) (cues []cue, bad int, err error) {
	blank := func(i int) bool { return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i]) == "" }
	var c *cue // nil while the lines are not speech
	for i := range lines {
		if i&1023 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		m := cueTime.FindStringSubmatch(lines[i])
		switch {
		case m != nil:
			cues = append(cues, cue{start: cueMillis(m[1:5]), end: cueMillis(m[5:9])})
			c = &cues[len(cues)-1]
		case malformed(lines, i):
			end := 0
			if bad++; len(cues) > 0 {
				end = cues[len(cues)-1].end
			}
			cues = append(cues, cue{start: end, end: end})
			c = &cues[len(cues)-1]
		case c == nil || blank(i):
		case blank(i-1) && cueBlock.MatchString(lines[i]):
			c = nil
		case blank(i-1) && i+1 < len(lines) && (cueTime.MatchString(lines[i+1]) || malformed(lines, i+1)): // the name of the next cue
		default:
			c.lines = append(c.lines, lines[i])
		}
	}
	return cues, bad, nil
}

// malformed reports whether a line stands where the times of a cue do and has an arrow, but no times. It begins its cue, or follows its number.
func malformed(lines []string, i int) bool {
	if !badTime.MatchString(lines[i]) || cueTime.MatchString(lines[i]) || !strings.ContainsAny(lines[i], ":.") {
		return false
	}
	first := i == 0 || strings.TrimSpace(lines[i-1]) == ""
	if !first {
		_, first = cueNumber(lines[i-1])
	}
	return first
}

// withoutCutCue removes a cue at the end of a file whose timing line is missing or not complete, and reports whether there was one. Speech of digits
// only, such as a year, is none: the lines of a cue begin with the number that follows that of the cue before, or with a time of which hardly anything
// is missing.
func withoutCutCue(lines []string) (rest []string, cut bool) {
	last := blockStart(lines, len(lines))
	if last == 0 {
		return lines, false
	}
	block := lines[last:]
	n, numbered := cueNumber(block[0])
	before, ok := cueNumber(lines[blockStart(lines, last-1)])
	numbered = numbered && ok && n == before+1
	switch {
	case len(block) == 1 && numbered,
		len(block) == 2 && numbered && cutTime.MatchString(block[1]) && !cueTime.MatchString(block[1]),
		len(block) == 1 && cutArrow.MatchString(block[0]) && !cueTime.MatchString(block[0]):
		return lines[:last], true
	}
	return lines, false
}

// blockStart returns the first of the lines that precede end without a blank line between them.
func blockStart(lines []string, end int) int {
	for end > 0 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	for end > 0 && strings.TrimSpace(lines[end-1]) != "" {
		end--
	}
	return end
}

// cueNumber returns the number of a SubRip cue.
func cueNumber(line string) (n int, ok bool) {
	n, err := strconv.Atoi(strings.TrimSpace(line))
	return n, err == nil && n >= 0
}

// count counts the candidate speaker names.
func (s *speech) count(cues []cue) {
	s.names = make(map[string]int)
	for i := range cues {
		for _, l := range cues[i].lines {
			if m := cueName.FindStringSubmatch(plainCue(l)); m != nil {
				s.names[m[2]]++
			}
		}
	}
}

func plainCue(line string) string {
	return clean.OneLine(html.UnescapeString(cueTag.ReplaceAllString(line, "")))
}

// voice reports whether a line begins with a speaker's name. "Answer: no" that occurs once in a file does not count.
func (s *speech) voice(m []string) bool {
	name := m[2]
	return m[1] != "" || s.names[name] > 1 || strings.ToUpper(name) == name || strings.IndexByte(name, ' ') > 0 && strings.Count(name, " ") < 4 && clean.OneLine(name) == titled(name)
}

// titled returns a name with the first letter of each word in title case.
func titled(name string) string {
	words := strings.Fields(name)
	for i, w := range words {
		r, n := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToTitle(r)) + w[n:]
	}
	return strings.Join(words, " ")
}

// cue adds a cue, which may have several speakers.
func (s *speech) cue(c *cue) {
	s.any = true
	var kept []string
	say := func(name, l string) {
		l = plainCue(l)
		if m := cueName.FindStringSubmatch(l); m != nil && name == "" && s.voice(m) {
			name, l = m[2], m[3]
		}
		if name = clean.OneLine(html.UnescapeString(name)); name != "" && name != s.speaker {
			s.flush()
			s.speaker = name
		}
		if l == "" {
			return
		}
		kept = append(kept, l)
		if !repeated(s.last, l) { // rolling captions show each line twice
			s.add(c.start, l)
			s.end = max(s.end, c.start)
		}
	}
	for _, l := range c.lines {
		name, from := "", 0
		for _, m := range cueVoice.FindAllStringSubmatchIndex(l, -1) {
			if from < m[0] && strings.TrimSpace(l[from:m[0]]) != "" {
				say(name, l[from:m[0]])
			}
			name, from = l[m[2]:m[3]], m[1]
		}
		say(name, l[from:])
	}
	s.end, s.last = c.end, kept
}

// add adds a line of speech that begins at a time.
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

// cueClock formats a time as "[00:01:05] ".
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
