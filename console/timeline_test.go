package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

// TestFactIsUndone: a fact that another took the place of has a button on the timeline, which lets it hold again, and one that takes that back.
func TestFactIsUndone(t *testing.T) {
	t.Parallel()
	s := serve(t)
	sub := s.tenant(t, "acme").Sub("u")
	for id, m := range map[string]struct {
		text string
		at   time.Time
	}{
		"first":  {"Anna Lind works at Zorblax since March 2019.", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)},
		"second": {"Anna Lind works at Quux since May 2021.", time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		_, err := sub.Remember(t.Context(), contextmem.Memory{ID: id, Text: m.text, Time: m.at})
		require.NoError(t, err)
	}
	require.NoError(t, sub.WaitRefined(t.Context()))
	states := func() map[string]facts.Status {
		p, err := sub.Facts(t.Context(), facts.Request{Class: contextmem.ClassMemory, Subject: "Anna Lind", History: true})
		require.NoError(t, err)
		out := map[string]facts.Status{}
		for _, f := range p.Facts {
			if f.Predicate == "works_at" {
				out[f.Object] = f.Status
			}
		}
		return out
	}
	require.Equal(t, map[string]facts.Status{"zorblax": facts.Superseded, "quux": facts.Current}, states())

	const page = "t/acme/timeline?sub=u&person=anna+lind"
	superseded := regexp.MustCompile(`(?s)<li class="superseded">.*?</li>`)
	id := regexp.MustCompile(`name="id" value="([^"]+)"`)
	v := s.visitor(t, contextmem.KeySpec{Owner: "ops"})
	status, body := v.get(t, page)
	require.Equal(t, http.StatusOK, status)
	rows := superseded.FindAllString(body, -1)
	require.Len(t, rows, 1)
	found := id.FindStringSubmatch(rows[0])
	require.NotNil(t, found, rows[0])
	form := func() url.Values {
		return url.Values{"sub": {"u"}, "class": {"memory"}, "person": {"anna lind"}, "id": found[1:]}
	}
	status, _ = v.post(t, "t/acme/fact/restore", form())
	require.Equal(t, http.StatusOK, status)
	assert.Equal(t, map[string]facts.Status{"zorblax": facts.Current, "quux": facts.Current}, states())
	_, body = v.get(t, page)
	assert.Empty(t, superseded.FindAllString(body, -1))
	assert.NotContains(t, body, "/fact/restore\"")
	assert.Contains(t, body, "Holds again by hand since ")
	status, body = v.post(t, "t/acme/fact/retire", form())
	require.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "What took its place counts again.")
	assert.Equal(t, map[string]facts.Status{"zorblax": facts.Superseded, "quux": facts.Current}, states())
}
