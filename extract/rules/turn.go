package rules

import (
	"github.com/contextmem/contextmem/internal/language"
)

// turns finds who speaks: "user:" and "assistant:" lines, and in memories "Name:" at the start of a line.
func (d *doc) turns() {
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

// turnPrefix returns the name before a colon at the start of a sentence and where the sentence goes on.
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
			if _, note := noteKey(name); note || d.in.Pairs || first.Shape == language.LowerCase || first.Word.Verb > 0 && !first.Is(language.GivenName) || first.Is(language.FunctionWord|language.Starter|language.DayWord|language.Month|language.Weekday) && !first.Is(language.GivenName) {
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
