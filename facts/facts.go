// Package facts holds what is asked of what a sub-tenant knows, and the answers: facts, entities, what is known of somebody by slot, and standing
// instructions.
package facts

import (
	"time"

	"github.com/contextmem/contextmem/content"
)

// Status says whether a fact holds.
type Status string

// States of facts.
const (
	Current    Status = "current"
	Past       Status = "past"       // it ended when it says
	Upcoming   Status = "upcoming"   // it begins ahead
	Superseded Status = "superseded" // a later statement took its place
	Ending     Status = "ending"     // it says that something holds no longer; in histories only
)

// Cardinality says how many values of a slot hold at once.
type Cardinality string

// Cardinalities of slots.
const (
	One     Cardinality = "one"     // a home, an employer
	Many    Cardinality = "many"    // languages, allergies
	History Cardinality = "history" // events, decisions: each stays true
)

// Slot is a matter about which somebody has facts, such as a home or a diet.
type Slot struct {
	Name string // lower case, words joined by _
	Card Cardinality
	// Predicates are those of its facts, such as "lives_in"; one that ends in * stands for all that begin so.
	Predicates []string
	// Inverse are predicates of facts whose object is the one in question: "Rex is the pet of Anna".
	Inverse []string
	// Objects are words of objects that make a fact with a general predicate ("has", "owns", "wants") one of the slot.
	Objects []string
	// Asks are phrases of questions about it, in lower case.
	Asks []string
}

// Request asks for facts. The zero value is all that is believed now.
type Request struct {
	Class     content.Class // default content.ClassMemory
	Subject   string        // name of an entity, in any case; empty: anybody
	Predicate string        // canonical, such as "lives_in"; empty: any
	Slot      string        // name of a slot; empty: any
	// Question chooses the slot that it asks about, where Slot is empty; a question that asks about none chooses nothing. At most 8000 characters.
	Question string
	AsOf     time.Time // as it held then; zero: now
	KnownAt  time.Time // by what was known then; zero: now
	Upcoming bool      // only what begins after AsOf, or after now
	History  bool      // what holds no longer too, and what says so
	Limit    int       // facts of a page, 1 to 1000; default 100
	Cursor   int64     // Page.Next of the page before; 0: the start
	// Principals are who asks: only what they may see counts, and only that retires or replaces something; nil: everything.
	Principals []string
}

// Fact is a statement about a subject, with its evidence.
type Fact struct {
	ID, Subject, Predicate, Object string
	Slot                           string  // empty: none is known
	SlotConfidence                 float64 // 0 to 1
	Kind                           string  // preference, fact, event, goal, relationship, entity, or relation
	Text                           string  // a sentence in the third person; empty where the source has none of its own
	Status                         Status
	Confidence                     float64   // 0 to 1
	Since, Until                   time.Time // when it is true in the world; zero: open or unknown
	Precision                      string    // of Since and Until: day, month, year
	Learnt                         time.Time // when it was said
	Retired                        time.Time // when it was taken back; zero: it was not
	SupersededBy                   string    // id of the fact that took its place; empty: none
	Restored                       time.Time // when RestoreFact let it hold again; zero: it did not, or RetireFact took that back
	Evidence                       string    // the sentence of the source
	SourceID, ChunkID              string
}

// Page is a page of facts, in the order in which they were stored; upcoming ones by when they begin.
type Page struct {
	Facts []Fact
	Slot  string // that was asked for, by name or by question
	// Statements are messages of the subject about the slot of which Facts has none, newest first: an embedder that learnt slots of statements knows them in languages that rules do
	// not read. At most Request.Limit, on the first page alone. None without a subject and a slot, nor where a predicate, KnownAt, Upcoming or History is asked for.
	Statements []Statement
	// Next is the cursor of the next page, 0 for none. A page may hold less than was asked for although others follow.
	Next int64
}

// EntityRequest asks for entities by name.
type EntityRequest struct {
	Class      content.Class // default content.ClassMemory
	Principals []string      // only entities that sources mention which one of these may read, under the names and types that those have for them; empty: no access control
	Prefix     string        // of the name, in any case; empty: all
	Type       string        // PERSON, ORGANIZATION, ...; empty: any
	Limit      int           // 1 to 1000; default 100
	Cursor     string        // EntityPage.Next of the page before; empty: the start
}

// Entity is a node of the graph.
type Entity struct {
	ID         string
	Name       string
	Type       string // PERSON, ORGANIZATION, LOCATION, ...
	Namespace  string // default "default"
	Identifier string
	Provider   string
	Mentions   int // in texts; only in an EntityPage
}

// EntityPage is a page of entities, by name.
type EntityPage struct {
	Entities []Entity
	Next     string // cursor of the next page; empty: none
}

// Instruction is what a user wants the assistant to do from now on, whatever it is asked.
type Instruction struct {
	Text     string // a sentence in the third person
	Order    string // what is wanted, as the user said it
	Matter   string // what it is about, such as format or language; empty: nothing that is known. Of two about one matter the later counts.
	Since    time.Time
	SourceID string
}

// ProfileRequest asks for what is known of somebody.
type ProfileRequest struct {
	Class     content.Class // default content.ClassMemory
	Subject   string        // default "User", which is who speaks in memories that name nobody
	AsOf      time.Time     // as it held then; zero: now
	Slots     []string      // only these; nil: all
	PerSlot   int           // facts of a slot, and statements, 1 to 100 each; default 10
	MaxTokens int           // of Summary, 1 to 8000; default 300
	// Principals are who asks: only what they may see counts, and only that retires or replaces something; nil: everything.
	Principals []string
}

// Profile is what holds of somebody, by slot.
type Profile struct {
	Subject      string
	Slots        []SlotFacts   // those with facts or statements, in the order of the taxonomy
	Other        []Fact        // of no slot, newest first; none where slots were asked for
	Instructions []Instruction // newest first
	Summary      string        // what the sources say, one statement a line, the slots in order, then what is of none, with since when; or what the Summarizer wrote of that
	SummaryBy    string        // who wrote it: BySources, or the name of the Summarizer's model
	Tokens       int           // of Summary, estimated
	Truncated    bool          // there is more than was read or shown
}

// SlotFacts is what is known of a slot, newest first.
type SlotFacts struct {
	Slot  string
	Card  Cardinality
	Facts []Fact
	// Statements are messages about the slot of which Facts has none: an embedder that learnt slots of statements knows them in languages that rules do not read. At most PerSlot.
	Statements []Statement
}

// Statement is what somebody told about a slot, in their own words.
type Statement struct {
	Text              string    // of the message
	Confidence        float64   // that it is about the slot, 0 to 1
	Learnt            time.Time // when it was said; zero: not known
	SourceID, ChunkID string
}
