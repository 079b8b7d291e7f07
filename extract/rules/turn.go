package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/internal/language"
)

// turns determines the speakers: from "user:" and "assistant:" lines, and in memories from "Name:" at the start of a line.
func (d *doc) turns() {
	if len(d.in.Turns) > 0 {
		d.knownTurns()
		return
	}
	if !d.in.Memory && !d.in.Pairs {
		return
	}
	self := d.in.Speaker
	if self == "" {
		self = defaultSpeaker
	}
	speaker, r := self, language.RoleNone
	if d.in.Pairs {
		r = language.RoleUser
	}
	for k := range d.Sentences {
		s := &d.Sentences[k]
		if d.Tokens[s.Lo].Gap >= language.LineGap || k == 0 {
			if name, next, ok := d.turnPrefix(s); ok {
				switch {
				case language.FoldEqual(name, "user"), language.FoldEqual(name, "human"), language.FoldEqual(name, "me"):
					speaker, r = self, language.RoleUser
				case language.FoldEqual(name, "assistant"), language.FoldEqual(name, "ai"), language.FoldEqual(name, "bot"), language.FoldEqual(name, "system"):
					speaker, r = "", language.RoleAssistant
				default:
					speaker, r = name, language.RoleUser
					s.Prefix = language.Span{Lo: s.Lo, Hi: next - 1}
				}
				s.Lo = next
			}
		}
		s.Speaker, s.Role = speaker, r
		if s.Lo >= s.Hi {
			s.Lo = s.Hi - 1
		}
	}
}

// turnPrefix returns the name before a colon at the start of a sentence, and the token after the colon.
func (d *doc) turnPrefix(s *language.Sentence) (name string, next int, ok bool) {
	for i := s.Lo; i < s.Hi && i < s.Lo+4; i++ {
		t := &d.Tokens[i]
		if t.Kind == language.KindPunct && t.Sign == ':' && i > s.Lo {
			if i+1 < s.Hi && d.Tokens[i+1].Gap == language.NoGap {
				return "", 0, false
			}
			name = d.SpanText(s.Lo, i)
			first := &d.Tokens[s.Lo]
			known := language.FoldEqual(name, "user") || language.FoldEqual(name, "assistant") || language.FoldEqual(name, "human") || language.FoldEqual(name, "system") ||
				language.FoldEqual(name, "ai") || language.FoldEqual(name, "bot") || language.FoldEqual(name, "me")
			if known {
				return name, i + 1, true
			}
			if _, note := noteKey(name); note || d.in.Pairs || d.heading(s, name) || d.topic(name, i+1) || first.Shape == language.LowerCase || first.Word().Verb > 0 && !first.Is(language.GivenName) || first.Is(language.FunctionWord|language.Starter|language.DayWord|language.Month|language.Weekday|language.Season) && !first.Is(language.GivenName) {
				return "", 0, false
			}
			return name, i + 1, i+1 < s.Hi && (i-s.Lo == 1 || first.Is(language.GivenName|language.PersonTitle))
		}
		if t.Kind != language.KindWord && !(t.Kind == language.KindPunct && t.Sign == '.') {
			return "", 0, false
		}
	}
	return "", 0, false
}

// knownTurns gives each sentence the speaker of the message that contains it. Labels between messages have no speaker. Lines of a
// message that begin with the label of a turn have none either: they are a pasted conversation.
func (d *doc) knownTurns() {
	at, pasted := 0, false
	for k := range d.Sentences {
		s := &d.Sentences[k]
		for at+1 < len(d.in.Turns) && d.labelOf(at+1) <= int(d.Tokens[s.Lo].Start) {
			at, pasted = at+1, false
		}
		t := &d.in.Turns[at]
		first := s.Lo
		for s.Lo < s.Hi-1 && int(d.Tokens[s.Lo].Start) < t.Start {
			s.Lo++
		}
		if s.Role = language.RoleAssistant; !t.User {
			s.Said = d.localTime(t.Time)
			continue
		}
		begins := s.Lo > first
		if name, _, ok := d.turnPrefix(s); ok && roleLabel(name) && (begins || d.Tokens[s.Lo].Gap >= language.LineGap) {
			pasted = true
		}
		switch {
		case begins:
			if t.Name != "" && !language.FoldEqual(t.Name, d.speaker()) {
				s.Prefix = language.Span{Lo: first, Hi: s.Lo - 1}
			}
		case d.Tokens[s.Lo].Gap == language.BlankGap:
			pasted = false
		}
		s.Said = d.localTime(t.Time)
		if pasted {
			continue
		}
		if s.Role, s.Speaker = language.RoleUser, t.Name; s.Speaker == "" {
			s.Speaker = d.speaker()
		}
	}
}

// labelOf returns where the label of turn i begins: after the previous message.
func (d *doc) labelOf(i int) int {
	if i == 0 {
		return 0
	}
	return d.in.Turns[i-1].End
}

// speaker returns the person whom "I" means if nobody is named.
func (d *doc) speaker() string {
	if d.in.Speaker == "" {
		return defaultSpeaker
	}
	return d.in.Speaker
}

// localTime returns a time in the location where the text was said; the zero time stays zero.
func (d *doc) localTime(t time.Time) time.Time {
	if d.in.Location != nil && !t.IsZero() {
		return t.In(d.in.Location)
	}
	return t
}

// roleLabel reports whether a name is the label of a role.
func roleLabel(name string) bool {
	switch strings.ToLower(name) {
	case "user", "assistant", "human", "system", "ai", "bot", "tool":
		return true
	}
	return false
}
