package text

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

func TestSubtitles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want, partial string }{
		"names before the words": {"1\n00:00:01,000 --> 00:00:02,000\nANNA: Good morning.\n\n2\n00:00:02,000 --> 00:00:03,000\n- Ben: Morning.\n", "[00:00:01] ANNA: Good morning.\n\n[00:00:02] Ben: Morning.", ""},
		"rolling captions":       {"WEBVTT\n\n00:01.000 --> 00:02.000\nthe first line\n\n00:02.000 --> 00:03.000\nthe first line\nand the second\n", "[00:00:01] the first line and the second", ""},
		"tags and styles":        {"1\n01:00:01,000 --> 01:00:02,000\n{\\an8}<i>softly</i> <c.red>now</c>\n", "[01:00:01] softly now", ""},
		"notes and regions":      {"WEBVTT - Talk\n\nNOTE not said\n\nSTYLE\n::cue { color: red }\n\nid\n00:01.000 --> 00:02.000 align:start\nsaid\n", "[00:00:01] said", ""},
		"no times":               {"Just words.\n", "Just words.", "not subtitles: they have no times, and were kept as plain text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := ParseSubtitles(t.Context(), document.Input{Data: []byte(tt.in)}, document.Limits{}.WithDefaults(0))
			require.NoError(t, err)
			assert.Equal(t, tt.want, doc.Text)
			assert.Equal(t, tt.partial, doc.Partial)
		})
	}
}

func TestCards(t *testing.T) {
	t.Parallel()
	lim := document.Limits{}.WithDefaults(0)
	in := "BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:Sow\n  peas\nDUE;TZID=Europe/Berlin:20260402T073000\nATTENDEE;CN=\"Miller; Ida\";ROLE=CHAIR:mailto:ida@garden.example\nDTSTART;VALUE=DATE:20260401\nEND:VTODO\nEND:VCALENDAR\n"
	doc, err := ParseCalendar(t.Context(), document.Input{Data: []byte(in)}, lim)
	require.NoError(t, err)
	assert.Equal(t, "## Sow peas\n\nStart: 2026-04-01\nDue: 2026-04-02 07:30 (Europe/Berlin)\nAttendee: Miller; Ida <ida@garden.example>", doc.Text)
	assert.Empty(t, doc.Partial)

	doc, err = ParseCalendar(t.Context(), document.Input{Data: []byte(in[:60])}, lim)
	require.NoError(t, err)
	assert.Contains(t, doc.Text, "## Sow peas")
	assert.NotEmpty(t, doc.Partial, "the entry has no end")

	doc, err = ParseContacts(t.Context(), document.Input{Data: []byte("BEGIN:VCARD\nitem1.EMAIL;TYPE=home:a@b.example\nN:Miller;Ida;;;\nADR:;;High Street 5;Town;;12345;\nEND:VCARD\n")}, lim)
	require.NoError(t, err)
	assert.Equal(t, "## Miller Ida\n\nMail: a@b.example\nAddress: High Street 5, Town, 12345", doc.Text)

	doc, err = ParseContacts(t.Context(), document.Input{Data: []byte("no card")}, lim)
	require.NoError(t, err)
	assert.NotEmpty(t, doc.Partial)
}
