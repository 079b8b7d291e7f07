package httpapi

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// Checks over REST that two names that only a hidden document equates stay two entities for callers who may not read it.
func TestHiddenNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	open := []contextmem.File{
		{ID: "open", Name: "open.txt", Data: []byte("Bob Lind works at Zorblax Industries."), Time: at},
		{ID: "lives", Name: "lives.txt", Data: []byte("Robert Kilimanjaro works at Quux Foundry. Robert Kilimanjaro lives in Bergen."), Time: at.AddDate(1, 0, 0)},
	}
	hidden := contextmem.File{ID: "hidden", Name: "hidden.txt", Data: []byte("Robert Kilimanjaro, also known as Bob Lind, likes chess."), Time: at.AddDate(2, 0, 0), ACL: []string{"boss"}}
	for sub, files := range map[string][]contextmem.File{"all": append(open[:2:2], hidden), "part": open} {
		_, err := f.svc.Tenant("acme").Sub(sub).AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: files})
		require.NoError(t, err)
	}
	require.NoError(t, f.svc.Drain(t.Context()))
	varies := regexp.MustCompile(`"score_parts":{[^}]*}|"(request_id|timestamp|created_at|collection|sub_tenant_id)":"[^"]*"|(ent|rel)_\d+|[0-9a-f]{32}|\d+\.\d+|\d{4}-\d\d-\d\dT[^"]*|"[a-z_]*(ms|score)":[^,}]*`)
	for _, x := range []struct{ method, path, body string }{
		{"GET", "/context/relations?type=knowledge&acl=%s", ""},
		{"GET", "/context/relations?type=knowledge&id=lives&acl=%s", ""},
		{"GET", "/ext/entities?type=knowledge&acl=%s", ""},
		{"POST", "/ext/facts", `"type":"knowledge","history":true,"acl":["%s"]`},
		{"POST", "/ext/facts", `"type":"knowledge","subject":"Bob Lind","history":true,"acl":["%s"]`},
		{"POST", "/ext/profile", `"type":"knowledge","subject":"Robert Kilimanjaro","acl":["%s"]`},
		{"POST", "/ext/profile", `"type":"knowledge","subject":"Bob Lind","acl":["%s"]`},
		{"POST", "/query", `"type":"knowledge","query":"Where does Bob Lind work?","mode":"thinking","graph_context":true,"acl":["%s"]`},
		{"POST", "/query", `"type":"knowledge","query":"Where does Robert Kilimanjaro work?","mode":"fast","graph_context":true,"acl":["%s"]`},
	} {
		t.Run(x.method, func(t *testing.T) {
			answer := func(sub, who string) string {
				path, body := x.path, x.body
				if body == "" {
					path = fmt.Sprintf(path, who) + "&database=acme&collection=" + sub
				} else {
					body = `{"database":"acme","collection":"` + sub + `",` + fmt.Sprintf(body, who) + `}`
				}
				w := f.do(t, x.method, path, body)
				require.Equal(t, 200, w.Code, "%s %s: %s", x.method, x.path, w.Body)
				seen := map[string]string{}
				return varies.ReplaceAllStringFunc(w.Body.String(), func(s string) string {
					if !strings.HasPrefix(s, "ent_") {
						return "~"
					}
					if seen[s] == "" {
						seen[s] = fmt.Sprintf("entity-%d", len(seen))
					}
					return seen[s]
				})
			}
			require.Equal(t, answer("part", "guest"), answer("all", "guest"), "%s %s %s", x.method, x.path, x.body)
			if strings.Contains(x.path, "&id=") {
				return // it is told of one document
			}
			require.NotEqual(t, answer("all", "guest"), answer("all", "boss"), "%s %s %s", x.method, x.path, x.body)
		})
	}
}
