package rules

import "strings"

// split cuts the tokens into sentences, keeping paragraphs and turns apart.
func (d *doc) split() {
	lo, para := 0, 0
	lineStart := int32(0)
	for i := range d.toks {
		t := &d.toks[i]
		if t.gap >= gapLine && i > lo && d.breaksLine(i, lineStart) {
			d.sentence(lo, i, para)
			lo = i
		}
		if t.gap >= gapLine {
			lineStart = t.start
		}
		if t.gap == gapBlank {
			para++
		}
		if i > lo && (d.endsSentence(i-1) || i-lo >= maxSentence) {
			d.sentence(lo, i, para)
			lo = i
		}
	}
	d.sentence(lo, len(d.toks), para)
	d.turns()
}

func (d *doc) sentence(lo, hi, para int) {
	if lo >= hi {
		return
	}
	s := sentence{lo: lo, hi: hi, para: para}
	for i := hi - 1; i >= lo && d.toks[i].kind == kPunct; i-- {
		if d.toks[i].ch == '?' {
			s.question = true
		}
	}
	if cut := d.questionStart(&s); cut > 0 {
		stated := s
		stated.hi, stated.question = cut, false
		d.sents = append(d.sents, stated)
		s.lo, s.question = cut, true
	}
	d.sents = append(d.sents, s)
}

// questionStart finds where the question begins in "I moved to Oslo, do you know a gym?", 0 for none or at the start.
// Without a question mark only "can you", "should I" and the like are taken for one.
func (d *doc) questionStart(s *sentence) int {
	for i := s.lo + 2; i+2 < s.hi; i++ {
		if !d.isPunct(s, i, ',') {
			continue
		}
		j := i + 1
		if d.isWord(s, j, "and") || d.isWord(s, j, "so") || d.isWord(s, j, "but") {
			j++
		}
		if j+1 >= s.hi || d.toks[j].kind != kWord {
			continue
		}
		if !s.question {
			if d.toks[j].is(fDo|fModal) && d.toks[j+1].kind == kWord && d.toks[j+1].is(fI|fWe|fYou) && !d.toks[j+1].is(fPoss) {
				return i + 1
			}
			continue
		}
		aux := d.toks[j].is(fDo|fModal|fBe|fHave) && d.toks[j+1].kind == kWord && d.toks[j+1].is(fI|fWe|fYou|fHe|fShe|fIt|fThey|fDet)
		asks := d.isWord(s, j, "what") || d.isWord(s, j, "how") || d.isWord(s, j, "any") || d.isWord(s, j, "which") && d.toks[j+1].kind == kWord && !d.toks[j+1].is(fBe)
		if aux || asks {
			return i + 1
		}
	}
	return 0
}

// breaksLine reports whether the new line before token i ends a sentence: in wrapped text it does not.
func (d *doc) breaksLine(i int, lineStart int32) bool {
	t, prev := &d.toks[i], &d.toks[i-1]
	if t.gap == gapBlank {
		return true
	}
	if prev.kind == kPunct && prev.ch != ',' && prev.ch != '-' && prev.ch != '"' {
		return true
	}
	if t.kind == kPunct && strings.IndexByte("*-#>|+", t.ch) >= 0 {
		return true
	}
	if i+1 < len(d.toks) && t.kind == kNumber && d.toks[i+1].kind == kPunct && d.toks[i+1].gap == gapNone {
		return true // "1." or "2)"
	}
	wrapped := prev.end-lineStart >= 50
	return !wrapped && t.shape != sLower || !wrapped && t.kind != kWord
}

// endsSentence reports whether token i is the last of its sentence.
func (d *doc) endsSentence(i int) bool {
	t := &d.toks[i]
	if t.kind != kPunct {
		return false
	}
	if i+1 < len(d.toks) {
		next := &d.toks[i+1]
		if next.kind == kPunct && next.gap == gapNone && strings.IndexByte(".!?\")'", next.ch) >= 0 && next.ch != 0 {
			return false // closing signs belong to the sentence
		}
		if t.ch == '.' && d.text[t.start] == '.' && next.gap == gapNone {
			return next.shape != sLower && next.kind == kWord && i > 0 && d.toks[i-1].shape == sLower
		}
	}
	switch t.ch {
	case '!', '?':
		return true
	case '.':
		return !d.abbreviation(i)
	case '"', ')', '\'':
		for j := i - 1; j >= 0 && j >= i-3 && d.toks[j].kind == kPunct; j-- {
			if c := d.toks[j].ch; c == '!' || c == '?' || c == '.' {
				return i+1 >= len(d.toks) || d.toks[i+1].gap >= gapSpace && d.toks[i+1].shape != sLower
			}
		}
	}
	return false
}

// abbreviation reports whether the dot at i belongs to the word before it.
func (d *doc) abbreviation(i int) bool {
	if i == 0 || d.toks[i].gap != gapNone {
		return false
	}
	prev := &d.toks[i-1]
	if prev.kind == kNumber {
		return i+1 < len(d.toks) && d.toks[i+1].is(fMonth|fMonthX) || i == 1 || d.toks[i-1].gap >= gapLine
	}
	if prev.kind != kWord {
		return false
	}
	if prev.is(fAbbrev) && (i+1 >= len(d.toks) || d.toks[i+1].kind != kPunct) {
		// "Inc." may end a sentence: then a function word with a capital follows.
		return i+1 >= len(d.toks) || !(d.toks[i+1].is(fStop) && d.toks[i+1].shape == sCap && prev.is(fOrg))
	}
	n := prev.end - prev.start
	return n == 1 && prev.shape == sCap && !prev.is(fI) || n > 1 && isDotted(d.str(i-1)) && i+1 < len(d.toks) && !d.toks[i+1].is(fStop)
}

// turns finds who speaks: "user:" and "assistant:" lines, and in memories "Name:" at the start of a line.
func (d *doc) turns() {
	if d.in == nil || !d.in.Memory && !d.in.Pairs {
		return
	}
	self := d.in.Speaker
	if self == "" {
		self = defaultSpeaker
	}
	speaker, r := self, roleNone
	if d.in.Pairs {
		r = roleUser
	}
	for k := range d.sents {
		s := &d.sents[k]
		if d.toks[s.lo].gap >= gapLine || k == 0 {
			if name, next, ok := d.turnPrefix(s); ok {
				switch {
				case foldEqual(name, "user"), foldEqual(name, "human"), foldEqual(name, "me"):
					speaker, r = self, roleUser
				case foldEqual(name, "assistant"), foldEqual(name, "ai"), foldEqual(name, "bot"), foldEqual(name, "system"):
					speaker, r = "", roleAssistant
				default:
					speaker, r = name, roleUser
					s.prefix = tokSpan{s.lo, next - 1}
				}
				s.lo = next
			}
		}
		s.speaker, s.role = speaker, r
		if s.lo >= s.hi {
			s.lo = s.hi - 1
		}
	}
}

// turnPrefix returns the name before a colon at the start of a sentence and where the sentence goes on.
func (d *doc) turnPrefix(s *sentence) (name string, next int, ok bool) {
	for i := s.lo; i < s.hi && i < s.lo+4; i++ {
		t := &d.toks[i]
		if t.kind == kPunct && t.ch == ':' && i > s.lo {
			if i+1 < s.hi && d.toks[i+1].gap == gapNone {
				return "", 0, false
			}
			name = d.surface(s.lo, i)
			first := &d.toks[s.lo]
			known := foldEqual(name, "user") || foldEqual(name, "assistant") || foldEqual(name, "human") || foldEqual(name, "system") ||
				foldEqual(name, "ai") || foldEqual(name, "bot") || foldEqual(name, "me")
			if known {
				return name, i + 1, true
			}
			if _, note := noteKey(name); note || d.in.Pairs || first.shape == sLower || first.is(fStop|fStarter|fDayWord|fMonth|fWeekday) && !first.is(fGiven) {
				return "", 0, false
			}
			return name, i + 1, i+1 < s.hi && (i-s.lo == 1 || first.is(fGiven|fTitle))
		}
		if t.kind != kWord && !(t.kind == kPunct && t.ch == '.') {
			return "", 0, false
		}
	}
	return "", 0, false
}

func foldEqual(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }
