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
		"YouTube": {"WEBVTT\nKind: captions\nLanguage: en\n\n00:00:00.160 --> 00:00:02.389 align:start position:0%\n \nwe<00:00:00.480><c> plant</c><00:00:00.800><c> peas</c>\n\n00:00:02.389 --> 00:00:02.399 align:start position:0%\nwe plant peas\n \n\n00:00:02.399 --> 00:00:04.500 align:start position:0%\nwe plant peas\nin<00:00:02.800><c> April</c>\n",
			"[00:00:00] we plant peas in April", ""},
		"Zoom": {"WEBVTT\n\n1\n00:00:03.120 --> 00:00:05.000\nIda Miller-Voss (Garden Ltd): Can you hear me?\n\n2\n00:00:05.100 --> 00:00:06.000\n田中: はい。\n\n3\n00:00:06.100 --> 00:00:07.000\n田中: Yes: at 10:30, see https://garden.example.\n",
			"[00:00:03] Ida Miller-Voss (Garden Ltd): Can you hear me?\n\n[00:00:05] 田中: はい。 Yes: at 10:30, see https://garden.example.", ""},
		"Teams": {"WEBVTT\n\n4d2c-11/23-0\n00:00:04.010 --> 00:00:06.500\n<v Adele Vance>So the peas\nare in.</v>\n\n4d2c-11/31-0\n00:00:06.600 --> 00:00:08.000\n<v Ben &amp; Ida>Good.</v>\n",
			"[00:00:04] Adele Vance: So the peas are in.\n\n[00:00:06] Ben & Ida: Good.", ""},
		"two voices in a line":   {"WEBVTT\n\n00:01.000 --> 00:02.000\n<v.loud Mary>Hi.</v> <v Roger>Hello.</v>\n", "[00:00:01] Mary: Hi.\n\n[00:00:01] Roger: Hello.", ""},
		"speakers in brackets":   {"1\n00:00:01,000 --> 00:00:02,000\n[SPEAKER_01]: One.\n\n2\n00:00:02,000 --> 00:00:03,000\n>> BEN: Two.\n", "[00:00:01] SPEAKER_01: One.\n\n[00:00:02] BEN: Two.", ""},
		"no name":                {"1\n00:00:01,000 --> 00:00:02,000\nRemember: peas first.\n\n2\n00:00:20,000 --> 00:00:21,000\nThen beans.\n", "[00:00:01] Remember: peas first.\n\n[00:00:20] Then beans.", ""},
		"an empty line in a cue": {"1\n00:00:01,000 --> 00:00:02,000\nOne\n\ntwo.\n\n2\n00:00:02,000 --> 00:00:03,000\nThree.\n", "[00:00:01] One two. Three.", ""},
		"a note between cues":    {"WEBVTT\n\n00:01.000 --> 00:02.000\nOne.\n\nNOTE\nnot said\nnor this\n\nSTYLE\n::cue(b) {\n  color: red;\n}\n\nintro\n00:02.000 --> 00:03.000 line:0 position:20% size:60% align:start\nTwo.\n", "[00:00:01] One. Two.", ""},
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

// TestCutSubtitles checks that a file that ends within the lines before the words of a cue says so, and that no part of these lines becomes speech.
func TestCutSubtitles(t *testing.T) {
	t.Parallel()
	const first, said = "1\n00:00:01,000 --> 00:00:04,000\nHello there\n", "[00:00:01] Hello there"
	const vtt = "WEBVTT\n\n00:01.000 --> 00:04.000\nHello there\n"
	for name, tt := range map[string]struct {
		in, want string
		cut      bool
	}{
		"after the number":          {first + "\n2\n", said, true},
		"in the first time":         {first + "\n2\n00:00", said, true},
		"after the first time":      {first + "\n2\n00:00:05,000", said, true},
		"in the arrow":              {first + "\n2\n00:00:05,000 -", said, true},
		"in the second time":        {first + "\n2\n00:00:05,000 --> 00:0", said, true},
		"of WebVTT":                 {vtt + "\n00:05.000 --> 00:0", said, true},
		"of WebVTT, in the arrow":   {vtt + "\n00:00:05.000 --", said, true},
		"whole":                     {first + "\n2\n00:00:05,000 --> 00:00:06,000\nBye\n", said + " Bye", false},
		"after the times":           {first + "\n2\n00:00:05,000 --> 00:00:06,000", said, true},
		"after the line of times":   {first + "\n2\n00:00:05,000 --> 00:00:06,000\n", said, true},
		"a cue without words":       {first + "\n2\n00:00:05,000 --> 00:00:06,000\n\n", said, false},
		"of Windows without words":  {first + "\n2\n00:00:05,000 --> 00:00:06,000\r\n\r\n", said, false},
		"cues without words":        {first + "\n2\n00:00:05,000 --> 00:00:06,000\n\n3\n00:00:07,000 --> 00:00:08,000\n", said, false},
		"a year is said":            {first + "\n1984\n", said + " 1984", false},
		"a number is said":          {vtt + "\n2\n", said + " 2", false},
		"a time is said":            {vtt + "\n10:30\n", said + " 10:30", false},
		"a number in a cue":         {first + "\n2\n00:00:05,000 --> 00:00:06,000\n3\n", said + " 3", false},
		"a score after a number":    {first + "\n2\nto 3\n", said + " 2 to 3", false},
		"only a time":               {"WEBVTT\n\n00:05.000 --> 00:0", "WEBVTT\n\n00:05.000 --> 00:0", true},
		"one block without a blank": {"1\n00:00:01,000 --> 00:00:04,000\n12", "[00:00:01] 12", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := ParseSubtitles(t.Context(), document.Input{Data: []byte(tt.in)}, document.Limits{}.WithDefaults(0))
			require.NoError(t, err)
			assert.Equal(t, tt.want, doc.Text)
			assert.Equal(t, tt.cut, doc.Partial != "", doc.Partial)
		})
	}
}

// TestMalformedTimes checks that a timing line that cannot be read makes subtitles partial, is no speech, and leaves the speech after it.
func TestMalformedTimes(t *testing.T) {
	t.Parallel()
	const first, last = "1\n00:00:01,000 --> 00:00:04,000\nHello there.\n\n", "\n\n3\n00:00:20,000 --> 00:00:21,000\nBye.\n"
	for _, tt := range []struct {
		times string
		bad   bool
	}{
		{"00:00:0x,000 --> 00:00:06,000", true}, {"00:00:05,000 -> 00:00:06,000", true}, {"00:00:05 --> 00:00:06", true}, {"00;00;05,000 --> 00:00:06,000", true},
		{"00:00:05,000 --> 00:00:o6,000 align:start", true}, {"00:00:05,000-->00:00:06,000", false}, {"0:0:05,000 --> 00:00:06,000", false},
	} {
		doc, err := ParseSubtitles(t.Context(), document.Input{Data: []byte(first + "2\n" + tt.times + "\nIn between." + last)}, document.Limits{}.WithDefaults(0))
		require.NoError(t, err)
		assert.Equal(t, "[00:00:01] Hello there. In between.\n\n[00:00:20] Bye.", doc.Text, tt.times)
		assert.Equal(t, tt.bad, doc.Partial != "", tt.times)
	}
	doc, err := ParseSubtitles(t.Context(), document.Input{Data: []byte("WEBVTT\n\n00:0x.000 --> 00:02.000\nHello.\n\n00:05.000 --> 00:06.000\nfrom 3.5 --> 4.5\n2019 --> 2020 it grew\n\na --> b\n")}, document.Limits{}.WithDefaults(0))
	require.NoError(t, err)
	assert.Equal(t, "[00:00:00] Hello.\n\n[00:00:05] from 3.5 --> 4.5 2019 --> 2020 it grew a --> b", doc.Text)
	assert.Contains(t, doc.Partial, "1 lines")
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
