package parse

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestChatExports uses files in the form that the programs write, with invented names and words.
func TestChatExports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ name, data, want, title string }{
		"ChatGPT": {"conversations.json", `[{"title":"Leeks","create_time":1712664000.5,"current_node":"d","mapping":{
			"root":{"id":"root","message":null,"parent":null,"children":["a"]},
			"a":{"id":"a","message":{"author":{"role":"system"},"create_time":null,"content":{"content_type":"text","parts":["Be kind."]}},"parent":"root","children":["b"]},
			"b":{"id":"b","message":{"author":{"role":"user"},"create_time":1712664001,"content":{"content_type":"multimodal_text","parts":[{"asset_pointer":"x"},"When do I sow leeks?"]}},"parent":"a","children":["c","d"]},
			"c":{"id":"c","message":{"author":{"role":"assistant"},"create_time":1712664002,"content":{"content_type":"text","parts":["Never."]}},"parent":"b","children":[]},
			"d":{"id":"d","message":{"author":{"role":"assistant"},"create_time":1712664003,"content":{"content_type":"text","parts":["# In March\n\n- indoors"]}},"parent":"b","children":[]}}}]`,
			"# Leeks\n\n[2024-04-09 12:00:01] user: When do I sow leeks?\n\n[2024-04-09 12:00:03] assistant: \\# In March\n\n- indoors", "Leeks"},
		"Claude": {"conversations.json", `[{"uuid":"1","name":"Hedges","chat_messages":[
			{"uuid":"2","sender":"human","text":"","content":[{"type":"text","text":"Which hedge?"}],"created_at":"2024-04-09T12:00:00.123456Z","attachments":[{"file_name":"plan.txt","extracted_content":"north wall"}]},
			{"uuid":"3","sender":"assistant","text":"Beech.","created_at":"2024-04-09T12:00:05Z","attachments":[]}]},
			{"uuid":"4","name":"Bees","chat_messages":[{"sender":"human","text":"Do they sting?","created_at":"2024-04-10T12:00:00Z"}]}]`,
			"# Hedges\n\n[2024-04-09 12:00:00] human: Which hedge?\n\nplan.txt\n\nnorth wall\n\n[2024-04-09 12:00:05] assistant: Beech.\n\n# Bees\n\n[2024-04-10 12:00:00] human: Do they sting?", ""},
		"Slack": {"2024-04-09.json", `[{"type":"message","user":"U1","text":"Hello <@U2>, see <https://x.example|the plan> &amp; more","ts":"1712664000.000100","user_profile":{"real_name":"Ann Field"}},
			{"type":"message","subtype":"bot_message","username":"bot","text":"Done","ts":"1712664060.000200"}]`,
			"[2024-04-09 12:00:00] Ann Field: Hello U2, see the plan & more\n\n[2024-04-09 12:01:00] bot: Done", ""},
		"Telegram": {"result.json", `{"name":"Garden club","type":"private_group","id":1,"messages":[
			{"id":1,"type":"service","date":"2024-04-09T11:59:00","date_unixtime":"1712663940","actor":"Ann","action":"create_group","text":""},
			{"id":2,"type":"message","date":"2024-04-09T14:00:00","date_unixtime":"1712664000","from":"Ann","from_id":"user1","text":["See ",{"type":"link","text":"x.example"}," now"]},
			{"id":3,"type":"message","date":"2024-04-09T14:01:00","date_unixtime":"1712664060","from":"Ben","from_id":"user2","text":"Thanks"}]}`,
			"# Garden club\n\n[2024-04-09 12:00:00] Ann: See x.example now\n\n[2024-04-09 12:01:00] Ben: Thanks", "Garden club"},
		"all of Telegram": {"result.json", `{"about":"x","chats":{"about":"y","list":[{"name":"Ann","type":"personal_chat","id":1,"messages":[{"id":2,"type":"message","date":"2024-04-09T14:00:00","date_unixtime":"1712664000","from":"Ann","from_id":"user1","text":"Hello"}]},
			{"name":"Ben","type":"personal_chat","id":2,"messages":[{"id":3,"type":"message","date":"2024-04-09T14:01:00","date_unixtime":"1712664060","from":"Ben","from_id":"user2","text":"Hi"}]}]}}`,
			"# Ann\n\n[2024-04-09 12:00:00] Ann: Hello\n\n# Ben\n\n[2024-04-09 12:01:00] Ben: Hi", ""},
		"Discord": {"chat.json", `{"guild":{"id":"1","name":"Club"},"channel":{"id":"2","type":"GuildTextChat","name":"general"},"dateRange":{},"messages":[
			{"id":"3","type":"Default","timestamp":"2024-04-09T14:00:00+02:00","content":"Look","author":{"id":"4","name":"ann","nickname":"Ann"},"attachments":[{"fileName":"bed.png"}]}],"messageCount":1}`,
			"# Club / general\n\n[2024-04-09 12:00:00] Ann: Look\n\nbed.png", "Club / general"},
		"WhatsApp of Android": {"WhatsApp Chat with Ann.txt", "4/9/24, 2:00 PM - Messages and calls are end-to-end encrypted.\n4/9/24, 2:01 PM - Ann: Hello\nagain: you\n4/13/24, 12:02 AM - Ben: <Media omitted>\n4/13/24, 12:03 AM - Ann: Bye\n",
			"# Ann\n\n[2024-04-09 14:00:00] Messages and calls are end-to-end encrypted.\n\n[2024-04-09 14:01:00] Ann: Hello\nagain: you\n\n[2024-04-13 00:02:00] Ben: <Media omitted>\n\n[2024-04-13 00:03:00] Ann: Bye", "Ann"},
		"WhatsApp of iOS": {"_chat.txt", "[09.04.24, 14:00:00] Ann: Hallo\n\u200e[09.04.24, 14:00:05] Ben: \u200eBild weggelassen\n[10.04.24, 08:00:00] Ann: Ja\n",
			"[2024-04-09 14:00:00] Ann: Hallo\n\n[2024-04-09 14:00:05] Ben: Bild weggelassen\n\n[2024-04-10 08:00:00] Ann: Ja", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := mustParse(t, c.name, "", []byte(c.data))
			assert.Equal(t, c.want, doc.Text)
			assert.Equal(t, c.title, doc.Title)
			assert.Empty(t, doc.Partial)
			if doc.Meta["format"] != "WhatsApp" { // its times have no zone
				assert.Equal(t, time.UTC, doc.Created.Location())
				assert.Equal(t, 2024, doc.Created.Year())
			}
		})
	}
	for name, data := range map[string]string{
		"another shape": `[{"mapping":[1,2],"create_time":"x"}]`,
		"cut off":       `[{"title":"Leeks","create_time":1,"mapping":{"a":{"message":{"author":{"role":"user"},"content":{"parts":["When do I sow leeks?"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, mustParse(t, "a.json", "", []byte(data)).Text, "mapping", name)
		})
	}
	assert.NotEmpty(t, mustParse(t, "a.json", "", []byte(`[{"title":"Leeks","create_time":1,"mapping":{"a":{"message":{"author":{"role":"user"`)).Partial)
	assert.Equal(t, "text/plain", mustParse(t, "log.txt", "", []byte("4/9/24, 2:00 - started\n4/9/24, 2:01 - ended\n4/9/24, 2:02 - idle\n")).MediaType)
}
