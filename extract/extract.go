// Package extract defines the input and output of knowledge extraction: plain data that is the same for every extractor.
//
// An [Extractor] reads whole items (a document with its chunk bounds, or a memory). For each item it returns the mentions of entities,
// the relations between them, the facts that the item states about its speaker, and the dates that it names. Package extract/rules
// does this without a model, package extract/llm with a chat endpoint.
package extract

import (
	"context"
	"time"
)

// Mode says how a clause is meant: whether its writer states it as true of the world, and for which time.
type Mode string

// Modes of clauses and statements. A clause that is asserted, negated, past, ended, planned, wished, corrected or cancelled says
// something about its subject. The other modes give no reason to believe the clause.
const (
	ModeAsserted     Mode = "asserted"     // holds now, or is told as an event
	ModeNegated      Mode = "negated"      // does not hold
	ModePast         Mode = "past"         // held or happened before
	ModeEnded        Mode = "ended"        // held until now: "no longer", "I quit"
	ModePlan         Mode = "plan"         // will hold or happen
	ModeWish         Mode = "wish"         // is wanted
	ModeCorrected    Mode = "corrected"    // replaces an earlier wrong statement: "actually it's Aegon"
	ModeCancelled    Mode = "cancelled"    // will not happen after all: "the trip is off", "forget what I said about the car"
	ModeInstruction  Mode = "instruction"  // tells the reader what to do
	ModeQuestion     Mode = "question"     // asks
	ModeHypothetical Mode = "hypothetical" // is a condition, a guess or a possibility
	ModeQuote        Mode = "quote"        // somebody else's words or belief, or a text that is only shown
	ModeFiction      Mode = "fiction"      // a story, a role, a dream, an example
	ModeJoke         Mode = "joke"         // is not meant seriously
)

// Believable reports whether a clause of mode m says something about its subject. The zero Mode is believable.
func (m Mode) Believable() bool {
	switch m {
	case ModeInstruction, ModeQuestion, ModeHypothetical, ModeQuote, ModeFiction, ModeJoke:
		return false
	}
	return true
}

// About says whom or what a clause is about.
type About string

// The subjects of clauses.
const (
	AboutSpeaker   About = "speaker"   // the person who says it
	AboutOther     About = "other"     // another person
	AboutAssistant About = "assistant" // the assistant to whom it is said
	AboutWorld     About = "world"     // anything else
)

// Clause is a part of a text with its own verb.
type Clause struct {
	// Text is the text at the bytes [Start, End).
	Text       string
	Start, End int
	Mode       Mode
	About      About
	// Who is the person whose words or belief a clause of ModeQuote is, or the subject of another clause, as the text names them ("my
	// boss"). It is empty when the text names nobody.
	Who string
}

// Extractor turns items into mentions, relations, facts and dates.
//
// Extract returns exactly one Output per Input, in the same order, or an error and no outputs. An item with nothing
// to extract has an empty Output. Implementations are safe for concurrent use, do not keep or change the inputs, and
// return ctx.Err() (possibly wrapped) when ctx ends first. Name is stable and names the method and its version; it
// is stored with what was extracted.
type Extractor interface {
	// Extract returns one Output for each Input, in order.
	Extract(ctx context.Context, in []Input) ([]Output, error)
	// Name names the method and its version.
	Name() string
}

// Limited is an optional interface of an [Extractor] that reads at most the first MaxBytes bytes, at least 1, of an item's Text. A
// caller may then leave out the rest.
type Limited interface{ MaxBytes() int }

// Input is one item to read. The zero value of each field is a valid choice.
type Input struct {
	// Text is the body, UTF-8. Invalid bytes are tolerated and never become part of a mention.
	Text string
	// Title is the title of the document; empty for memories without one.
	Title string
	// Time is the source's timestamp, against which relative dates are resolved; zero when unknown.
	Time time.Time
	// Location is where the text was said: "yesterday" is the day before Time on a clock there. Nil means the location of Time.
	Location *time.Location
	// Speaker is the person whom "I" means in a memory (user_name in the API). Empty means "User" where a name is needed.
	Speaker string
	// Chunks are the bounds of the chunks in Text, by ascending Start; empty means one chunk that is the whole text.
	Chunks []Span
	// Memory says that Text was said or noted by Speaker, so that first-person sentences are about Speaker.
	Memory bool
	// Infer asks for Facts.
	Infer bool
	// Instructions is free-text guidance for inference (custom_instructions in the API); it is used only with Infer. The documentation
	// of package extract/rules says which instructions the rules understand. A model gets the text unchanged.
	Instructions string
	// Pairs says that Text consists of turns that begin with "user:" and "assistant:" at the start of a line.
	Pairs bool
	// Turns are the messages of a conversation, by ascending Start, if known. They override the labels in Text.
	Turns []Turn
}

// Turn is one message of a conversation.
type Turn struct {
	// Span is the place of the message in Text. Text between two messages, such as a label, has no speaker.
	Span
	// User reports whether a user speaks. Only statements of users become facts, not those of an assistant or a tool.
	User bool
	// Name is the name of the speaker; empty means Input.Speaker for a user.
	Name string
	// Time is when the message was said; zero means Input.Time.
	Time time.Time
}

// Span is a half-open range [Start, End) of byte offsets.
type Span struct{ Start, End int }

// Output holds what was extracted from one item, in the order of the text. With rules, equal inputs give equal outputs.
type Output struct {
	Mentions  []Mention
	Relations []Relation
	Facts     []Fact
	Dates     []DateRef
	Aliases   []Alias
	// Unheeded are the parts of Input.Instructions that the extractor does not understand and so did not follow: at most 8 parts of at
	// most 200 bytes each. It is nil when all were followed, and without Infer.
	Unheeded []string
	// Usage is the use of a model for this item; nil when no model was used.
	Usage *Usage
}

// Usage is the model cost of one item.
type Usage struct {
	// Model is the model that was asked.
	Model string
	// PromptTokens and CompletionTokens are this item's share of the tokens that the endpoint reported for its batch.
	PromptTokens, CompletionTokens int
	// Calls counts the requests that this item took part in, retries included.
	Calls int
	// Fallback is the reason why the output comes from the fallback extractor (one lower-case word such as "timeout"); empty when the
	// model's answer was used.
	Fallback string
}

// Entity types. Extractors use these where they fit; other upper-case words are allowed.
const (
	TypePerson       = "PERSON"
	TypeOrganization = "ORGANIZATION"
	TypeLocation     = "LOCATION"
	TypeProduct      = "PRODUCT"
	TypeProject      = "PROJECT"
	TypeEvent        = "EVENT"
	TypeDate         = "DATE"
	TypeQuantity     = "QUANTITY"
	TypeMoney        = "MONEY"
	TypeIdentifier   = "IDENTIFIER"
	TypeErrorCode    = "ERROR_CODE"
	TypeURL          = "URL"
	TypeEmail        = "EMAIL"
	TypeHandle       = "HANDLE"
	TypeConcept      = "CONCEPT"
)

// Weights of mentions, as shares of a passage's links in the entity graph.
const (
	WeightTitle     = 3 // the title without its bracketed part
	WeightTitlePart = 2 // "X" of a title "X, Y"
	WeightText      = 1 // a mention in the body
)

// TitleChunk is the Chunk of a mention in the title, which applies to every chunk.
const TitleChunk = -1

// Mention is an entity named in a chunk. There is one mention, the first, for each chunk and Key.
type Mention struct {
	// Name is the surface form; for a resolved date or an implicit speaker it is the readable name instead.
	Name string
	// Key is the normal form, see [Key]; dates have their ISO form ("2023-05-08", "2023-05", "2023").
	Key string
	// Type is one of the Type constants, or another upper-case word.
	Type string
	// Weight is WeightTitle, WeightTitlePart or WeightText.
	Weight float32
	// Chunk is an index into Input.Chunks (0 when there are none), or TitleChunk.
	Chunk int
	// Start and End are byte offsets into Text, or into Title when Chunk is TitleChunk. They enclose the words that the mention was
	// found by: for an implicit speaker, the pronoun.
	Start, End int
	// Weak marks a single capitalised word at the start of a sentence. The caller should drop it if the collection has the word in
	// lower case more than twice. (The words of the item itself are already counted.)
	Weak bool
	// Part marks a part of a longer mention ("Göttingen" in "University of Göttingen"). It is useful for finding passages, but is not
	// an entity of its own.
	Part bool
	// Phrase marks a lower-case noun phrase ("green tea") that is mentioned because it is an end of a relation. It is a node of the
	// graph, but common words make poor links between passages.
	Phrase bool
}

// Relation is one statement that links two entities of the item.
type Relation struct {
	// Source and Target are Keys of mentions of the same output.
	Source, Target string
	// Predicate is the canonical lower_snake form, Raw the words of the text.
	Predicate, Raw string
	// Context is the sentence, at most 2000 bytes.
	Context string
	// Confidence is the extractor's confidence, in [0,1].
	Confidence float32
	// Temporal holds the sentence's temporal words, empty for none.
	Temporal string
	// ValidFrom and ValidTo bound the time in which the statement is true in the world; zero means open or unknown.
	ValidFrom, ValidTo time.Time
	// Precision is PrecisionDay, PrecisionMonth or PrecisionYear when a bound is set.
	Precision string
	// Chunk is the index of the chunk in which the sentence begins.
	Chunk int
	// Negated reports whether the text denies the statement, or says that it no longer holds.
	Negated bool
	// Functional, Retracts and Asserted are as in [Fact]. A relation with Retracts also has Negated.
	Functional, Retracts bool
	Asserted             time.Time
	// Mode is how the statement is meant; empty is ModeAsserted.
	Mode Mode
}

// Alias says that two names in an item mean the same entity.
type Alias struct {
	// Name and Of are Keys. Of, the fuller name, is a mention of the same output; so is Name, unless Likely.
	Name, Of string
	// Likely reports whether the alias is only inferred: Name is the first name of the only person of the item who has it.
	Likely bool
	// Context is the sentence that states it, at most 2000 bytes; empty when Likely.
	Context string
}

// Precisions of dates.
const (
	PrecisionDay   = "day"
	PrecisionMonth = "month"
	PrecisionYear  = "year"
)

// Kinds of facts.
const (
	KindPreference   = "preference"
	KindFact         = "fact"
	KindEvent        = "event"
	KindEntity       = "entity"
	KindGoal         = "goal"
	KindRelationship = "relationship"
)

// Fact is one statement about the speaker (or someone close to them) that is understandable on its own.
type Fact struct {
	Subject, Predicate, Object string
	// Kind is one of the Kind constants.
	Kind string
	// Text is a sentence in the third person, such as "Alex prefers tea to coffee."
	Text string
	// Confidence is the extractor's confidence, in [0,1].
	Confidence float32
	// Time is when the fact was said (Input.Time). ValidFrom and ValidTo bound the time in which it is true; zero means open or
	// unknown.
	Time, ValidFrom, ValidTo time.Time
	// Precision is PrecisionDay, PrecisionMonth or PrecisionYear when a bound is set.
	Precision string
	// Evidence is the sentence that states the fact, at most 2000 bytes; Start and End are its byte offsets in Text.
	Evidence   string
	Start, End int
	// Functional reports whether a later fact of the same Subject and Predicate supersedes this one (lives_in, works_at).
	Functional bool
	// Asserted is the time that the fact is about, if that lies before Time, as in "in 2015 I moved to Oslo". An earlier statement
	// about a later time then counts as the newer fact. Zero means Time.
	Asserted time.Time
	// Retracts reports whether the fact ends an older one of the same Subject, Predicate and Object ("no longer").
	Retracts bool
	// Negated reports whether the fact denies something ("Alex does not eat meat."); Predicate then begins with NotPrefix.
	Negated bool
	// Mode is how the fact is meant; empty means ModeAsserted. A plan is not Functional; ValidFrom is its start if the text names one.
	Mode Mode
}

// DateRef is a date or period named in a text.
type DateRef struct {
	// Surface is the words of the text at [Start, End).
	Surface string
	// From and To bound the period, From inclusive and To exclusive, in UTC at midnight.
	From, To time.Time
	// Precision is PrecisionDay, PrecisionMonth or PrecisionYear; weeks and weekends count as days.
	Precision string
	// Relative reports whether the date was resolved against Input.Time ("yesterday").
	Relative   bool
	Start, End int
}

// NotPrefix begins the predicate of a fact that denies something, as in "not_eats".
const NotPrefix = "not_"

// MaxContext is the maximum length of Relation.Context and Fact.Evidence in bytes. The API has the same limit for a relation's
// context.
const MaxContext = 2000
