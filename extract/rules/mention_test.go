package rules

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ref is a Monday.
var ref = time.Date(2023, 5, 8, 13, 0, 0, 0, time.UTC)

func one(t testing.TB, in extract.Input) extract.Output {
	t.Helper()
	out, err := New().Extract(context.Background(), []extract.Input{in})
	require.NoError(t, err)
	require.Len(t, out, 1)
	return out[0]
}

// names lists mentions as "key/TYPE", with "?" behind weak ones "_" behind noun phrases and "~" behind parts.
func names(ms []extract.Mention, types ...string) []string {
	out := []string{}
	for _, m := range ms {
		if len(types) > 0 && !strings.Contains(strings.Join(types, " "), m.Type) {
			continue
		}
		s := m.Key + "/" + m.Type
		if m.Weak {
			s += "?"
		}
		if m.Phrase {
			s += "_"
		}
		if m.Part {
			s += "~"
		}
		out = append(out, s)
	}
	return out
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"We asked Dr. Brown and Priya about it.":                                               "dr brown and priya/PERSON~ dr brown/PERSON priya/PERSON",
		"She studied at the University of Göttingen for a while.":                              "university of gottingen/ORGANIZATION university/CONCEPT~ gottingen/LOCATION~",
		"He flew to New York City with Acme Inc. people.":                                      "new york city/LOCATION acme inc/ORGANIZATION",
		"The ship reached Port Elder near the Grey River.":                                     "port elder/LOCATION grey river/LOCATION",
		"Their paper cites J. K. Halloway and George T. Winter.":                               "jk halloway and george t winter/PERSON~ jk halloway/PERSON george t winter/PERSON",
		"We use PostgreSQL and Kubernetes on GPT-4 machines.":                                  "postgresql and kubernetes/PRODUCT~ postgresql/PRODUCT kubernetes/PRODUCT gpt-4/IDENTIFIER",
		"Project Falcon ends after the Battle of Hollow Creek.":                                "project falcon/PROJECT battle of hollow creek/EVENT battle/EVENT~ hollow creek/LOCATION~",
		"They sell the iPhone 15 there.":                                                       "iphone 15/PRODUCT iphone/PRODUCT~",
		"Zorblax makes tea.":                                                                   "zorblax/CONCEPT? tea/CONCEPT_",
		"Thanks, that helps. However, it rains. Visit Paris!":                                  "paris/LOCATION",
		"I think I'm fine on Monday.":                                                          "",
		"The York-based firm hired Anna.":                                                      "york/CONCEPT anna/PERSON",
		"THIS IS SHOUTED ABOUT BERLIN AND PARIS":                                               "",
		"Ticket JIRA-12 fails with ERR-1042 in v1.2.3.":                                        "ticket/CONCEPT? jira-12/IDENTIFIER err-1042/ERROR_CODE v1.2.3/IDENTIFIER",
		"Write to ada@example.org or see https://example.org/a?b=1.":                           "ada@example.org/EMAIL https://example.org/a?b=1/URL",
		"Ask @bob_9 to open src/main.go or /etc/hosts and/or #42.":                             "@bob_9/HANDLE src/main.go/IDENTIFIER /etc/hosts/IDENTIFIER #42/IDENTIFIER",
		"Commit 3f2a9c1d broke it.":                                                            "3f2a9c1d/IDENTIFIER",
		"The rent is $1,250 or 20 euros a day, and 5 km of 30% fat.":                           "$1250/MONEY 20 euros/MONEY 5 km/QUANTITY 30%/QUANTITY",
		"Gestern habe ich mit Frau Weber in Berlin über die Miete und das Projekt gesprochen.": "frau weber in berlin/PERSON~ frau weber/PERSON berlin/LOCATION",
		"我在2023年5月8日去了北京，见 https://example.org。":                                               "2023-05-08/DATE 2023/DATE~ https://example.org/URL",
		"وصلت في 2021 إلى المدينة ومعي ERR-77":                                                 "2021/DATE err-77/ERROR_CODE",
		"Apollo 11 landed. Berlin 1990 was different.":                                         "apollo 11/CONCEPT apollo/CONCEPT~ berlin/LOCATION 1990/DATE",
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, strings.Join(names(one(t, extract.Input{Text: text}).Mentions), " "), text)
		})
	}
}

func TestSpeakersOfTurns(t *testing.T) {
	t.Parallel()
	out := one(t, extract.Input{Memory: true, Text: "Zorana: I moved to Porto.\nBelik: Nice!\nuser: I live in Oslo.\nassistant: Noted."})
	assert.Equal(t, []string{"zorana/PERSON", "porto/LOCATION", "belik/PERSON", "user/PERSON", "oslo/LOCATION"}, names(out.Mentions))
	assert.Equal(t, []string{"zorana lives_in porto", "user lives_in oslo"}, triples(out.Relations))
}

func TestTitleMentions(t *testing.T) {
	t.Parallel()
	out := one(t, extract.Input{Title: "Port Elder, Northland (town)", Text: "It lies by the sea."})
	require.Len(t, out.Mentions, 3, "%+v", out.Mentions)
	for i, want := range []struct {
		key    string
		weight float32
	}{{"port elder northland", 3}, {"port elder", 2}, {"northland", 1}} {
		t.Run(want.key, func(t *testing.T) {
			m := out.Mentions[i]
			assert.Equal(t, want.key, m.Key)
			assert.InDelta(t, want.weight, m.Weight, 0)
			assert.Equal(t, extract.TitleChunk, m.Chunk)
		})
	}
	short := one(t, extract.Input{Memory: true, Title: "I walked to the", Text: "I walked to the harbour."})
	assert.NotContains(t, fmt.Sprint(names(short.Mentions)), "walked", "a title that is shortened text names nothing")
}

func TestMentionsPerChunk(t *testing.T) {
	t.Parallel()
	text := "Anna met Boris. Boris slept. Clara met Anna."
	cut := strings.Index(text, "Clara")
	out := one(t, extract.Input{Text: text, Chunks: []extract.Span{{Start: 0, End: cut}, {Start: cut - 13, End: len(text)}}})
	got := map[string][]int{}
	for _, m := range out.Mentions {
		got[m.Key] = append(got[m.Key], m.Chunk)
		assert.Equal(t, m.Name, text[m.Start:m.End])
	}
	assert.Equal(t, map[string][]int{"anna": {0, 1}, "boris": {0, 1}, "clara": {1}}, got)
}

func TestWeakNamesGoWhenTheTextHasThemInLowerCase(t *testing.T) {
	t.Parallel()
	base := "Gravel is loud."
	assert.Equal(t, []string{"gravel/CONCEPT?"}, names(one(t, extract.Input{Text: base + " I like gravel and gravel."}).Mentions))
	assert.Empty(t, names(one(t, extract.Input{Text: base + " I like gravel and gravel and gravel."}).Mentions))
	long := base + strings.Repeat(" I walk on gravel.", 200)
	assert.Empty(t, names(one(t, extract.Input{Text: long}).Mentions))
}

func TestHolidaysStayNames(t *testing.T) {
	t.Parallel()
	var names []string
	for _, m := range one(t, extract.Input{Text: "I visited Oslo last Christmas.", Time: time.Date(2023, 6, 14, 10, 0, 0, 0, time.UTC)}).Mentions {
		names = append(names, m.Key)
	}
	assert.Contains(t, names, "2022-12-25")
	assert.Contains(t, names, "oslo")
}
