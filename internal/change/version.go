package change

import (
	"regexp"
	"strings"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// upgraded matches clauses that say that another version of a program is used. The groups are its name and the version.
var upgraded = lazyregexp.New(`(?i:\b(?:upgraded|updated|migrated|moved|switched|bumped|rolled back))(?: (?:everything|all|it|them))?(?: from \S+(?: \d\S*)?)? to (\p{Lu}[\pL.+#-]*) v?(\d+(?:\.\d+)*)\b`)

// byVersion decides by the version of a program that both statements name.
func byVersion(later, earlier *statement) (verdict, bool) {
	for _, l := range later.parse() {
		m := upgraded.FindStringSubmatch(l.Text)
		if m == nil || !settled[l.Mode] {
			continue
		}
		name, err := regexp.Compile(`(?i)\b` + regexp.QuoteMeta(m[1]) + ` v?(\d+(?:\.\d+)*)\b`)
		if err != nil {
			continue
		}
		for _, e := range earlier.parse() {
			if was := name.FindStringSubmatch(e.Text); was != nil && was[1] != m[2] && states(&e) && !strings.Contains(e.Text, "?") {
				return verdict{confidence: ruleConfidence, matter: e.Text, evidence: l.Text, decider: "rules: version"}, true
			}
		}
	}
	return verdict{}, false
}
