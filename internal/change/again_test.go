package change

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

func TestRepeatedStatements(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, c := range []struct {
		earlier, later string
		apart          time.Duration
		want           bool
	}{
		{"I live in Lisbon.", "Oh, I live in Lisbon!", 90 * day, true},
		{"My code for the door is 4711.", "my code for the door is 4711", 10 * day, true},
		{"My code for the door is 4711.", "My code for the door is 4712.", 10 * day, false},
		{"I don't like tea.", "I like tea.", day, false},
		{"I ran ten kilometres.", "I ran ten kilometres.", 7 * day, false},
		{"I ran ten kilometres.", "So I ran ten kilometres!", time.Hour, true},
		{"I'm flying to Rome tomorrow.", "I'm flying to Rome tomorrow.", 30 * day, false},
		{"The oven is cleaned every Monday.", "the oven is cleaned every monday", 30 * day, true},
		{"Yes, please.", "Yes please", time.Hour, false},
		{"I'm a vegetarian.", "I am vegetarian", 90 * day, true},
		{"I don't like tea.", "I do not like tea, really.", 90 * day, true},
		{"I've got two cats.", "I have two cats", 90 * day, true},
		{"im living in Leeds", "I live in Leeds now.", 90 * day, true},
		{"My favourite colour is green.", "my favorite color is still green", 90 * day, true},
		{"My mum works nights.", "My mother works nights.", 90 * day, true},
		{"I can't eat nuts.", "I can eat nuts.", 90 * day, false},
		{"I have few friends.", "I have a few friends.", 90 * day, false},
		{"I live with Ana.", "I live without Ana.", 90 * day, false},
		{"Ana likes Bo.", "Bo likes Ana.", 90 * day, false},
		{"I'm from Leeds.", "I'm in Leeds.", 90 * day, false},
		{"My mother works nights.", "My father works nights.", 90 * day, false},
		{"I have two cats.", "I had two cats.", 90 * day, false},
		{"I'm not working on Fridays.", "I'm working on Fridays.", 90 * day, false},
		{"我住在里斯本的老城区。", "我住在里斯本的老城区", time.Hour, true},
	} {
		t.Run(c.later, func(t *testing.T) {
			t.Parallel()
			at := time.Date(2024, 5, 3, 9, 0, 0, 0, time.UTC)
			a := &statement{src: &backend.Source{Num: 1, Time: at}, text: c.earlier}
			b := &statement{src: &backend.Source{Num: 2, Time: at.Add(c.apart)}, text: c.later}
			for _, pair := range [][2]*statement{{b, a}, {a, b}} {
				out := make([]verdict, 1)
				consolidate(pair[0], []*statement{pair[1]}, out)
				assert.Equal(t, c.want, out[0].confidence >= Shown, "%+v", out[0])
				if c.want {
					assert.Equal(t, c.later, out[0].evidence)
				}
			}
		})
	}
}
