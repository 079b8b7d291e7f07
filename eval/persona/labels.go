package persona

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Labels answers in place of the language model of package judge/llm from the labels of personas. It shows the result that a model
// without errors would reach.
func Labels(all ...*Persona) http.Handler {
	truth := map[[2]string]bool{}
	for _, p := range all {
		text := map[string]string{}
		for _, d := range p.Docs {
			text[d.ID] = said(d.Text)
		}
		for _, r := range p.Replaces {
			truth[[2]string{text[r[0]], text[r[1]]}] = true
		}
	}
	// A statement is a turn or a part of one.
	turns := map[string][]string{}
	for k := range truth {
		turns[k[0]] = append(turns[k[0]], k[1])
	}
	replaced := func(later, earlier string) bool {
		later, earlier = said(later), said(earlier)
		for _, e := range turns[later] {
			if strings.Contains(e, earlier) {
				return true
			}
		}
		return false
	}
	type statement struct {
		Index int    `json:"index"`
		Text  string `json:"text"`
	}
	type verdict struct {
		Earlier    int     `json:"earlier"`
		Confidence float64 `json:"confidence"`
	}
	type scene struct {
		Index    int       `json:"index"`
		Replaced []verdict `json:"replaced"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Messages []struct {
				Content string `json:"content"`
			} `json:"messages"`
		}
		var asked struct {
			Scenes []struct {
				Index   int         `json:"index"`
				Later   statement   `json:"later"`
				Earlier []statement `json:"earlier"`
			} `json:"scenes"`
		}
		if json.NewDecoder(r.Body).Decode(&req) != nil || len(req.Messages) != 2 || json.Unmarshal([]byte(req.Messages[1].Content), &asked) != nil {
			http.Error(w, "not what judge/llm sends", http.StatusBadRequest)
			return
		}
		scenes := []scene{}
		for _, s := range asked.Scenes {
			out := scene{Index: s.Index, Replaced: []verdict{}}
			for _, e := range s.Earlier {
				if replaced(s.Later.Text, e.Text) {
					out.Replaced = append(out.Replaced, verdict{e.Index, .95})
				}
			}
			scenes = append(scenes, out)
		}
		content, err := json.Marshal(map[string]any{"scenes": scenes})
		if err != nil {
			http.Error(w, "cannot answer", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": string(content)}}}}) // the client is gone
	})
}
