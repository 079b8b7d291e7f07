package change

import (
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/language"
)

// trigger is a set of expressions that a text may match. Testing for the words that an expression needs is much cheaper than matching it.
type trigger uint32

const (
	mayMove trigger = 1 << iota
	mayDisprove
	mayBeGone
	maySwap
	mayReplace // oldValue
	mayHave    // hasValue
	mayGet     // getsValue
	mayBeOver  // isOver
	mayEnd     // noLonger, notMore
	mayDeny    // denied
	mayBeOurs  // othersThing
	mayState   // factual
	mayShift   // eventChanges
	mayDay     // the name of a day
	mayHand    // a word without which no clause says that somebody else is responsible now
	mayNumber  // newNumber
	mayPass    // plainForms, eatsAgain
	mayTell    // a phrase of another language for a home or an employer
	mayOther   // otherOne
	mayCallOff // callsOff
	mayCarry   // shifted, relocated
	mayCancel  // isOff, calledOff
	mayResume  // resumes
	mayDate    // the name of a month
	mayImply   // impliedI
	mayClose   // a phrase that marks a clause as ended or cancelled
	mayGiveUp  // endings
	mayGoOn    // goesOn
	mayMoveHouse
	mayDrop    // drops, takesBack, keepsIt
	mayCorrect // corrects
)

const (
	mayDo    = mayMove | mayDisprove | mayBeGone | maySwap | mayReplace | mayEnd | mayClose // without one of these no clause has an effect on earlier statements
	mayValue = mayBeOver | mayEnd | mayGet | mayHave | mayNumber | mayOther                 // without one of these no clause names a value
)

// triggers maps lower-case words to the expressions that need one of them.
var triggers = func() map[string]trigger {
	out := map[string]trigger{}
	for t, list := range map[trigger]string{
		mayMove: `now longer instead moved moves changed changes switched switches shifted shifts pushed postponed forward back rescheduled up down raised dropped cut from new
			these correction scratch wrong is`,
		mayDisprove: `never wasn't not isn't weren't it's that's they're`,
		mayBeGone:   `gone dead more history scrapped sold off cancelled canceled happening`,
		maySwap:     `from`,
		mayReplace:  `not instead from`,
		mayHave:     `is are be starts ends begins runs meets`,
		mayGet: `moved changed updated set reset raised lowered increased reduced cut pushed postponed brought rescheduled bumped switched upgraded renamed shifted extended went dropped
			delayed`,
		mayBeOver: `cancelled canceled called scrapped discontinued abolished shut closed longer off`,
		mayEnd:    `longer more anymore`,
		mayDeny:   `won't would i'd we'd never not don't can't wouldn't couldn't haven't hasn't didn't`,
		mayBeOurs: `my our`,
		mayTell: `gezogen umgezogen wohne wohnen lebe arbeite arbeiten angestellt ndigt vivo vivimos mudado mudamos mud resido trabajo trabajar habite habitons j'habite nag travaille travailler
			abito abitiamo viviamo lavoro lavorare trasferito trasferita trasferiti moro moramos mudei mudei-me trabalho trabalhar`, // "ndigt" of "gekündigt", "mud" of "mudé", "nag" of "déménagé"
		mayNumber: `number`,
		mayPass: `despidieron despedido despedida entlassen licenci licenciado vir licenziato licenziata fui redundant laid fired let sacked lost split broke broken separated parted divorced divorce quits ended separate over couple together dumped getrennt zusammen
			auseinander paar fini sommes s'est hemos rompimos juntos siamo insieme separ separamos mo-nos termin terminamos acab acabamos address new moved relocated left quit got landed took accepted found started sold traded scrapped swapped rid wrote married eat eating`,
		mayResume:  `again back resumed restarted wieder nouveau recommenc repris vuelto volv vuelvo vez nuevo nuovo ricominciato ripreso voltei novo`,
		mayCorrect: `wait hang hold scratch correction oops typo actually sorry mistake bad meant wrong misread forgot not stop`,
		mayDrop: `decided opted voted not isn't aren't wasn't won't don't withdrew withdrawn withdrawing shelved scrapped binned ditched abandoned deferred turned knocked pull pulled pulling back backed
			backing bail bailed bailing fallen fell refused rejected went come came fizzled bust no-go dead no can't cannot couldn't cant couldnt coming joining visiting said says saying forget drop scrap bin ignore disregard
			scratch delete erase throw chuck cross strike never nevermind leave wipe keeping hanging holding going`,
		mayMoveHouse: `moving moved relocating relocated emigrating emigrated coming going gone back found bought rented got`,
		mayGoOn:      `again back can could may allowed able fit cleared passed clear all-clear all green go go-ahead ahead ok okay permission nod thumbs rejoined resumed restarted returned fine safe`,
		mayOther:     `different another new`,
		mayCancel:    `cancel cancelled canceled call called scrap scrapped off happening`,
		mayGiveUp: `gave given give quit stopped stop packed kicked cut ditched jacked chucked dropped cancelled canceled finished left deleted off longer anymore more no sold flogged rid scrapped wrote written came
			haven't havent not knocked stolen last without days done through discharged signed swapped replaced switched these nowadays
			vegan plant vegetarian veggie meat pescatarian pescetarian gluten coeliac celiac dairy sober teetotal teetotaller alcohol caffeine sugar`,
		mayCarry: `moved switched transferred migrated shifted swapped brought taken took relocated moves`,
		mayCallOff: `no llt wurde abgesagt gestrichen findet annul annulé supprim lieu tombe cancelado suspendido anulado cancela suspende cancelan suspenden cancelada suspendida anulada annullato annullata
			cancellato cancellata saltato saltata salta fa foi foram desmarcado desmarcada realiza`,
		mayHand: `over now new inherited inherits picks picked replaces replaced succeeds succeeded reassigned assigned goes passes belongs hands handed bernimmt bernahm bernommen jetzt nun reprend
			repris asume cargo ahora maintenant`,
		mayDay: `monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays montag dienstag mittwoch donnerstag freitag samstag sonntag
			lunes martes rcoles jueves viernes bado domingo lundi mardi mercredi jeudi vendredi samedi dimanche luned marted mercoled gioved venerd sabato domenica segunda ter quarta quinta sexta`,
		mayImply: `left quit sold moved relocated emigrated joined bought traded switched stopped gave broke resigned retired`,
		mayDate: `jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december januar februar rz mai juni juli oktober dezember
			enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre janvier vrier mars avril juin juillet ao septembre octobre novembre cembre gennaio febbraio aprile maggio
			giugno luglio settembre ottobre dicembre janeiro fevereiro maio junho julho setembro outubro novembro dezembro`, // "rz" of "März", "vrier" of "février", "ao" of "août", "cembre" of "décembre", "mar" of "março"
		mayShift: `extension gesunken ndert more extra moved moves pushed postponed rescheduled forward back brought shift shifts shifted change changed changes raised cut went goes dropped now new instead verschoben verlegt vorverlegt verschiebt jetzt nun neuer stattdessen gestiegen erh aplazado aplazada cambiado cambiada movido movida pospuesto pospuesta retrasado retrasada
			adelantado adelantada ahora pasa pasan passa passano trasladado trasladada report reporté plac cal avanc repouss maintenant sormais spostato spostata rinviato rinviata anticipato anticipata posticipato
			posticipata adesso ora adiado adiada remarcado remarcada mudado mudada transferido transferida passou antecipado antecipada agora slips slipped move push rebook rebooked postpone reschedule delayed extended bumped lowered increased
			reduced gone going moving pushing shifting postponing date day slot price deadline put puts`,
		mayState: `live lives lived living move moves moved relocated settled work works worked working job position role joined left quit resigned retired married engaged divorced dates
			dating seeing broke broken split separated sold switched prefer prefers favourite favorite favourites favorites vegetarian vegan name called now longer more anymore`,
	} {
		for w := range words(list) {
			out[w] |= t
		}
	}
	return out
}()

// triggersOf returns the expressions that a text may match. A word with "'s" counts as itself and as its stem followed by "is".
func triggersOf(text string) (all trigger) {
	var room [24]byte
	word := room[:0]
	long := false
	end := func() {
		if len(word) > 0 && !long {
			all |= triggers[string(word)]
			if n := len(word); n > 2 && word[n-2] == '\'' && word[n-1] == 's' {
				all |= triggers["is"]
			}
		}
		if len(word) >= 6 && string(word[:6]) == "employ" {
			all |= mayState
		}
		word, long = room[:0], false
	}
	for i := 0; i < len(text); {
		c, n := text[i], 1
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z' || c == '\'' || c >= '0' && c <= '9':
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			n = size
			if r != '’' {
				switch {
				case strings.ContainsRune("住搬居作班职働勤越辞", r):
					all |= mayTell
				case strings.ContainsRune("消中キな", r):
					all |= mayCallOff | mayShift
				case strings.ContainsRune("改推提延変移ず", r):
					all |= mayShift
				case r == '月':
					all |= mayDay | mayDate
				case strings.ContainsRune("星周曜", r):
					all |= mayDay
				}
				end()
				i += n
				continue
			}
			c = '\''
		default:
			end()
			i++
			continue
		}
		if len(word) < cap(word) {
			word = append(word, c)
		} else {
			long = true
		}
		i += n
	}
	end()
	return all
}

// pieces maps the first letters, up to an apostrophe, of triggers and of the first words of mayClose phrases to their expressions.
var pieces = func() map[string]trigger {
	out := map[string]trigger{}
	add := func(w string, t trigger) {
		w, _, _ = strings.Cut(w, "'")
		out[w] |= t
	}
	for w, t := range triggers {
		add(w, t)
	}
	for _, w := range language.EndingWords() {
		if w == "'s" {
			w = "is"
		}
		add(w, mayClose)
	}
	return out
}()

// triggersWithin returns the expressions that any part of a text may match, and maybe more, because it looks only at runs of letters.
func triggersWithin(text string) (all trigger) {
	const longest = 16
	var word [longest]byte
	for i := 0; i < len(text); {
		n := 0
		start := i
		for ; i < len(text); i++ {
			c := text[i] | 0x20
			if c < 'a' || c > 'z' {
				break
			}
			if n < longest {
				word[n] = c
			}
			n++
		}
		switch {
		case n == 1 && word[0] == 's' && afterApostrophe(text[:start]):
			all |= pieces["is"]
		case n > 1 && n <= longest:
			all |= pieces[string(word[:n])]
		}
		if n == 0 {
			i++
		}
	}
	return all
}

func afterApostrophe(before string) bool {
	return strings.HasSuffix(before, "'") || strings.HasSuffix(before, "’")
}
