package change

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// A cancellation may name what it cancels by another word than the plan did: "the trip is off" after "we're flying to Lisbon on 9 June". Nouns for
// events then compete for the plan. By the embedder, the noun of the cancellation has to be nearer to the plan than the others are, each measured
// against how near it is to ordinary statements. Among English statements this is mostly right; among others it was wrong too often.

var (
	isOff = lazyregexp.New(`(?i)^(?:(?:so|and|well|sadly|ok|okay|but|anyway|right)[,:]? +)*(?:the |our |my |this )?((?:[\pL-]+ ){0,2}?)([\pL-]+?)(?: is|['’]s| has| was| are)(?: been| just| now| all| definitely)* (?:off|cancelled|canceled|called off|scrapped|not happening|no longer happening)` +
		`(?:,.*| (?:because|this|for|after|as|again|now|then|due|since|altogether|after all|in the end)\b.*)?$`)
	calledOff = lazyregexp.New(`(?i)^(?:(?:so|and|well|sadly|ok|okay|but|anyway)[,:]? +)*(?:i|we|they)(?:['’]ve| have| had)?(?: just| now)?(?: had to| have to)? (?:cancel(?:led|ed)?|call(?:ed)? off|scrap(?:ped)?) (?:the|our|my) ((?:[\pL-]+ ){0,2}?)([\pL-]+)(?:,.*| (?:because|this|for|after|as|again|now|then|due|since|altogether|after all|in the end)\b.*)?$`)
)

// eventNouns compete for a plan. Those of one group name the same events and stand by each other.
var eventNouns = func() (out [][]string) {
	for g := range strings.SplitSeq("trip holiday vacation flight journey|wedding|party celebration|play show performance|race marathon|dinner lunch meal barbecue picnic|concert gig|match game|lesson class course|meeting call|"+
		"operation surgery|move|viewing|visit|interview|delivery|appointment|exam test|talk lecture", "|") {
		out = append(out, strings.Fields(g))
	}
	return out
}()

// groupOf returns the index of the group of a noun; -1 if it has none.
func groupOf(noun string) int {
	return slices.IndexFunc(eventNouns, func(g []string) bool { return slices.Contains(g, noun) })
}

// ordinary are statements, plans and others, to which every noun is compared.
var ordinary = []string{"We're driving to Scotland in August.", "My cousin gets married in May.", "Birthday drinks for Leo on Friday.", "I'm singing in a musical next month.", "I'm doing a 10k on Sunday.", "Lunch with Priya on Tuesday.",
	"We have tickets for the opera.", "The electrician comes on Monday.", "My evening class starts in September.", "Check-up at the doctor's on the 3rd.", "Team sync with marketing at ten.", "I'm giving a talk about bees.", "My parents are visiting at Easter.",
	"We play the final on Saturday.", "Job interview at noon.", "We're moving house in June.", "The sofa is being delivered on Thursday.", "Haircut on Wednesday.", "I work in a bank.", "My dog is called Rex.", "I'm vegetarian.", "The rent is 800 a month.", "I like jazz.", "My sister lives in Leeds."}

// Bounds, chosen on plans of all kinds: a group of nouns fits a plan if the distance of its best noun from ordinary statements, in deviations, is at
// least fitting and at most contest below that of the best group.
const (
	fitting = .3
	contest = .15
)

// byName decides which plan a cancellation is about that names none of a plan's words. It does nothing if another rule decided about the statement.
func (r *run) byName(s *statement, near []*statement, out []verdict) error {
	if r.Embedder == nil || !s.cued() || slices.ContainsFunc(out, func(x verdict) bool { return x.confidence > 0 }) {
		return nil
	}
	noun, beside, evidence := s.cancelledNoun()
	if noun == "" {
		return nil
	}
	var plans []string
	var of []int // index of each plan's statement in near
	for i, n := range near {
		if later, _ := order(s, n); later != s {
			continue
		}
		all := n.parse()
		for j := range all {
			e := &all[j]
			if states(e) && e.About != extract.AboutOther && (e.Mode == extract.ModePlan || dated.MatchString(e.Text)) && namesAll(beside, e.terms()) {
				plans, of = append(plans, e.Text), append(of, i)
			}
		}
	}
	if len(plans) == 0 {
		return nil
	}
	fixed, err := r.fixedVectors()
	if err != nil {
		return err
	}
	vs, err := r.vectors(plans)
	if err != nil {
		return err
	}
	fit := plansOf(slices.Concat(fixed, vs), groupOf(noun))
	if len(fit) == 0 || slices.ContainsFunc(fit, func(p int) bool { return of[p] != of[fit[0]] }) { // of two plans, it is unknown which one is meant
		return nil
	}
	out[of[fit[0]]] = verdict{confidence: likely, retracts: true, matter: plans[fit[0]], evidence: evidence, decider: "rules: named"}
	return nil
}

// fixedVectors caches the vectors of the nouns and the ordinary statements, made by the embedder of one name.
type fixedVectors struct {
	mu    sync.Mutex
	model string
	made  [][]float32
}

// fixedVectors returns the vectors of the nouns, then of the ordinary statements.
func (r *run) fixedVectors() ([][]float32, error) {
	f := &r.fixed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made == nil || f.model != r.Model {
		made, err := r.vectors(slices.Concat(slices.Concat(eventNouns...), ordinary))
		if err != nil {
			return nil, err
		}
		f.model, f.made = r.Model, made
	}
	return f.made, nil
}

// cancelledNoun returns the noun for an event that a statement says is cancelled, the terms of the words before it, and the clause.
func (s *statement) cancelledNoun() (noun string, beside map[string]bool, clause string) {
	all := s.parse()
	for i := range all {
		c := &all[i]
		cancelled := c.do().cue == "cancelled"
		if !cancelled && (!settled[c.Mode] || c.About == extract.AboutOther) {
			continue
		}
		text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
		for _, r := range []*lazyregexp.Regexp{isOff, calledOff} {
			if r == isOff && !cancelled {
				continue
			}
			if m := r.FindStringSubmatch(text); m != nil && groupOf(strings.ToLower(m[2])) >= 0 {
				return strings.ToLower(m[2]), termsOf(m[1]), c.Text
			}
		}
	}
	return "", nil, ""
}

func namesAll(terms, in map[string]bool) bool {
	for t := range terms {
		if !in[t] {
			return false
		}
	}
	return true
}

// plansOf returns the indexes of the plans that a group of nouns fits. vs are the vectors of the nouns, the ordinary statements and the plans.
func plansOf(vs [][]float32, group int) (fit []int) {
	var best [][]float64 // by group and plan
	nouns := 0
	for _, g := range eventNouns {
		nouns += len(g)
	}
	usual, plans := vs[nouns:nouns+len(ordinary)], vs[nouns+len(ordinary):]
	at := 0
	for _, g := range eventNouns {
		row := make([]float64, len(plans))
		for i := range row {
			row[i] = math.Inf(-1)
		}
		for range g {
			mean, spread := about(vs[at], usual)
			for i, p := range plans {
				row[i] = max(row[i], (dot(vs[at], p)-mean)/(spread+evenSpread))
			}
			at++
		}
		best = append(best, row)
	}
	for p := range plans {
		top := math.Inf(-1)
		for _, row := range best {
			top = max(top, row[p])
		}
		if z := best[group][p]; z >= fitting && z >= top-contest {
			fit = append(fit, p)
		}
	}
	return fit
}

// about returns the mean and the standard deviation of a vector's inner products with others.
func about(v []float32, others [][]float32) (mean, spread float64) {
	square := 0.0
	for _, o := range others {
		d := dot(v, o)
		mean += d / float64(len(others))
		square += d * d / float64(len(others))
	}
	return mean, math.Sqrt(max(0, square-mean*mean))
}
