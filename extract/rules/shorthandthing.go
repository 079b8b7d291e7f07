package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// streets are the last words of names of streets.
var streets = map[string]bool{"st": true, "street": true, "rd": true, "road": true, "ave": true, "avenue": true, "lane": true, "ln": true, "drive": true, "close": true, "terrace": true, "crescent": true, "blvd": true, "boulevard": true, "gardens": true, "grove": true}

// running are things that run out, and ends the words that say so.
var (
	running = map[string]bool{"membership": true, "subscription": true, "passport": true, "licence": true, "license": true, "contract": true, "lease": true, "insurance": true, "mot": true, "visa": true, "warranty": true, "tenancy": true}
	ends    = map[string]bool{"expires": true, "runs": true, "renews": true, "ends": true}
)

// noteThing reports whether a note may be one of those that things reads.
func noteThing(s string, words []string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if unicode.IsDigit(r) || words[0] == "flat" || words[0] == "apt" || words[0] == "apartment" || words[0] == "unit" || plurals[words[0]] != "" || len(words) > 1 && plurals[words[1]] != "" {
		return true
	}
	for i := 1; i < min(4, len(words)); i++ {
		if ends[words[i]] && running[words[i-1]] {
			return true
		}
	}
	return false
}

// things completes an address alone, what the speaker earns, and what runs out: "flat 4, 12 Elm St", "on 18.50 an hour", "gym membership runs out in
// June".
func things(s string, words []string) (edit, bool) {
	for i := 1; i < min(4, len(words)); i++ {
		if ends[words[i]] && running[words[i-1]] {
			first := strings.Fields(s)[0]
			if strings.ToUpper(first) != first {
				first = strings.ToLower(first[:1]) + first[1:]
			}
			return edit{0, len(strings.Fields(s)[0]), "My " + first}, true
		}
	}
	if words[0] == "on" && len(words) > 3 && kindOf(words[1]) == '9' && (words[2] == "an" || words[2] == "a" || words[2] == "per") && (words[3] == "hour" || words[3] == "year" || words[3] == "month" || words[3] == "day") {
		return edit{0, len("on"), "I earn"}, true
	}
	return address(s, words)
}

// address completes a note that is nothing but an address.
func address(s string, words []string) (edit, bool) {
	all := strings.Fields(s)
	number := -1
	for i, w := range words {
		switch {
		case kindOf(all[i]) == '9' && len(w) < 6:
			number = i
		case streets[w] && number >= 0 && i > number+1 && i < number+5 && nameAt(s, i) && nameAt(s, i-1):
			street := strings.TrimRight(strings.Join(all[number:i+1], " "), ",.")
			return edit{0, len(s), "My address is " + street}, number == 0 || words[0] == "flat" || words[0] == "apt" || words[0] == "apartment" || words[0] == "unit"
		}
	}
	return edit{}, false
}

// plurals are words for several relatives or pets, with that for one of them.
var plurals = map[string]string{"kids": "kid", "children": "child", "sons": "son", "daughters": "daughter", "brothers": "brother", "sisters": "sister", "dogs": "dog", "cats": "cat"}

// relatives completes "two kids: Maya (7) and Jonas (4)".
func relatives(s string, words []string) (edit, bool) {
	for n := 1; n <= min(2, len(words)-1); n++ {
		one := plurals[words[n-1]]
		if one == "" {
			continue
		}
		end, sign := signAfter(s, n)
		if sign == 0 {
			return edit{}, false
		}
		var b strings.Builder
		for name := range strings.FieldsFuncSeq(strings.ReplaceAll(s[end+sign:], " and ", ", "), func(r rune) bool { return r == ',' || r == '&' }) {
			name, _, _ = strings.Cut(name, "(")
			if name = strings.TrimSpace(name); kindOf(name) != 'N' || strings.Contains(name, " ") {
				return edit{}, false
			}
			if b.Len() > 0 {
				b.WriteString(". ")
			}
			b.WriteString("My " + one + " is called " + name)
		}
		return edit{0, len(s), b.String()}, b.Len() > 0
	}
	return edit{}, false
}
