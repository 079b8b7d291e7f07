package change

import "unicode/utf8"

// trigger is a set of expressions that a text may match, by the words that each of them needs: expressions cost much more than words.
type trigger uint16

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
)

// triggers are words, in lower case, and the expressions that need one of them.
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
		mayDeny:   `won't never not don't can't wouldn't couldn't haven't hasn't didn't`,
		mayBeOurs: `my our`,
		mayState: `live lives lived living move moves moved relocated settled work works worked working job position role joined left quit resigned retired married engaged divorced dates
			dating seeing broke broken split separated sold switched prefer prefers favourite favorite favourites favorites vegetarian vegan name called now longer more anymore`,
	} {
		for w := range words(list) {
			out[w] |= t
		}
	}
	return out
}()

// triggersOf returns what a text may match. A word that ends in "'s" counts as it is and as "is" behind the rest.
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
