package pdf

import (
	"bytes"
	"encoding/xml"
	"strings"
	"time"
)

const (
	// maxMetaBytes bounds the bytes of the title and of the author.
	maxMetaBytes = 1000
	// maxXMPTokens bounds the XML tokens that are read of an XMP packet.
	maxXMPTokens = 20_000
)

// metadata fills in the metadata from the document information, and from the XMP packet where that has none.
func (d *document) metadata(catalog dict, res *Result) {
	info := d.dict(d.trailer["Info"])
	res.Title = metaText(textString(d.str(info["Title"])))
	res.Author = metaText(textString(d.str(info["Author"])))
	res.Created = parseDate(string(d.str(info["CreationDate"])))
	res.Modified = parseDate(string(d.str(info["ModDate"])))
	if res.Title != "" && res.Author != "" && !res.Created.IsZero() || d.stop != nil {
		return
	}
	st := d.stream(catalog["Metadata"])
	if st == nil {
		return
	}
	partial := d.partial
	data, err := d.decode(st)
	d.partial = partial // damage here loses no text
	if err == nil {
		xmp(data, res)
	}
}

// metaText cleans a metadata value.
func metaText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxMetaBytes {
		s = strings.ToValidUTF8(s[:maxMetaBytes], "")
	}
	return s
}

// parseDate reads "D:YYYYMMDDHHmmSSOHH'mm'" (ISO 32000-1, 7.9.4), in which only the year is required. It returns the zero time for other
// forms.
func parseDate(s string) time.Time {
	s = strings.TrimPrefix(strings.TrimSpace(s), "D:")
	digits := 0
	for digits < len(s) && digits < 14 && isDigit(s[digits]) {
		digits++
	}
	const full = "20060102150405"
	if digits < 4 || digits%2 != 0 {
		return time.Time{}
	}
	t, err := time.Parse(full[:digits], s[:digits])
	if err != nil {
		return time.Time{}
	}
	zone := strings.NewReplacer("'", "", ":", "").Replace(s[digits:])
	if len(zone) >= 3 && (zone[0] == '+' || zone[0] == '-') {
		if len(zone) < 5 {
			zone = zone[:3] + "00"
		}
		if z, err := time.Parse("-0700", zone[:5]); err == nil {
			_, offset := z.Zone()
			t = t.Add(-time.Duration(offset) * time.Second)
		}
	}
	return t.UTC()
}

// xmp fills empty fields from an XMP packet (ISO 16684-1): dc:title, dc:creator, xmp:CreateDate, xmp:ModifyDate.
func xmp(data []byte, res *Result) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict = false
	var path []string
	set := func(key, value string) {
		value = metaText(value)
		switch {
		case value == "":
		case key == "title" && res.Title == "":
			res.Title = value
		case key == "creator" && res.Author == "":
			res.Author = value
		case key == "CreateDate" && res.Created.IsZero():
			res.Created = parseISODate(value)
		case key == "ModifyDate" && res.Modified.IsZero():
			res.Modified = parseISODate(value)
		}
	}
	for range maxXMPTokens {
		tok, err := dec.Token()
		if err != nil {
			return
		}
		switch t := tok.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			for _, a := range t.Attr {
				set(a.Name.Local, a.Value)
			}
		case xml.EndElement:
			if len(path) > 0 {
				path = path[:len(path)-1]
			}
		case xml.CharData:
			for i := len(path) - 1; i >= 0 && i >= len(path)-3; i-- {
				if n := path[i]; n != "li" && n != "Alt" && n != "Seq" && n != "Bag" {
					set(n, string(t))
					break
				}
			}
		}
	}
}

// parseISODate reads the date forms of XMP. It returns the zero time for other forms.
func parseISODate(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
