package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

// TestFactIsUndone checks that a superseded fact has a button on the timeline that restores it, and one that undoes
// that.
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

// TestListIsWalked pages through a list of items to its end and back. Each item must appear once.
func TestListIsWalked(t *testing.T) {
	t.Parallel()
	s := serve(t)
	sub := s.tenant(t, "acme").Sub("u")
	var b contextmem.MemoryBatch
	for i := range 60 {
		b.Memories = append(b.Memories, contextmem.Memory{ID: fmt.Sprintf("m-%02d", i), Text: "Tea is hot."})
	}
	res, err := sub.AddMemories(t.Context(), b)
	require.NoError(t, err)
	_, err = sub.Wait(t.Context(), res.IDs()...)
	require.NoError(t, err)
	v := s.visitor(t, contextmem.KeySpec{Owner: "ops"})
	id := regexp.MustCompile(`<bdi>(m-\d\d)</bdi></span>`)
	places := regexp.MustCompile(`\d+ to \d+ of \d+`)
	walk := func(page, rel string) (pages [][]string, at []string, last string) {
		link := regexp.MustCompile(`rel="` + rel + `" href="\?([^"]+)"`)
		for {
			status, body := v.get(t, page)
			require.Equal(t, http.StatusOK, status, page)
			var ids []string
			for _, m := range id.FindAllStringSubmatch(body, -1) {
				ids = append(ids, m[1])
			}
			pages, at = append(pages, ids), append(at, places.FindString(body))
			m := link.FindStringSubmatch(body)
			if m == nil {
				return pages, at, page
			}
			page = "t/acme?" + html.UnescapeString(m[1])
		}
	}
	forth, at, last := walk("t/acme?sub=u", "next")
	assert.Equal(t, []string{"1 to 25 of 60", "26 to 50 of 60", "51 to 60 of 60"}, at)
	all := slices.Concat(forth...)
	slices.Sort(all)
	assert.Len(t, slices.Compact(all), 60)
	back, at, _ := walk(last, "prev")
	assert.Equal(t, []string{"51 to 60 of 60", "26 to 50 of 60", "1 to 25 of 60"}, at)
	slices.Reverse(back)
	assert.Equal(t, forth, back)
	for _, page := range []string{"t/acme?sub=u&after=%20", "t/acme?sub=u&before=abc", "t/acme?sub=u&after=YSBi&before=YSBi", "t/acme?sub=u&n=0"} {
		t.Run(page, func(t *testing.T) {
			status, _ := v.get(t, page)
			assert.Equal(t, http.StatusBadRequest, status, page)
		})
	}
}

// TestTimelineIsWalked checks that a person with more facts than a page shows has the others on the following pages.
func TestTimelineIsWalked(t *testing.T) {
	t.Parallel()
	s := serve(t)
	sub := s.tenant(t, "acme").Sub("u")
	var b contextmem.MemoryBatch
	for i := range 230 {
		b.Memories = append(b.Memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("Anna Lind visited Town%d in May 2021.", i)})
	}
	res, err := sub.AddMemories(t.Context(), b)
	require.NoError(t, err)
	_, err = sub.Wait(t.Context(), res.IDs()...)
	require.NoError(t, err)
	v := s.visitor(t, contextmem.KeySpec{Owner: "ops"})
	next := regexp.MustCompile(`rel="next" href="\?([^"]+)"`)
	town := regexp.MustCompile(`visited (town\d+)`)
	seen, pages := map[string]bool{}, 0
	for page := "t/acme/timeline?sub=u&person=anna+lind"; page != ""; pages++ {
		status, body := v.get(t, page)
		require.Equal(t, http.StatusOK, status, page)
		require.Less(t, len(body), 100_000)
		for _, m := range town.FindAllStringSubmatch(body, -1) {
			seen[m[1]] = true
		}
		page = ""
		if m := next.FindStringSubmatch(body); m != nil {
			page = "t/acme/timeline?" + html.UnescapeString(m[1])
		}
	}
	assert.Len(t, seen, 230)
	assert.Greater(t, pages, 4)
}

// TestPartlySupersededIsStruckInPart checks that of a memory of which one matter ended, only that matter is struck through.
func TestPartlySupersededIsStruckInPart(t *testing.T) {
	t.Parallel()
	s := serve(t)
	sub := s.tenant(t, "acme").Sub("u")
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, m := range []contextmem.Memory{{ID: "told", Text: "I'm vegetarian and allergic to hazelnuts.", UserName: "Noor", Infer: true}, {ID: "home", Text: "I live in Leeds."}, {ID: "later", Text: "I'm not vegetarian any more.", UserName: "Noor"}, {ID: "moved", Text: "I live in York now."}} {
		m.Time = day.AddDate(0, i, 0)
		_, err := sub.Remember(t.Context(), m)
		require.NoError(t, err)
		require.NoError(t, sub.WaitRefined(t.Context()))
	}
	require.NoError(t, sub.Supersede(t.Context(), "home", "moved", "moved"))
	v := s.visitor(t, contextmem.KeySpec{Owner: "ops"})
	for _, page := range []string{"t/acme/timeline?sub=u", "t/acme/item?sub=u&class=memory&id=told"} {
		status, body := v.get(t, page)
		require.Equal(t, http.StatusOK, status)
		body = html.UnescapeString(body)
		assert.Contains(t, body, "<s>I'm vegetarian</s> and allergic to hazelnuts.", page)
		assert.Contains(t, body, "<q><bdi>I'm vegetarian</bdi></q>", page)
	}
	_, body := v.get(t, "t/acme/timeline?sub=u")
	assert.Contains(t, body, "<s>I live in Leeds.</s>")
}
