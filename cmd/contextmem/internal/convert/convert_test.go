package convert

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/gob"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, b []byte) ([]Item, string) {
	t.Helper()
	items, format, err := Read("", "", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil })
	require.NoError(t, err)
	return items, format
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format, in string
		texts      []string // of memories, or of their pairs
		owner      string   // of the first
		session    string   // of the first
		time       string   // of the first
	}{
		"mem0 results": {"mem0", `{"results":[{"id":"a","memory":"Likes tea","user_id":"alice","run_id":"r1","created_at":"2024-07-01T10:00:00-07:00","metadata":{"k":"v"},"categories":["food"]},{"id":"b","memory":" "}]}`,
			[]string{"Likes tea"}, "alice", "r1", "2024-07-01T17:00:00Z"},
		"mem0 list": {"mem0", `[{"id":"a","memory":"Likes tea","agent_id":"bot"}]`, []string{"Likes tea"}, "bot", "", ""},
		"mcp": {"mcp", `{"type":"entity","name":"Ann","entityType":"person","observations":["Speaks Greek","Lives in Oslo"]}` + "\n" + `{"type":"relation","from":"Ann","to":"Acme","relationType":"works_at"}` + "\n",
			[]string{"Ann: Speaks Greek", "Ann: Lives in Oslo", "Ann works at Acme."}, "", "", ""},
		"zep": {"zep", `{"edges":[{"uuid":"u","fact":"Ann lived in Oslo.","valid_at":"2020-01-02T00:00:00Z","invalid_at":"2021-03-04T00:00:00Z","group_id":"g"}]}`,
			[]string{"Ann lived in Oslo (until 4 March 2021)."}, "g", "", "2020-01-02T00:00:00Z"},
		"langchain dict": {"langchain", `[{"type":"system","data":{"content":"Be nice."}},{"type":"human","data":{"content":"Hi"}},{"type":"ai","data":{"content":"Hello"}},{"type":"human","data":{"content":[{"type":"text","text":"Bye"}]}}]`,
			[]string{"Hi|Hello", "Bye|"}, "", "langchain-" + hash("Hi"), ""},
		"langchain dumpd": {"langchain", `[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"Hi"}},{"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"content":"Hello"}}]`,
			[]string{"Hi|Hello"}, "", "langchain-" + hash("Hi"), ""},
		"langchain sessions": {"langchain", `{"session_id":"s","messages":[{"type":"human","data":{"content":"Hi"}}]}`, []string{"Hi|"}, "", "langchain-s", ""},
		"chatgpt": {"chatgpt", `[{"title":"Trip","conversation_id":"c","current_node":"3","mapping":{"0":{"parent":null},"1":{"parent":"0","message":{"author":{"role":"user"},"create_time":1700000000.5,"content":{"parts":["Where to?",{"a":1}]}}},
			"2":{"parent":"1","message":{"author":{"role":"assistant"},"content":{"parts":["Rome."]}}},"x":{"parent":"1","message":{"author":{"role":"assistant"},"content":{"parts":["Discarded."]}}},"3":{"parent":"2","message":{"author":{"role":"user"},"content":{"parts":["Thanks."]}}}}}]`,
			[]string{"Where to?|Rome.", "Thanks.|"}, "", "chatgpt-c", "2023-11-14T22:13:20.5Z"},
		"claude": {"claude", `[{"uuid":"c","name":"Trip","chat_messages":[{"text":"Where to?","sender":"human","created_at":"2024-01-02T03:04:05Z"},{"text":"","sender":"assistant","content":[{"type":"text","text":"Rome."}]}]}]`,
			[]string{"Where to?|Rome."}, "", "claude-c", "2024-01-02T03:04:05Z"},
	} {
		t.Run(name, func(t *testing.T) {
			items, format := read(t, []byte(c.in))
			require.Equal(t, c.format, format, name)
			var texts []string
			ids := map[string]bool{}
			for _, it := range items {
				ids[it.Memory.ID] = true
				s := it.Memory.Text
				for _, p := range it.Memory.Pairs {
					s += p.User + "|" + p.Assistant
				}
				texts = append(texts, s)
			}
			require.Equal(t, c.texts, texts, name)
			require.Len(t, ids, len(items), name)
			require.Equal(t, c.owner, items[0].Owner, name)
			require.Equal(t, c.session, items[0].Memory.Session, name)
			if c.time != "" {
				require.Equal(t, c.time, items[0].Memory.Time.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"), name)
			}
			again, _ := read(t, []byte(c.in))
			require.Equal(t, items, again, "ids are the same every time")
		})
	}
}

func TestRelationsHaveGraphs(t *testing.T) {
	t.Parallel()
	items, _ := read(t, []byte(`{"type":"relation","from":"Ann","to":"Acme","relationType":"works_at"}`))
	require.Equal(t, "works at", items[0].Graph.Relations[0].Predicate)
}

func TestChromem(t *testing.T) {
	t.Parallel()
	type doc struct {
		ID        string
		Metadata  map[string]string
		Embedding []float32
		Content   string
	}
	type collection struct {
		Name      string
		Metadata  map[string]string
		Documents map[string]*doc
	}
	db := struct{ Collections map[string]*collection }{map[string]*collection{"c": {Name: "c", Documents: map[string]*doc{"1": {ID: "1", Content: "The sky is blue.", Metadata: map[string]string{"k": "v"}, Embedding: []float32{1}}}}}}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	require.NoError(t, gob.NewEncoder(z).Encode(db))
	require.NoError(t, z.Close())
	items, format := read(t, b.Bytes())
	require.Equal(t, "chromem", format)
	require.Len(t, items, 1)
	require.Equal(t, "The sky is blue.", string(items[0].File.Data))
	require.Equal(t, map[string]any{"k": "v"}, items[0].File.Additional)
}

func TestHistoryOfMem0(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "hist?ory%41.db")
	plain := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite3", plain)
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
		INSERT INTO history VALUES ('1','a',NULL,'Likes tea','ADD','2024-07-01T10:00:00-07:00',NULL,0,NULL,NULL),('2','a','Likes tea','Likes coffee','UPDATE','2024-07-01T10:00:00-07:00','2024-07-02T10:00:00-07:00',0,NULL,NULL),
		('3','b',NULL,'Has a dog','ADD','2024-07-01T10:00:00-07:00',NULL,0,NULL,NULL),('4','b','Has a dog',NULL,'DELETE',NULL,NULL,1,NULL,NULL)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, os.Rename(plain, name))
	items, format, err := Read(name, "", func() (io.ReadCloser, error) { return os.Open(name) })
	require.NoError(t, err)
	require.Equal(t, "mem0-sqlite", format)
	require.Len(t, items, 1)
	require.Equal(t, "Likes coffee", items[0].Memory.Text)
	require.Equal(t, "mem0-a", items[0].Memory.ID)
}

// TestMalformed checks that malformed input gives an error without any of its content.
func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "sesame", `{"sesame":1}`, `[{"id":"a","memory":"sesame"`, `[{"id":1,"memory":"sesame"}]`, `{"type":"entity","name":"sesame","observations":[1]}`, `[]`, "\x1f\x8bsesame"} {
		t.Run(in, func(t *testing.T) {
			_, _, err := Read("", "", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte(in))), nil })
			require.Error(t, err, in)
			require.NotContains(t, err.Error(), "sesame")
		})
	}
	for _, f := range Formats {
		_, _, err := Read("", f, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte("nonsense"))), nil })
		require.Error(t, err, f)
	}
}
