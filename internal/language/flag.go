package language

// Flag says what a word can be. A word can have several flags.
type Flag uint64

// The flags. Num is Word.Num.
const (
	FunctionWord  Flag = 1 << iota // function word: never a name alone, never begins one at a sentence start
	Starter                        // often begins a sentence with a capital without being a name
	NameConnector                  // may stand inside a name in lower case
	GivenName                      // given name
	PlaceName                      // country, state or city
	Demonym                        // nationality or language
	Month                          // English month, Num is 1 to 12
	ForeignMonth                   // month in another language, Num is 1 to 12
	Weekday                        // Num is 0 to 6, Sunday is 0
	Season                         // Num is the first month
	PersonTitle                    // Dr, Mrs, President
	Abbreviation                   // a dot after it does not end a sentence
	OrgWord                        // a name with this word is an organisation
	LocWord                        // ... a location
	EventWord                      // ... an event
	ProjectWord                    // ... a project
	ProductWord                    // is a product, programming language or platform
	Unit                           // unit of a quantity
	TimeUnit                       // day, week, month, year; Num is days
	ClockWord                      // am, pm, h
	OrdinalEnding                  // st, nd, rd, th
	Scale                          // million, k
	Currency                       // dollars, EUR
	NumberWord                     // number word, Num is the value
	FirstPerson                    // I, me
	FirstPlural                    // we, us
	SecondPerson                   // you
	Masculine                      // he, him
	Feminine                       // she, her
	Neuter                         // it
	ThirdPlural                    // they, them
	Possessive                     // my, her, their: the pronoun flag says whose
	FormOfBe                       // am, is, was
	FormOfHave                     // have, had
	FormOfDo                       // do, did
	Modal                          // will, can
	Future                         // will, 'll, gonna
	Hypothetical                   // would, could, if, maybe: what follows is not stated as true
	Negation                       // not, never, n't
	Retraction                     // "no longer", "anymore"
	Adverb                         // may stand between subject and verb
	Determiner                     // a, the, this
	Preposition                    // of, in
	Conjunction                    // and, because
	WhWord                         // what, when
	DayWord                        // today, yesterday; Num is the offset in days
	Temporal                       // last, next, ago, since, during
	DatePart                       // early, first, end: what follows is a part of a period
	DateLead                       // a, few, in, last, this: a relative date may begin with it
	KinNoun                        // wife, boss, friend
	Occupation                     // engineer, founder
	Adjective                      // common adjective
	German                         // function word of German
	English                        // function word of English
	ForeignWord                    // function word of another language
	Spanish                        // function word of Spanish
	French                         // function word of French
	Portuguese                     // function word of Portuguese
	Italian                        // function word of Italian
	Affirmative                    // yes, right
	Dissent                        // no, wrong
)

// tableFlags are the flags of languages with tables.
const tableFlags = German | Spanish | French | Portuguese | Italian

// flagNames are the names of the flags in the tables.
var flagNames = map[string]Flag{
	"stop":          FunctionWord,
	"starter":       Starter,
	"connector":     NameConnector,
	"given-name":    GivenName,
	"place":         PlaceName,
	"demonym":       Demonym,
	"month":         Month,
	"foreign-month": ForeignMonth,
	"weekday":       Weekday,
	"season":        Season,
	"title":         PersonTitle,
	"abbreviation":  Abbreviation,
	"organization":  OrgWord,
	"location":      LocWord,
	"event":         EventWord,
	"project":       ProjectWord,
	"product":       ProductWord,
	"unit":          Unit,
	"time-unit":     TimeUnit,
	"clock":         ClockWord,
	"ordinal":       OrdinalEnding,
	"scale":         Scale,
	"currency":      Currency,
	"number":        NumberWord,
	"i":             FirstPerson,
	"we":            FirstPlural,
	"you":           SecondPerson,
	"he":            Masculine,
	"she":           Feminine,
	"it":            Neuter,
	"they":          ThirdPlural,
	"possessive":    Possessive,
	"be":            FormOfBe,
	"have":          FormOfHave,
	"do":            FormOfDo,
	"modal":         Modal,
	"future":        Future,
	"hypothetical":  Hypothetical,
	"negation":      Negation,
	"retraction":    Retraction,
	"adverb":        Adverb,
	"determiner":    Determiner,
	"preposition":   Preposition,
	"conjunction":   Conjunction,
	"wh":            WhWord,
	"day-word":      DayWord,
	"temporal":      Temporal,
	"date-part":     DatePart,
	"date-lead":     DateLead,
	"kin":           KinNoun,
	"role":          Occupation,
	"adjective":     Adjective,
	"german":        German,
	"english":       English,
	"foreign":       ForeignWord,
	"spanish":       Spanish,
	"french":        French,
	"portuguese":    Portuguese,
	"italian":       Italian,
	"yes":           Affirmative,
	"no":            Dissent,
}
