package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// maxInstructions is the maximum number of bytes of the instructions that are read.
const maxInstructions = 8 << 10

// topic is a subject that an instruction can request or exclude: words that indicate it, and kinds of facts that belong to it.
type topic struct {
	words []string
	kinds []string
}

// topics maps a word of an instruction to the topic that it names.
var topics = sync.OnceValue(func() map[string]topic {
	m := make(map[string]topic)
	for names, lines := range readTable("topics") {
		var t topic
		for line := range strings.SplitSeq(lines, "\n") {
			if kinds, ok := strings.CutPrefix(line, "= "); ok {
				t.kinds = strings.Fields(kinds)
			} else {
				t.words = append(t.words, strings.Fields(line)...)
			}
		}
		for name := range strings.FieldsSeq(names) {
			m[name] = t
		}
	}
	return m
})

// instructions holds the custom instructions that the rules understand.
type instructions struct {
	only, ignore []topic
	most         int // maximum number of facts to keep; 0 means all
	unheeded     []string
}

// Limits of the report about clauses that the rules do not understand.
const (
	maxUnheeded      = 8
	maxUnheededBytes = 200
)

// mostFacts matches the number of facts that an instruction requests.
var mostFacts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:at most|no more than|not more than|maximum(?: of)?|max\.?|up to|limit(?: it)? to|only|just)\s+(\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:facts?|statements?|memories|memory|items?|things|entries|preferences)\b`)
})

// parseInstructions reads clauses such as "only extract dietary preferences" and "ignore work".
func parseInstructions(text string) instructions {
	if len(text) > maxInstructions {
		text = text[:maxInstructions]
	}
	var in instructions
	for clause := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(".;!\n", r) }) {
		// "only food, ignore work": after a comma or "but" another instruction may begin
		rest := clause
		for rest != "" {
			head := rest
			rest = ""
			if k := nextInstruction(head); k > 0 {
				head, rest = head[:k], head[k:]
			}
			if !in.clause(head) {
				in.unheed(text, head)
			}
		}
	}
	return in
}

// unheed records a clause that was not understood, as the user wrote it.
func (in *instructions) unheed(text, clause string) {
	clause = strings.TrimSpace(clause)
	if clause == "" || len(in.unheeded) == maxUnheeded {
		return
	}
	if lower := strings.ToLower(text); len(lower) == len(text) {
		if k := strings.Index(lower, clause); k >= 0 {
			clause = text[k : k+len(clause)]
		}
	}
	if len(clause) > maxUnheededBytes {
		n := maxUnheededBytes
		for n > 0 && !utf8.RuneStart(clause[n]) {
			n--
		}
		clause = clause[:n]
	}
	in.unheeded = append(in.unheeded, strings.ToValidUTF8(clause, ""))
}

// nextInstruction returns the start of a second instruction in a clause, 0 for none.
func nextInstruction(s string) int {
	best := 0
	for _, mark := range [...]string{", ignore", ", skip", ", don't", ", do not", ", only", ", focus", ", but ", " but ignore", " and ignore", " but not", " and skip", " except"} {
		if k := strings.Index(s[min(1, len(s)):], mark); k >= 0 && (best == 0 || k+1 < best) {
			best = k + 1
		}
	}
	return best
}

// clause reads one instruction and reports whether it was understood.
func (in *instructions) clause(s string) bool {
	counted := false
	if m := mostFacts().FindStringSubmatchIndex(s); m != nil {
		number := s[m[2]:m[3]]
		n, err := strconv.Atoi(number)
		if err != nil {
			n = int(language.Lookup(number).Num)
		}
		if n > 0 && (in.most == 0 || n < in.most) {
			in.most = n
		}
		counted = true
		s = s[:m[0]] + " " + strings.TrimSpace(s[m[1]:])
		if !strings.Contains(s, "about") && !strings.Contains(s, "only") && !strings.Contains(s, "ignore") {
			return true
		}
		s = strings.Replace(s, "about", "only", 1)
	}
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
		return counted
	}
	found := topicsOf(rest)
	if ignore {
		in.ignore = append(in.ignore, found...)
	} else {
		in.only = append(in.only, found...)
	}
	return len(found) > 0 || counted
}

// separator replaces "and" between the words of an instruction.
const separator = "|"

// topicsOf returns the topics that words name. A kind of fact right after a subject ("dietary preferences") adds no topic.
func topicsOf(words []string) []topic {
	var out []topic
	subject := false // the previous word names a subject
	for _, w := range words {
		if w == separator {
			subject = false
			continue
		}
		t, ok := topics()[w]
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

// stem removes common endings, so that "cars" matches "car" and "driving" matches "drive".
func stem(w string) string {
	for _, end := range [...]string{"ing", "ies", "es", "s", "e"} {
		if len(w)-len(end) >= 3 && strings.HasSuffix(w, end) {
			return w[:len(w)-len(end)]
		}
	}
	return w
}

// filter returns the facts that the instructions allow.
func (in instructions) filter(facts []extract.Fact) []extract.Fact {
	if len(in.only) > 0 || len(in.ignore) > 0 {
		facts = in.wanted(facts)
	}
	if in.most == 0 || len(facts) <= in.most {
		return facts
	}
	surest := make([]int, len(facts))
	for i := range surest {
		surest[i] = i
	}
	slices.SortStableFunc(surest, func(a, b int) int { return cmp.Compare(facts[b].Confidence, facts[a].Confidence) })
	surest = surest[:in.most]
	slices.Sort(surest)
	out := make([]extract.Fact, 0, in.most)
	for _, i := range surest {
		out = append(out, facts[i])
	}
	return out
}

// wanted returns the facts about the requested topics.
func (in instructions) wanted(facts []extract.Fact) []extract.Fact {
	return slices.DeleteFunc(facts, func(f extract.Fact) bool {
		text := " " + strings.ToLower(f.Text+" "+f.Predicate+" "+f.Object)
		match := func(t topic) bool { return t.matches(text, &f) }
		return slices.ContainsFunc(in.ignore, match) || len(in.only) > 0 && !slices.ContainsFunc(in.only, match)
	})
}

// unwanted reports whether the instructions exclude a relation. They exclude relations about an ignored topic. If they request topics,
// they also exclude relations of the speakers that are about other topics.
func (in instructions) unwanted(r *extract.Relation, speakers map[string]bool) bool {
	if r.Predicate == "related_to" {
		return false
	}
	text := " " + strings.ToLower(r.Predicate+" "+r.Raw+" "+r.Target)
	f := extract.Fact{}
	match := func(t topic) bool { return t.matches(text, &f) }
	if slices.ContainsFunc(in.ignore, match) {
		return true
	}
	if len(in.only) == 0 || !speakers[r.Source] && !speakers[r.Target] || slices.ContainsFunc(in.only, func(t topic) bool { return len(t.words) == 0 }) {
		return false
	}
	return !slices.ContainsFunc(in.only, match)
}

// drop removes the relations that the instructions exclude, so that the graph holds no more than the facts.
func (d *doc) drop(in instructions) {
	if len(in.only)+len(in.ignore) == 0 {
		return
	}
	speakers := map[string]bool{extract.Key(d.speaker()): true}
	for i := range d.Sentences {
		if s := d.Sentences[i].Speaker; s != "" {
			speakers[extract.Key(s)] = true
		}
	}
	d.out.Relations = slices.DeleteFunc(d.out.Relations, func(r extract.Relation) bool { return in.unwanted(&r, speakers) })
}

// matches reports whether a word of the topic is a prefix of a word of the fact, or the topic includes the fact's kind.
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

// wordEnd reports whether a word ends at most slack letters after i. So short words do not match much longer ones.
func wordEnd(s string, i, slack int) bool {
	for n := 0; i < len(s) && s[i] >= 'a' && s[i] <= 'z'; i++ {
		if n++; n > slack {
			return false
		}
	}
	return true
}
