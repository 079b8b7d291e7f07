package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markers of list items. A dash counts only if a space follows.
const (
	bullets = "•◦▪▫■□●○‣⁃∙❑❖◻➢➤▷▸►✓☑"
	dashes  = "-–—*·"
)

// listMarker reports whether text begins like a list item. For a bullet, rest is the text behind it; a number remains part of the text.
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

// dropLeaders shortens the row of dots that leads from a title to its page number, and reports whether text has one. Such a line is an
// entry of a table of contents.
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

// isEnumerator reports whether a word numbers an item: "1.", "12)", "(a)", "iv.", "[3]".
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
