package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marks of list items. A dash is one only with a space behind it.
const (
	bullets = "•◦▪▫■□●○‣⁃∙❑❖◻➢➤▷▸►✓☑"
	dashes  = "-–—*·"
)

// listMarker says whether text begins as a list item does. rest is set for a bullet, which has no words; a number is
// part of the text.
func listMarker(text string) (rest string, ok bool) {
	r, n := utf8.DecodeRuneInString(text)
	if isBullet, isDash := strings.ContainsRune(bullets, r), strings.ContainsRune(dashes, r); (isBullet || isDash) && n < len(text) {
		if after := text[n:]; isBullet || after[0] == ' ' {
			return strings.TrimSpace(after), true
		}
		return "", false
	}
	mark, _, found := strings.Cut(text, " ")
	return "", found && isEnumerator(mark)
}

// dropLeaders shortens the row of dots that leads from a title to its page number, and says whether text has one: it
// is an entry of a table of contents then.
func dropLeaders(text string) (string, bool) {
	const least = 4
	dots, start := 0, -1
	for i := 0; i <= len(text); i++ {
		switch {
		case i < len(text) && text[i] == '.':
			if dots++; dots == 1 {
				start = i
			}
			continue
		case i < len(text) && text[i] == ' ':
			continue
		}
		if dots >= least {
			return strings.TrimSpace(text[:start]) + " ... " + strings.TrimSpace(text[i:]), true
		}
		dots = 0
	}
	return text, false
}

// isEnumerator says whether a word numbers an item: "1.", "12)", "(a)", "iv.", "[3]".
func isEnumerator(word string) bool {
	inner := strings.TrimLeft(word, "([")
	bare := strings.TrimRight(inner, ".)]")
	if len(bare) == len(inner) || bare == "" || len(bare) > 4 {
		return false
	}
	numeric, letters := true, true
	for _, r := range bare {
		numeric = numeric && r >= '0' && r <= '9'
		letters = letters && strings.ContainsRune("ivxlcdm", unicode.ToLower(r))
	}
	if numeric {
		return len(bare) <= 3
	}
	return letters || utf8.RuneCountInString(bare) == 1 && isLetter(bare)
}
