package change

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/lexical"
)

// signal is the index of what is known about a note and an earlier one.
type signal int

const (
	sReplaces    signal = iota // logit of the judge
	sTurned                    // the same, less that of the two notes in the other order
	sAnswers                   // logit of the judge that the later note answers the earlier one
	sLike                      // inner product of their vectors
	sShared                    // words of the earlier note that are in the later one, as a share by weight
	sRarest                    // weight of the rarest common word
	sNearer                    // sLike, less the greatest of the other earlier notes
	sSharesMore                // the same of sShared
	sRarer                     // the same of sRarest
	sNearest                   // 1: no other earlier note is nearer
	sCue                       // 1: the later note has a word of change
	sEarlierCue                // 1: the earlier note has one
	sCueShared                 // sRarest if the later note has one
	sUnsettled                 // 1: the later note is a plan, a wish, a question or a condition
	sOwners                    // 1: they name the same thing of different people
	sNumbered                  // 1: they name things of one kind with different numbers: "bed 3", "bed 7"
	sOtherEvent                // 1: both tell the day, the time or the price of something, and not of the same
	sSameEvent                 // 1: both tell those of the same
	sSameValues                // 1: they have a number in common
	sFirst                     // 1: the later note has the first word of the earlier one
	sLong                      // logarithm of the later note's length
	sEarlierLong               // logarithm of the earlier note's length
	sSameHead                  // 1: both have the same head, and the later note has another value behind it
	sOtherHead                 // 1: both have a head, and not the same
	sWhole                     // 1: all words of the earlier note are in the later one
	sAdds                      // 1: the later note adds something, or says that something goes on: "as well", "still"
	sOnce                      // 1: the later note tells what happened once: "yesterday"
	sOthers                    // 1: the later note is about somebody of whom the earlier one does not speak: "my brother"
	sOnlyLater                 // 1: the later note has a day, a time, a date, a price or a number, and the earlier one has none of that kind
	sOnlyEarlier               // 1: the same of the earlier note
	sCrowd                     // how many statements are known, 0 to 1: see crowd
	signalCount
)

// known holds the signals about a note and an earlier one.
type known [signalCount]float64

// probability returns the probability that the later note replaces the earlier one.
func (k *known) probability() float64 {
	sum := noteShift
	for i, x := range k {
		sum += noteWeights[i] * x
	}
	return 1 / (1 + math.Exp(-sum))
}

// signals returns what is known about a note and each of the earlier ones.
func signals(s *statement, earlier []*statement, asked []judged) []known {
	later := look(s)
	all := make([]*looked, len(earlier))
	used := map[string]int{}
	count := func(l *looked) {
		for w := range l.words {
			used[w]++
		}
	}
	count(later)
	for i, e := range earlier {
		all[i] = look(e)
		count(all[i])
	}
	weight := func(w string) float64 { return math.Log(float64(len(earlier)+2) / float64(used[w])) }
	out := make([]known, len(earlier))
	for i, e := range all {
		out[i] = pair(later, e, &asked[i], weight)
		out[i][sLike] = earlier[i].like
		out[i][sOtherEvent], out[i][sSameEvent] = ofEvents(s, earlier[i])
	}
	ahead := func(to, of signal) {
		for i := range out {
			best, others := math.Inf(-1), false
			for j := range out {
				if j != i {
					best, others = max(best, out[j][of]), true
				}
			}
			if others {
				out[i][to] = out[i][of] - best
			}
		}
	}
	ahead(sNearer, sLike)
	ahead(sSharesMore, sShared)
	ahead(sRarer, sRarest)
	for i := range out {
		out[i][sNearest] = flag(out[i][sNearer] > 0)
	}
	return out
}

// pair returns the signals that no other note has a part in.
func pair(l, e *looked, asked *judged, weight func(string) float64) (k known) {
	k[sReplaces], k[sTurned], k[sAnswers] = asked.replaces, asked.replaces-asked.back, asked.answers
	var ofEarlier, common float64
	for w := range e.words {
		ofEarlier += weight(w)
		if l.words[w] {
			common += weight(w)
			k[sRarest] = max(k[sRarest], weight(w))
		}
	}
	if ofEarlier > 0 {
		k[sShared] = common / ofEarlier
	}
	whole := len(e.words) > 0
	for w := range e.words {
		whole = whole && l.words[w]
	}
	k[sWhole] = flag(whole)
	if l.head != "" && e.head != "" {
		k[sSameHead], k[sOtherHead] = flag(l.head == e.head && !whole), flag(l.head != e.head)
	}
	cue := flag(l.cue)
	k[sCue], k[sEarlierCue], k[sCueShared] = cue, flag(e.cue), cue*k[sRarest]
	k[sUnsettled], k[sAdds], k[sOnce] = flag(l.unsettled), flag(l.adds), flag(l.once)
	for who := range l.others {
		if !e.others[who] {
			k[sOthers] = 1
		}
	}
	for kind, has := range l.kinds {
		switch {
		case has && !e.kinds[kind]:
			k[sOnlyLater] = 1
		case !has && e.kinds[kind]:
			k[sOnlyEarlier] = 1
		}
	}
	k[sFirst] = flag(e.first != "" && l.words[e.first])
	k[sLong], k[sEarlierLong] = math.Log(float64(1+l.runes)), math.Log(float64(1+e.runes))
	for thing, owner := range l.owners {
		if o, ok := e.owners[thing]; ok && o != owner {
			k[sOwners] = 1
		}
	}
	for kind, n := range l.numbered {
		if m, ok := e.numbered[kind]; ok && m != n {
			k[sNumbered] = 1
		}
	}
	for v := range l.values {
		if e.values[v] {
			k[sSameValues] = 1
		}
	}
	return k
}

// ofEvents returns whether two statements with events name different ones, and whether they name one.
func ofEvents(later, earlier *statement) (other, same float64) {
	for _, l := range later.events() {
		for _, e := range earlier.events() {
			_, a := l.same(&e)
			_, b := e.same(&l)
			if a || b {
				return 0, 1
			}
			other = 1
		}
	}
	return other, 0
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// looked is what a note's words say.
type looked struct {
	head           string // what is before a colon, in lower case
	words          map[string]bool
	first          string            // the first of them
	owners         map[string]string // by thing: "coach" of "Dana's coach" has the owner "dana"
	numbered       map[string]string // by kind: "bed" of "bed 3" has the number "3"
	values         map[string]bool   // numbers and days
	cue, unsettled bool
	adds, once     bool
	others         map[string]bool // people other than the owner, by what they are to the owner
	kinds          [valueKinds]bool
	runes          int
}

var (
	ownsThing = lazyregexp.New(`([\pL\d]+)['’]s? ([\pL\d]+)`)
	hasNumber = lazyregexp.New(`(?i)([\pL]{3,}) (?:no\.? ?|number |nr\.? ?)?(\d+)(?:[^\d.,:]|[.,:]\D|[.,:]?$)`)
	aNumber   = lazyregexp.New(`\d+(?:[.,:]\d+)*`)
	aDay      = lazyregexp.New(`(?i)\b(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|(?:lune|marte|mercole|giove|vener)d[iì]|sabato|domenica|segunda|terça|quarta|quinta|sexta)\b|[月火水木金土日]曜|[周星期][一二三四五六日天]`)
)

// look reads a note.
func look(s *statement) *looked {
	l := &looked{head: topicOf(s.text), words: map[string]bool{}, values: map[string]bool{}, others: map[string]bool{}, runes: utf8.RuneCountInString(s.text)}
	for _, t := range lexical.Analyze(nil, s.text) {
		w := strings.ToLower(s.text[t.Start:t.End])
		switch {
		case noteCues[w]:
			l.cue = true
		case doubts[w]:
			l.unsettled = true
		}
		l.readWord(w)
		if t.Stop() || lexical.IsStem(t.Term) || functionWords[w] {
			continue
		}
		if l.first == "" {
			l.first = t.Term
		}
		l.words[t.Term] = true
	}
	l.readSigns(s.text)
	l.unsettled = l.unsettled || !s.assertsTruth()
	l.owners = pairsOf(ownsThing.Compiled(), s.text, 2, 1)
	l.numbered = pairsOf(hasNumber.Compiled(), s.text, 1, 2)
	for _, v := range aNumber.Compiled().FindAllString(s.text, -1) {
		l.values[v] = true
	}
	for _, v := range aDay.Compiled().FindAllString(s.text, -1) {
		l.values[strings.ToLower(v[:min(3, len(v))])] = true
		l.kinds[kindDay] = true
	}
	for kind, r := range valueOf {
		l.kinds[kind] = l.kinds[kind] || r != nil && r.MatchString(s.text)
	}
	return l
}

// longestHead is the length in bytes of the longest head of a note.
const longestHead = 40

// topicOf returns what is before the first colon of a note, in lower case, empty if there is no head: "at 9:15" has none.
func topicOf(text string) string {
	head, rest, ok := strings.Cut(strings.ReplaceAll(text, "：", ":"), ":")
	if head = strings.TrimSpace(head); !ok || head == "" || len(head) > longestHead || strings.HasPrefix(rest, "//") {
		return ""
	}
	before, _ := utf8.DecodeLastRuneInString(head)
	behind, _ := utf8.DecodeRuneInString(rest)
	if unicode.IsDigit(before) && unicode.IsDigit(behind) {
		return ""
	}
	return strings.ToLower(head)
}

// pairsOf returns the group value by the group key of all matches, both in lower case.
func pairsOf(r *regexp.Regexp, text string, key, value int) map[string]string {
	var out map[string]string
	for _, m := range r.FindAllStringSubmatch(text, -1) {
		if out == nil {
			out = map[string]string{}
		}
		out[strings.ToLower(m[key])] = strings.ToLower(m[value])
	}
	return out
}
