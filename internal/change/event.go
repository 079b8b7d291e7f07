package change

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// event is something with a day, a time or a price, as a clause names it: "dentist appointment on 28 November at 9". Notes name events
// without a verb, and in other words each time, so that events are compared by the words that are left when all words of form are taken away.
type event struct {
	about   map[string]bool // what it is; without words such as "appointment", which say only that it is an event
	whose   map[string]bool // those words of about that name a person or a thing that the event belongs to
	values  map[string]string
	changed bool   // the clause says that the values were other ones
	planned bool   // the values will be so, and are not yet
	asked   string // who asked for the change; empty: nobody is said to have
	clause  string
}

const monthNames = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?` +
	`|januar|februar|märz|mai|juni|juli|oktober|dezember|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre` +
	`|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre` +
	`|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro`

// dayKinds are the parts of a time, and amounts. A later part is looked for behind what earlier ones matched.
var dayKinds = []kind{
	{"date", lazyregexp.New(`(?i)\b(?:the |den |dem |el |le |il |o |dia |l'|all'|all’|l’)?(?:(?:\d{1,2}(?:st|nd|rd|th|\.|er|º)?(?: of| de)? ?(?:` + monthNames + `)\b\.?)|(?:(?:` + monthNames + `)\b\.? \d{1,2}(?:st|nd|rd|th)?\b)|\d{1,2}(?:st|nd|rd|th)\b)|\d{1,2}月\d{1,2}[日号號]`)},
	{"weekday", lazyregexp.New(`(?i)\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|sabato|domenica|(?:segunda|terça|quarta|quinta|sexta)(?:-feira)?)\b|\b(?:lunedì|martedì|mercoledì|giovedì|venerdì)|星期[一二三四五六日天]|周[一二三四五六日]|[月火水木金土日]曜日?`)},
	{"time", lazyregexp.New(`(?i)\b(?:at |um |a las |à |alle |às )?(?:\d{1,2}[:.]\d\d(?: ?[ap]m)?(?: uhr)?|\d{1,2} ?(?:am|pm|uhr|h|heures)|(?:half|quarter) (?:past |to )\pL+|noon|midday|midnight)\b|\b(?:at|um|a las|alle|às) \d{1,2}\b|\d{1,2}[点點時]半?`)},
	{"money", lazyregexp.New(`(?i)[£$€¥] ?\d[\d.,]*k?|\b\d[\d.,]*(?:k\b| ?(?:euros?|dollars?|pounds?|quid|€|£|\$|reais|yen|元|円))|\bto \d[\d.,]*\b(?: an?| per|$)|\b(?:is|costs?|are|of) \d[\d.,]*(?: an?| per) \pL+`)},
}

var (
	// eventChanges matches words that say that a day, a time or a price became another one.
	eventChanges = lazyregexp.New(`(?i)\b(?:move|moving|push|pushing|shifting|postponing|rebook(?:ed)?|postpone|reschedule|moved|moves|pushed|postponed|rescheduled|brought forward|put back|puts?|shift(?:ed|s)?|changed?|slips|slipped|delayed|extended|bumped|raised|lowered|increased|reduced|cut|went up|gone up|goes up|going up|went down|up to|down to|dropped|now|new (?:date|time|day|slot|price|deadline)|(?:one|another|two) (?:more|extra) (?:days?|weeks?|months?)|extension|instead)\b` +
		`|\b(?:verschoben|verlegt|vorverlegt|verschiebt sich|jetzt|nun|neuer termin|stattdessen|erhöht|gestiegen|gesunken|geändert)\b` +
		`|\b(?:aplazad[oa]|cambiad[oa]|movid[oa]|pospuest[oa]|retrasad[oa]|adelantad[oa]|ahora|pasan? al|trasladad[oa])\b` +
		`|\b(?:reporté|déplacé|décalé|avancé|repoussé|maintenant|désormais|reportée|déplacée|décalée|avancée|repoussée)(?:\s|$)` +
		`|\b(?:spostat[oa]|rinviat[oa]|anticipat[oa]|posticipat[oa]|adesso|ora|passa(?:no)? al)\b` +
		`|\b(?:adiad[oa]|remarcad[oa]|mudad[oa]|transferid[oa]|passou para|antecipad[oa]|agora)\b` +
		`|になりました|になった|改到|改成|改为|推迟到|推到|提前到|延到|延期|変更|ずれ|移り`)
	addressed = lazyregexp.New(`(?i)\byou(?:r|rs)?\b`) // "rent is 850" reads like a request
	// active matches clauses in which somebody changed an event. The last group is the event.
	active = lazyregexp.New(`(?i)^(?:(?:[\pL'’]+ ){1,3}?(?:has |have |had to |has to |have to )?(?:just )?)?(?:move|push|rebook(?:ed)?|postpone|reschedule|moved|pushed|postponed|rescheduled|extended|shifted|changed|delayed|cut|raised|put|brought) (?:back |forward |out )?((?:the|my|our) .+)$`)
	// requested matches clauses in which somebody asks that an event be at another time, which the last group, behind it, leaves blank. It may not be settled.
	requested  = lazyregexp.New(`^((?:\pL[\pL'’-]*)(?: \pL[\pL'’-]*){0,2}?)(?: has| have)?(?: just)? (?:asked|asks|wants|want|wanted|needs|need|needed|would like|wishes|decided|agreed|hopes|suggested|is asking|are asking|is going|are going)(?: us| me)? (?:to (?:move|push|postpone|reschedule|shift|change|bring|put)|moving|pushing|shifting|postponing) (?:back |forward )?((?:the|my|our) .+?)(?: back| forward| out)? (?:to|until|till)\s*$`)
	reason     = lazyregexp.New(`(?i),? (?:because|weil|perché|porque|parce que) `)
	shortened  = lazyregexp.New(`['’](?:ve|re|m|ll|d)\b`)
	pronoun    = lazyregexp.New(`(?i)^(?:he|she|it|they)(?:['’]s|['’]re|['’]ll)? `)
	headOf     = lazyregexp.New(`(?i)^((?:the|my|our) \pL+(?: \pL+)?) (?:can['’]?t|cannot|has|had|is|was|will|won['’]t|said|says|called|rang|texted|cancelled|emailed)\b`)
	possessive = lazyregexp.New(`([\pL\d]+)['’]s\b|\b(?:for|von|de|of|für|pour|per|para|di) (?:my |our |meine[rn]? |mi |ma |mon |mia |mio |minha |meu )?([\pL\d]+)`)
	lettersOf  = lazyregexp.New(`[\pL\d]+(?:['’][\pL]+)?`)
	// eventForm are words of the form of a clause about an event.
	eventForm = words(`the a an my our your his her their its this that these those i we they he she it you is are was were be been being am has have had will would 's 've 're got get gets getting there
		on at in to from until till by for of with about and or then as up down out back forward again same just also only please so well ok okay yes hi hey note reminder update fyi
		now new instead due scheduled set booked book moved move moves pushed postponed rescheduled brought put puts shift shifted shifts changed change slips slipped delayed extended bumped raised
		lowered increased reduced cut went gone goes going dropped starts start begins begin ends leaves leave runs takes place meets costs cost price fee rate pay pays month week year day night
		appointment appointments appt booking slot visit date time deadline time's rang called says said one more gave us some since because
		der die das den dem des ein eine einen mein meine meinen unser unsere ist war wird wurde auf am um im zum zur von bis und jetzt nun neu neuer neue verschoben verlegt vorverlegt verschiebt sich gestiegen gesunken erhöht geändert termin uhr findet statt
		el la los las un una mi mis nuestro nuestra es está se ha sido para por de del con a al en y ahora nuevo nueva aplazado aplazada cambiado cambiada movido movida pospuesto pospuesta retrasado retrasada adelantado adelantada pasa
		trasladado trasladada cita hora fecha será
		le les un une mon ma mes notre est sera a été au aux du des à chez et pour maintenant désormais nouveau nouvelle reporté déplacé décalé avancé repoussé reportée déplacée décalée avancée repoussée rendez vous rdv heure date c'est
		il lo gli i uno mio mia nostro nostra è sono passa passano perché stato stata sarà dal della dello dei al alla all allo alle e ed per ora adesso nuovo nuova spostato spostata rinviato rinviata anticipato anticipata posticipato posticipata appuntamento data
		o os as um uma meu minha nosso nossa foi está ficou do da no na dos das em e agora novo nova adiado adiada remarcado remarcada mudado mudada transferido transferida passou antecipado antecipada consulta marcada horário dia`)
)

// apart puts spaces for words of form in scripts without spaces.
var apart = strings.NewReplacer("上午", " ", "下午", " ", "早上", " ", "晚上", " ", "午前", " ", "午後", " ", "预约", " ", "預約", " ", "予約", " ", "约在", " ", "现在", " ", "我的", " ", "私の", " ", "改到", " ", "改成", " ",
	"改为", " ", "推迟到", " ", "提前到", " ", "延到", " ", "推到", " ", "了", " ", "是", " ", "在", " ", "的", " ", "になりました", " ", "に変更", " ", "変更", " ", "延期", " ", "されました", " ", "しました", " ", "です", " ", "ます", " ",
	"から", " ", "まで", " ", "は", " ", "の", " ", "に", " ", "が", " ", "を", " ", "で", " ")

// events returns the events in a statement, and computes them once.
func (s *statement) events() []event {
	if s.timed {
		return s.when
	}
	s.timed = true
	if len(s.text) > maxStated || !mayHaveValue(s.text) {
		return nil
	}
	subject := ""
	for _, c := range s.parse() {
		text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
		if m := pronoun.FindStringSubmatch(text); m != nil && subject != "" { // "The plumber can't make it, he's coming on Thursday instead."
			text = subject + " " + text[len(m[0]):]
		} else if m := headOf.FindStringSubmatch(text); m != nil {
			subject = m[1]
		}
		switch c.Mode {
		case "", extract.ModeAsserted, extract.ModePast, extract.ModeCorrected, extract.ModePlan, extract.ModeWish, extract.ModeInstruction, extract.ModeEnded:
			if e, ok := readEvent(text); ok && (c.Mode != extract.ModeWish || e.asked != "") && (c.About != extract.AboutAssistant || !addressed.MatchString(c.Text)) {
				e.clause, e.planned = c.Text, c.Mode == extract.ModePlan
				s.when = append(s.when, e)
			}
		}
	}
	return s.when
}

// mayHaveValue reports whether a text has a digit or the name of a day.
func mayHaveValue(text string) bool { return hasDigit(text) || triggersOf(text)&mayDay != 0 }

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

// hasOrdinal reports whether a text has a number with the ending of a day, as in "28th", or joined to a month, as in "3May" or "3.Mai".
func hasOrdinal(text string) bool {
	for i := 1; i < len(text); i++ {
		if c := text[i-1]; c >= '0' && c <= '9' && (text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' || text[i] == 0xc2) { // "º" begins with it
			return true
		}
	}
	return false
}

// readEvent reads an event from a clause.
func readEvent(text string) (e event, ok bool) {
	if at := reason.Compiled().FindStringIndex(text); at != nil && mayHaveValue(text[:at[0]]) {
		text = text[:at[0]]
	}
	rest := text
	e.values = map[string]string{}
	may, digit := triggersOf(text), hasDigit(text)
	for _, k := range dayKinds {
		switch {
		case k.name == "weekday" && may&mayDay == 0, k.name != "weekday" && !digit, k.name == "date" && may&mayDate == 0 && !hasOrdinal(text):
			continue
		}
		at := k.value.Compiled().FindStringIndex(rest)
		if at == nil {
			continue
		}
		value := strings.Join(lettersOf.Compiled().FindAllString(strings.ToLower(rest[at[0]:at[1]]), -1), " ")
		form := func(w string) bool { return eventForm[w] || k.name == "money" && w[0] > '9' }
		e.values[k.name] = strings.Join(slices.DeleteFunc(strings.Fields(value), form), " ")
		rest = rest[:at[0]] + strings.Repeat(" ", at[1]-at[0]) + rest[at[1]:]
	}
	if len(e.values) == 0 {
		return e, false
	}
	rest = shortened.ReplaceAllString(rest, "")
	e.changed = may&(mayShift|mayMove) != 0 && eventChanges.MatchString(rest)
	if i := strings.LastIndex(rest, ": "); i >= 0 && lettersOf.MatchString(rest[i:]) { // "We got one more week: the essay is due on 3 May"
		rest = rest[i:]
	}
	if i := strings.LastIndex(rest, "、"); i >= 0 && strings.Contains(rest[i:], "は") { // a reason comes before it
		rest = rest[i:]
	}
	if m := requested.FindStringSubmatch(rest); m != nil && e.changed {
		rest, e.asked = m[2], m[1]
	} else if m := active.FindStringSubmatch(rest); m != nil && e.changed {
		rest = m[1]
	}
	e.about, e.whose = map[string]bool{}, map[string]bool{}
	for _, w := range lettersOf.Compiled().FindAllString(apart.Replace(strings.ToLower(rest)), -1) {
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
		w = strings.TrimPrefix(strings.TrimPrefix(w, "l'"), "l’")
		if !eventForm[w] && !unicode.IsDigit(rune(w[0])) {
			if w = eventWord(w); w != "" {
				e.about[w] = true
			}
		}
	}
	for _, m := range possessive.Compiled().FindAllStringSubmatch(rest, -1) {
		if w := eventWord(strings.ToLower(m[1] + m[2])); e.about[w] {
			e.whose[w] = true
		}
	}
	e.nameByAsker()
	return e, len(e.about) > 0 && len(e.about) <= 6
}

// nameByAsker names an event that has no words of its own by whoever asked for the change: "the physio wants to move my appointment".
func (e *event) nameByAsker() {
	if len(e.about) > 0 || e.asked == "" {
		return
	}
	for _, w := range lettersOf.Compiled().FindAllString(strings.ToLower(e.asked), -1) {
		if !eventForm[w] {
			e.about[eventWord(w)] = true
		}
	}
}

// eventWord returns a word without the endings that only say that it is an event or more than one.
func eventWord(w string) string {
	for _, end := range [...]string{"termin", "appointment"} {
		if head, ok := strings.CutSuffix(w, end); ok {
			return head
		}
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "s")
	}
	return w
}

// byEvent decides by the events of two statements: a day, a time or a price of one event became another one. exact reports whether both name
// it by the same words.
func byEvent(later, earlier *statement) (x verdict, exact, ok bool) {
	for _, l := range later.events() {
		if !l.changed {
			continue
		}
		for _, e := range earlier.events() {
			same, alike := l.same(&e)
			if !alike || !l.differs(&e) {
				continue
			}
			x = verdict{confidence: ruleConfidence, matter: e.clause, evidence: l.clause, decider: "rules: moved"}
			if l.planned || l.asked != "" {
				x.confidence = likely
			}
			same = same || l.askedBy(&e)
			for _, k := range dayKinds {
				if kind := kindAnswers[k.name]; l.values[k.name] != "" && e.values[k.name] != "" && !slices.Contains(x.matters, kind) {
					x.matters = append(x.matters, kind)
				}
			}
			if same {
				return x, true, true
			}
			ok = true
		}
	}
	return x, false, ok
}

// same reports whether both events are named by the same words, and whether a later one may be an earlier one that was named by more words.
func (l *event) same(e *event) (same, alike bool) {
	if maps.Equal(l.about, e.about) {
		return true, true
	}
	for w := range l.about {
		if !e.about[w] {
			return false, false
		}
	}
	for w := range e.about {
		if !l.about[w] && e.whose[w] {
			return false, false
		}
	}
	return false, true
}

// askedBy reports whether whoever asked for the change is named in an earlier event: "Dana asked to push our meeting".
func (l *event) askedBy(e *event) bool {
	for w := range strings.FieldsSeq(l.asked) {
		if unicode.IsUpper(rune(w[0])) && e.about[eventWord(strings.ToLower(w))] {
			return true
		}
	}
	return false
}

// differs reports whether a value of both events differs, so that the day or the price is another one. A time alone does not matter where the days differ.
func (l *event) differs(e *event) bool {
	for k, v := range l.values {
		if was := e.values[k]; was != "" && was != v {
			return true
		}
	}
	return (l.values["date"] != "" && e.values["weekday"] != "" || l.values["weekday"] != "" && e.values["date"] != "") && l.values["weekday"] != e.values["weekday"]
}
