package language

import "strings"

// split divides the tokens into sentences. A sentence crosses neither paragraphs nor turns.
func (d *Document) split() {
	lo, para := 0, 0
	lineStart := int32(0)
	breaks := d.Breaks
	for i := range d.Tokens {
		t := &d.Tokens[i]
		broken := false
		for len(breaks) > 0 && breaks[0] <= int(t.Start) {
			breaks, broken = breaks[1:], true
		}
		if i > lo && (broken || t.Gap >= LineGap && d.breaksLine(i, lineStart)) {
			d.sentence(lo, i, para)
			lo = i
		}
		if t.Gap >= LineGap {
			lineStart = t.Start
		}
		if t.Gap == BlankGap {
			para++
		}
		if i > lo && (d.endsSentence(i-1) || i-lo >= maxSentence) {
			d.sentence(lo, i, para)
			lo = i
		}
	}
	d.sentence(lo, len(d.Tokens), para)
}

func (d *Document) sentence(lo, hi, para int) {
	if lo >= hi {
		return
	}
	s := Sentence{Lo: lo, Hi: hi, Paragraph: para}
	for i := hi - 1; i >= lo && d.Tokens[i].Kind == KindPunct; i-- {
		if d.Tokens[i].Sign == '?' {
			s.Question = true
		}
	}
	if cut := d.questionStart(&s); cut > 0 {
		stated := s
		stated.Hi, stated.Question = cut, false
		d.Sentences = append(d.Sentences, stated)
		s.Lo, s.Question = cut, true
	}
	d.Sentences = append(d.Sentences, s)
}

// questionStart returns where the question begins in "I moved to Oslo, do you know a gym?"; it returns 0 if there is none or it begins
// the sentence. Without a question mark only "can you", "should I" and the like count as one.
func (d *Document) questionStart(s *Sentence) int {
	for i := s.Lo + 2; i+2 < s.Hi; i++ {
		if !d.IsPunct(s, i, ',') {
			continue
		}
		j := i + 1
		if d.IsWord(s, j, "and") || d.IsWord(s, j, "so") || d.IsWord(s, j, "but") {
			j++
		}
		if j+1 >= s.Hi || d.Tokens[j].Kind != KindWord {
			continue
		}
		if !s.Question {
			if d.Tokens[j].Is(FormOfDo|Modal) && d.Tokens[j+1].Kind == KindWord && d.Tokens[j+1].Is(FirstPerson|FirstPlural|SecondPerson) && !d.Tokens[j+1].Is(Possessive) {
				return i + 1
			}
			continue
		}
		aux := d.Tokens[j].Is(FormOfDo|Modal|FormOfBe|FormOfHave) && d.Tokens[j+1].Kind == KindWord && d.Tokens[j+1].Is(FirstPerson|FirstPlural|SecondPerson|Masculine|Feminine|Neuter|ThirdPlural|Determiner)
		asks := d.IsWord(s, j, "what") || d.IsWord(s, j, "how") || d.IsWord(s, j, "any") || d.IsWord(s, j, "which") && d.Tokens[j+1].Kind == KindWord && !d.Tokens[j+1].Is(FormOfBe)
		if aux || asks {
			return i + 1
		}
	}
	return 0
}

// breaksLine reports whether the line break before token i ends a sentence. In wrapped text it does not.
func (d *Document) breaksLine(i int, lineStart int32) bool {
	t, prev := &d.Tokens[i], &d.Tokens[i-1]
	if t.Gap == BlankGap {
		return true
	}
	if prev.Kind == KindPunct && prev.Sign != ',' && prev.Sign != '-' && prev.Sign != '"' {
		return true
	}
	if t.Kind == KindPunct && strings.IndexByte("*-#>|+", t.Sign) >= 0 {
		return true
	}
	if i+1 < len(d.Tokens) && t.Kind == KindNumber && d.Tokens[i+1].Kind == KindPunct && d.Tokens[i+1].Gap == NoGap {
		return true // "1." or "2)"
	}
	if d.turnStart(i) {
		return true
	}
	wrapped := prev.End-lineStart >= 50
	return !wrapped && t.Shape != LowerCase || !wrapped && t.Kind != KindWord
}

// endsSentence reports whether token i is the last of its sentence.
func (d *Document) endsSentence(i int) bool {
	t := &d.Tokens[i]
	if t.Kind != KindPunct {
		return false
	}
	if i+1 < len(d.Tokens) {
		next := &d.Tokens[i+1]
		if next.Kind == KindPunct && next.Gap == NoGap && strings.IndexByte(".!?\")'", next.Sign) >= 0 && next.Sign != 0 {
			return false // closing signs belong to the sentence
		}
		if t.Sign == '.' && d.Text[t.Start] == '.' && next.Gap == NoGap {
			return next.Shape != LowerCase && next.Kind == KindWord && i > 0 && d.Tokens[i-1].Shape == LowerCase
		}
	}
	switch t.Sign {
	case '!', '?':
		return true
	case '.':
		return !d.abbreviation(i)
	case '"', ')', '\'':
		for j := i - 1; j >= 0 && j >= i-3 && d.Tokens[j].Kind == KindPunct; j-- {
			if c := d.Tokens[j].Sign; c == '!' || c == '?' || c == '.' {
				return i+1 >= len(d.Tokens) || d.Tokens[i+1].Gap >= SpaceGap && d.Tokens[i+1].Shape != LowerCase
			}
		}
	}
	return false
}

// abbreviation reports whether the dot at i belongs to the previous word.
func (d *Document) abbreviation(i int) bool {
	if i == 0 || d.Tokens[i].Gap != NoGap {
		return false
	}
	prev := &d.Tokens[i-1]
	if prev.Kind == KindNumber {
		return i+1 < len(d.Tokens) && d.Tokens[i+1].Is(Month|ForeignMonth) || i == 1 || d.Tokens[i-1].Gap >= LineGap
	}
	if prev.Kind != KindWord {
		return false
	}
	if prev.Is(Abbreviation) && (i+1 >= len(d.Tokens) || d.Tokens[i+1].Kind != KindPunct) {
		// "Inc." ends a sentence if a capitalised function word follows.
		return i+1 >= len(d.Tokens) || !(d.Tokens[i+1].Is(FunctionWord) && d.Tokens[i+1].Shape == Capitalized && prev.Is(OrgWord))
	}
	n := prev.End - prev.Start
	return n == 1 && prev.Shape == Capitalized && !prev.Is(FirstPerson) || n > 1 && isDotted(d.TokenText(i-1)) && i+1 < len(d.Tokens) && !d.Tokens[i+1].Is(FunctionWord)
}

// turnStart reports whether a line begins at token i with a speaker's label: "assistant:", "Anna:".
func (d *Document) turnStart(i int) bool {
	if i+1 >= len(d.Tokens) || d.Tokens[i].Kind != KindWord || d.Tokens[i+1].Kind != KindPunct || d.Tokens[i+1].Sign != ':' {
		return false
	}
	switch strings.ToLower(d.TokenText(i)) {
	case "user", "assistant", "human", "ai", "bot", "system", "me":
		return true
	}
	return d.Tokens[i].Capital()
}
