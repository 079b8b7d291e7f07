// Package prose generates chat turns and abstracts from a grammar. There is no limit to their number. The same index gives the same text.
package prose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Words of the grammar.
var (
	things = strings.Fields(`kettle ladder lantern mirror carpet camera bicycle tractor violin telescope keyboard printer basket hammer blanket passport
ticket contract invoice budget report recipe garden harbour bridge window engine battery candle curtain pillow bottle notebook umbrella jacket helmet
compass anchor sail tent kayak piano guitar painting statue vase fountain orchard vineyard greenhouse workshop garage attic cellar balcony staircase
chimney fence gate lawn hedge pond meadow tunnel crane warehouse turbine pump valve sensor antenna router server database archive ledger catalogue`)
	acts = strings.Fields(`bought sold moved painted repaired borrowed returned promised ordered cancelled finished started visited cleaned measured
replaced inspected insured photographed packed unpacked donated restored designed assembled tested shipped lost found hid wrapped`)
	feelings = strings.Fields(`happy tired proud worried curious calm nervous grateful bored excited surprised relieved annoyed hopeful lonely busy`)
	kin      = strings.Fields(`brother sister mother father cousin uncle aunt neighbour colleague manager teacher doctor dentist lawyer plumber baker`)
	topics   = strings.Fields(`erosion migration nutrition combustion insulation irrigation navigation vaccination inflation translation fermentation
hydration pollination corrosion turbulence lubrication sedimentation photosynthesis refrigeration tomography cartography acoustics`)
	methods  = strings.Fields(`survey simulation trial model sensor census interview regression spectrometer pendulum network kernel filter estimator`)
	measures = strings.Fields(`pressure density yield latency accuracy mortality rainfall conductivity salinity velocity biomass voltage demand`)
	places   = strings.Fields(`coast valley plateau delta island forest desert suburb basin glacier harbour highland`)
	foods    = strings.Fields(`bread cheese tomato potato onion garlic lemon orange apple cherry walnut honey lentil barley spinach mushroom salmon`)
	times    = strings.Split("yesterday|last week|this morning|on Monday|on Friday|two days ago|in March|in October|last summer|at noon|before breakfast|late at night", "|")
	heads    = strings.Fields(`ba be bo da de do fa fe ga go ha he ja jo ka ke ko la le lo ma me mi na no pa pe ra re ro sa se so ta te to va ve wa za`)
	tails    = strings.Fields(`bert dan der din dor fin gar han kan las len lin lo mar men mir na nel ner nia nik ra ran ris ros sa son ta tan tor va vik`)
)

// maker generates one text.
type maker struct{ *rand.Rand }

// of picks a word. Earlier words are likelier, similar to word frequencies of natural languages.
func (m maker) of(words []string) string {
	return words[int(float64(len(words))*math.Pow(m.Float64(), 1.6))]
}

// Name returns the name of person or place i.
func Name(i int) string {
	head, mid, tail := i%len(heads), i/len(heads)%len(heads), i/len(heads)/len(heads)%len(tails)
	return strings.ToUpper(heads[head][:1]) + heads[head][1:] + heads[mid] + tails[tail]
}

// names is the number of persons and places. Few of them occur in many texts, most of them in few.
const names = 30_000

func (m maker) name() string { return Name(int(float64(names) * math.Pow(m.Float64(), 3))) }

// Session is the number of turns in a chat.
const Session = 40

// Turn returns turn i, counted over all chats, of one to three sentences. All turns of a chat have the same speaker.
func Turn(i int) string {
	m := maker{rand.New(rand.NewPCG(uint64(i), 17))}
	var b strings.Builder
	for k := range 1 + m.IntN(3) {
		if k > 0 {
			b.WriteByte(' ')
		}
		switch m.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "%s %s the %s in %s %s.", m.name(), m.of(acts), m.of(things), m.name(), m.of(times))
		case 1:
			fmt.Fprintf(&b, "I %s a %s for %d euros because my %s needed it.", m.of(acts), m.of(things), 5+m.IntN(900), m.of(kin))
		case 2:
			fmt.Fprintf(&b, "Did %s tell you about the %s near the %s?", m.name(), m.of(things), m.of(places))
		case 3:
			fmt.Fprintf(&b, "My %s %s lives in %s and likes %s with %s.", m.of(kin), m.name(), m.name(), m.of(foods), m.of(foods))
		case 4:
			fmt.Fprintf(&b, "I felt %s when the %s was %s %s.", m.of(feelings), m.of(things), m.of(acts), m.of(times))
		case 5:
			fmt.Fprintf(&b, "We agreed to meet %s at the %s, and %s brings %s.", m.of(times), m.of(places), m.name(), m.of(foods))
		case 6:
			fmt.Fprintf(&b, "The number of the %s is %s-%04d, please keep it.", m.of(things), strings.ToUpper(m.of(heads)), m.IntN(10_000))
		default:
			fmt.Fprintf(&b, "%s works on %s with %s since %d.", m.name(), m.of(topics), m.name(), 1990+m.IntN(36))
		}
	}
	return b.String()
}

// Abstract returns abstract i, of four to seven sentences.
func Abstract(i int) string {
	m := maker{rand.New(rand.NewPCG(uint64(i), 18))}
	topic, place := m.of(topics), m.of(places)
	var b strings.Builder
	fmt.Fprintf(&b, "We study %s on the %s of %s.", topic, place, m.name())
	for range 2 + m.IntN(4) {
		switch m.IntN(5) {
		case 0:
			fmt.Fprintf(&b, " A %s with %d samples shows that %s rises with %s.", m.of(methods), 20+m.IntN(5000), m.of(measures), m.of(measures))
		case 1:
			fmt.Fprintf(&b, " The method of %s and %s is compared with a %s.", m.name(), m.name(), m.of(methods))
		case 2:
			fmt.Fprintf(&b, " In the %s near %s the %s fell by %d percent %s.", m.of(places), m.name(), m.of(measures), 1+m.IntN(80), m.of(times))
		case 3:
			fmt.Fprintf(&b, " Earlier work on %s neglected %s, which a %s can correct.", m.of(topics), m.of(measures), m.of(methods))
		default:
			fmt.Fprintf(&b, " Each %s was fitted to the %s of a %s and a %s.", m.of(methods), m.of(measures), m.of(things), m.of(things))
		}
	}
	fmt.Fprintf(&b, " The results help whoever plans %s in a %s.", topic, m.of(places))
	return b.String()
}

// Question returns question i, about a subject that turns may mention.
func Question(i int) string {
	m := maker{rand.New(rand.NewPCG(uint64(i), 19))}
	switch m.IntN(4) {
	case 0:
		return fmt.Sprintf("Who %s the %s in %s?", m.of(acts), m.of(things), m.name())
	case 1:
		return fmt.Sprintf("What does %s like with %s?", m.name(), m.of(foods))
	case 2:
		return fmt.Sprintf("How much was the %s that my %s needed?", m.of(things), m.of(kin))
	}
	return fmt.Sprintf("Since when does %s work on %s?", m.name(), m.of(topics))
}
