package rules

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// maxInstructions is how much of the instructions is read, in bytes.
const maxInstructions = 8 << 10

// topic is what an instruction can ask for or leave out: words that show it, and kinds of facts that are it.
type topic struct {
	words []string
	kinds []string
}

// topics maps the words of instructions to topics; words are compared by their beginnings.
var topics = []struct {
	names string
	topic topic
}{
	{"diet dietary food foods eating nutrition meal meals cuisine drink drinks", topic{words: strings.Fields(`diet eat eats ate food meal cook drink coffee tea allerg
		vegan vegetarian cuisine breakfast lunch dinner meat fish dairy gluten sugar snack restaurant fruit vegetable spicy dessert recipe bak peanut
		nut shellfish milk lactose intoleran wine beer pescatarian celiac mushroom cheese bread`)}},
	{"work job jobs career professional business office employment", topic{words: strings.Fields(`work job career employ company office colleague boss manager project
		meeting client salary intern deploy report team hired business promot deadline role works_at has_role works_on`)}},
	{"health medical fitness medicine", topic{words: strings.Fields(`health doctor sick ill medic allerg diabet surgery hospital pain injur fitness gym exercise diet
		sleep therap asthma condition pregnan vaccin weight running workout blood dentist`)}},
	{"family relatives relationship relationships friends people contacts", topic{words: strings.Fields(`wife husband mother father mom dad parent son daughter child
		brother sister sibling aunt uncle cousin grand friend partner girlfriend boyfriend married fianc family spouse`), kinds: []string{extract.KindRelationship}}},
	{"travel trips trip travelling traveling vacation holidays location locations", topic{words: strings.Fields(`travel trip visit flight fly flew hotel vacation holiday airport
		beach tour abroad lives_in moved went_to country city`)}},
	{"hobby hobbies sport sports leisure interests interest", topic{words: strings.Fields(`hobby hobbies sport play hik swim climb run ran running paint read book music game
		garden photograph danc sing guitar piano chess bike cycl ski surf knit craft interested likes loves enjoys collect`)}},
	{"money finance finances financial budget spending", topic{words: strings.Fields(`money salary budget pay paid cost price bank loan mortgage invest rent earn debt spend spent saving tax dollar euro`)}},
	{"technology technical tech programming code coding software", topic{words: strings.Fields(`code coding program software develop python javascript golang database server linux
		docker kubernetes api laptop computer app deploy github bug`)}},
	{"preference preferences likes dislikes taste tastes favorites favourites", topic{kinds: []string{extract.KindPreference}}},
	{"goal goals plans plan intentions intention ambitions", topic{kinds: []string{extract.KindGoal}}},
	{"event events experiences activities", topic{kinds: []string{extract.KindEvent}}},
	{"fact facts", topic{kinds: []string{extract.KindFact, extract.KindEntity}}},
	{"entities entity", topic{kinds: []string{extract.KindEntity, extract.KindRelationship}}},
}

// instructions is what rules understand of custom instructions.
type instructions struct {
	only, ignore []topic
}

// parseInstructions reads clauses such as "only extract dietary preferences" and "ignore work".
func parseInstructions(text string) instructions {
	if len(text) > maxInstructions {
		text = text[:maxInstructions]
	}
	var in instructions
	for clause := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(".;!\n", r) }) {
		// "only food, ignore work": a comma or "but" may begin another instruction
		rest := clause
		for rest != "" {
			head := rest
			rest = ""
			if k := nextInstruction(head); k > 0 {
				head, rest = head[:k], head[k:]
			}
			in.clause(head)
		}
	}
	return in
}

// nextInstruction returns where a second instruction begins in a clause, 0 for none.
func nextInstruction(s string) int {
	best := 0
	for _, mark := range [...]string{", ignore", ", skip", ", don't", ", do not", ", only", ", focus", ", but ", " but ignore", " and ignore", " but not", " and skip", " except"} {
		if k := strings.Index(s[min(1, len(s)):], mark); k >= 0 && (best == 0 || k+1 < best) {
			best = k + 1
		}
	}
	return best
}

// clause reads one instruction.
func (in *instructions) clause(s string) {
	s = strings.ReplaceAll(s, ",", " and ")
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '\'' || r >= 0x80)
	})
	ignore, only := false, false
	var rest []string
	for i, w := range words {
		switch w {
		case "ignore", "skip", "exclude", "omit", "except", "don't", "never", "avoid", "without", "not", "dont", "disregard":
			ignore = true
		case "only", "just", "focus", "exclusively", "solely":
			only = true
		case "and", "or":
			rest = append(rest, separator)
		case "extract", "remember", "store", "keep", "save", "capture", "infer", "record", "track", "about", "on", "anything", "everything", "related", "to", "the", "any", "all", "do", "please", "user", "user's", "users", "information", "details", "things", "that", "are", "is", "of", "in", "for", "from", "their",
			"his", "her", "memories", "memory", "with", "concerning", "regarding", "mention", "mentions", "mentioned", "topics", "topic", "but", "be", "other", "stuff",
			"me", "my", "i", "a", "an", "statements", "content", "data", "long-term", "personal", "important", "relevant", "key":
		default:
			if i < 40 {
				rest = append(rest, w)
			}
		}
	}
	if !ignore && !only {
		return
	}
	found := topicsOf(rest)
	if ignore {
		in.ignore = append(in.ignore, found...)
	} else {
		in.only = append(in.only, found...)
	}
}

// separator stands for "and" between the words of an instruction.
const separator = "|"

// topicsOf turns words into topics. A kind of fact right behind a subject ("dietary preferences") only repeats it.
func topicsOf(words []string) []topic {
	var out []topic
	subject := false // the word before names a subject
	for _, w := range words {
		if w == separator {
			subject = false
			continue
		}
		t, ok := topicOf(w)
		if !ok {
			t = topic{words: []string{stem(w)}}
		}
		if len(t.words) > 0 || !subject {
			out = append(out, t)
		}
		subject = len(t.words) > 0
	}
	return out
}

func topicOf(w string) (topic, bool) {
	for _, e := range topics {
		if slices.Contains(strings.Fields(e.names), w) {
			return e.topic, true
		}
	}
	return topic{}, false
}

// stem cuts common endings, so that "cars" finds "car" and "driving" finds "drive".
func stem(w string) string {
	for _, end := range [...]string{"ing", "ies", "es", "s", "e"} {
		if len(w)-len(end) >= 3 && strings.HasSuffix(w, end) {
			return w[:len(w)-len(end)]
		}
	}
	return w
}

// filter keeps the facts that the instructions ask for.
func (in instructions) filter(facts []extract.Fact) []extract.Fact {
	if len(in.only) == 0 && len(in.ignore) == 0 {
		return facts
	}
	return slices.DeleteFunc(facts, func(f extract.Fact) bool {
		text := " " + strings.ToLower(f.Text+" "+f.Predicate+" "+f.Object)
		match := func(t topic) bool { return t.matches(text, &f) }
		return slices.ContainsFunc(in.ignore, match) || len(in.only) > 0 && !slices.ContainsFunc(in.only, match)
	})
}

// matches reports whether a word of the topic begins a word of the fact, or the fact's kind is one of the topic's.
func (t topic) matches(text string, f *extract.Fact) bool {
	if slices.Contains(t.kinds, f.Kind) {
		return true
	}
	for _, w := range t.words {
		for from := 0; ; {
			k := strings.Index(text[from:], w)
			if k < 0 {
				break
			}
			k += from
			if c := text[k-1]; !(c >= 'a' && c <= 'z') && (len(w) > 3 || wordEnd(text, k+len(w), 2)) {
				return true
			}
			from = k + len(w)
		}
	}
	return false
}

// wordEnd reports whether a word ends within slack letters from i: short words match no longer ones.
func wordEnd(s string, i, slack int) bool {
	for n := 0; i < len(s) && s[i] >= 'a' && s[i] <= 'z'; i++ {
		if n++; n > slack {
			return false
		}
	}
	return true
}
