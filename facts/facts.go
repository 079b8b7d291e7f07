// Package facts has the requests and results for the structured knowledge of a sub-tenant: facts, entities, profiles by slot, and standing
// instructions.
package facts

import (
	"time"

	"github.com/contextmem/contextmem/content"
)

// Status says whether a fact is true now.
type Status string

// States of facts.
const (
	Current    Status = "current"
	Past       Status = "past"       // its stated end has passed
	Upcoming   Status = "upcoming"   // it begins in the future
	Superseded Status = "superseded" // a later statement took its place
	Ending     Status = "ending"     // it states that another fact has ended; only in histories
)

// Cardinality says how many values of a slot can be true at the same time.
type Cardinality string

// Cardinalities of slots.
const (
	One     Cardinality = "one"     // a home, an employer
	Many    Cardinality = "many"    // languages, allergies
	History Cardinality = "history" // events, decisions: each stays true
)

// Slot is a topic of facts about a subject, such as home or diet.
type Slot struct {
	Name string // lower case, words joined by _
	Card Cardinality
	// Predicates lists the predicates of the slot's facts, such as "lives_in". One that ends in * matches every predicate with this prefix.
	Predicates []string
	// Inverse are predicates of facts whose object is the one in question: "Rex is the pet of Anna".
	Inverse []string
	// Objects are words of objects that make a fact with a general predicate ("has", "owns", "wants") one of the slot.
	Objects []string
	// Asks are phrases of questions about it, in lower case.
	Asks []string
}

// Request asks for facts. The zero value asks for all current facts.
type Request struct {
	Class     content.Class // default content.ClassMemory
	Subject   string        // name of an entity, in any case; empty: anybody
	Predicate string        // canonical, such as "lives_in"; empty: any
	Slot      string        // name of a slot; empty: any
	// Question chooses the slot that it asks about, where Slot is empty; a question that asks about none chooses nothing. At most 8000 characters.
	Question string
	AsOf     time.Time // facts as they were at this time; zero: now
	KnownAt  time.Time // as known at this time; zero: now
	Upcoming bool      // only what begins after AsOf, or after now
	History  bool      // include facts that are no longer true, and facts that state an end
	Limit    int       // facts of a page, 1 to 1000; default 100
	Cursor   int64     // Page.Next of the page before; 0: the start
	// Principals identify the caller: only sources that one of them may see are used, also for what retires or supersedes a fact; nil: all sources.
	Principals []string
}

// Fact is a statement about a subject, with its evidence.
type Fact struct {
	ID, Subject, Predicate, Object string
	Slot                           string  // empty: the fact has no slot
	SlotConfidence                 float64 // 0 to 1
	Kind                           string  // preference, fact, event, goal, relationship, entity, or relation
	Text                           string  // a sentence in the third person; empty if there is none
	Status                         Status
	Confidence                     float64   // 0 to 1
	Since, Until                   time.Time // when it is true in the world; zero: open or unknown
	Precision                      string    // of Since and Until: day, month, year
	Learnt                         time.Time // when it was said
	ToldLater                      bool      // it was said after the AsOf of the request. Without a Since it may not have been true then.
	Retired                        time.Time // when it was taken back; zero: it was not
	SupersededBy                   string    // id of the fact that took its place; empty: none
	Restored                       time.Time // time of RestoreFact; zero: it was not restored, or RetireFact has undone that
	Evidence                       string    // the sentence of the source
	SourceID, ChunkID              string
	// Also has the other places that state the same fact, in these or other words, newest first: "I live in Oslo" and "My home is in Oslo now" are one
	// fact. It is set in a Profile, and within a Page without History. Two statements of a repeated event are two facts, unless their dates are
	// equal or they are at most 36 hours apart.
	Also []Occurrence
}

// Occurrence is a place that states a fact.
type Occurrence struct {
	ID                string // id of the fact in that place
	Evidence          string // the sentence of the source
	Learnt            time.Time
	SourceID, ChunkID string
}

// Page is a page of facts, in the order in which they were stored; upcoming ones by when they begin.
type Page struct {
	Facts []Fact
	Slot  string // the slot that the request named, or that its question asks about
	// Statements are messages of the subject about the slot from which no fact of Facts was extracted, newest first. An embedder that recognises the slots of statements finds them, also in
	// languages that the rules do not read. There are at most Request.Limit, only on the first page. There are none without a subject and a slot, or with a predicate, KnownAt, Upcoming or History.
	Statements []Statement
	// Next is the cursor of the next page, 0 for none. A page may have fewer facts than Request.Limit although more pages follow.
	Next     int64
	Warnings []content.Warning // what the page lacks: rows that are damaged (code "damaged")
}

// EntityRequest asks for entities by name.
type EntityRequest struct {
	Class      content.Class // default content.ClassMemory
	Principals []string      // only entities in sources that one of these may see, with the names and types that these sources give them; empty: no access control
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
	Next     string            // cursor of the next page; empty: none
	Warnings []content.Warning // what the page lacks: rows that are damaged (code "damaged")
}

// Instruction is a standing instruction of a user to the assistant.
type Instruction struct {
	Text     string // a sentence in the third person
	Order    string // the instruction in the user's words
	Matter   string // its subject matter, such as format or language; empty: unknown. Of two with the same matter only the later counts.
	Since    time.Time
	SourceID string
}

// ProfileRequest is a request for the profile of a subject.
type ProfileRequest struct {
	Class     content.Class // default content.ClassMemory
	Subject   string        // default: the speaker (UserName) of most of the newest 50 memories, "User" if they name none
	AsOf      time.Time     // facts as they were at this time; zero: now
	Slots     []string      // only these; nil: all
	PerSlot   int           // facts of a slot, and statements, 1 to 100 each; default 10
	MaxTokens int           // of Summary, 1 to 8000; default 300
	// Principals identify the caller: only sources that one of them may see are used, also for what retires or supersedes a fact; nil: all sources.
	Principals []string
}

// Profile is the current facts about a subject, by slot.
type Profile struct {
	Subject      string
	Slots        []SlotFacts       // those with facts or statements, in the order of the taxonomy
	Other        []Fact            // facts without a slot, newest first; none if the request named slots
	Instructions []Instruction     // newest first
	Summary      string            // one statement of the sources per line with its time, by slot and then those without a slot; or the text of the Summarizer
	SummaryBy    string            // author of Summary: BySources, or the name of the Summarizer's model
	Tokens       int               // of Summary, estimated
	Truncated    bool              // there are more facts than were read or returned
	Warnings     []content.Warning // what the profile lacks: rows that are damaged (code "damaged")
}

// SlotFacts holds the facts and statements of a slot, newest first.
type SlotFacts struct {
	Slot  string
	Card  Cardinality
	Facts []Fact
	// Statements are messages about the slot from which no fact of Facts was extracted, at most PerSlot. An embedder that recognises the slots of
	// statements finds them, also in languages that the rules do not read.
	Statements []Statement
}

// Statement is a message about a slot, in the words of its speaker.
type Statement struct {
	Text              string    // of the message
	Confidence        float64   // probability that it is about the slot
	Learnt            time.Time // when it was said; zero: not known
	SourceID, ChunkID string
}
