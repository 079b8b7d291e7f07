package wire

import "github.com/contextmem/contextmem/content"

// Version is the JSON form of a version of an item.
type Version struct {
	Version    int      `json:"version"`
	Title      string   `json:"title"`
	Session    string   `json:"session_id"`
	Time       string   `json:"timestamp"`
	Stored     string   `json:"stored_at"`
	Replaced   string   `json:"replaced_at"`
	ReplacedBy int      `json:"replaced_by"` // number of the next version; 0 for the newest
	Cause      string   `json:"cause"`       // add, edit or restore
	Size       int64    `json:"size"`
	Text       string   `json:"text"`
	Lost       bool     `json:"lost"`    // the content was too large to keep
	Changes    []Change `json:"changes"` // compared with the version before
}

// Change is a run of sentences that one or both versions contain.
type Change struct {
	Kind string `json:"kind"` // same, added or removed
	Text string `json:"text"`
}

// OfVersions converts the versions of an item to their JSON form.
func OfVersions(list []content.PastVersion) []Version {
	return each(list, func(v *content.PastVersion) Version {
		return Version{v.Version, v.Title, v.Session, Time(v.Time), Time(v.Stored), Time(v.Replaced), v.ReplacedBy, string(v.Cause), v.SizeBytes, v.Text, v.Lost,
			each(v.Changes, func(d *content.Difference) Change { return Change{string(d.Kind), d.Text} })}
	})
}

// Versions converts the JSON form to versions.
func Versions(list []Version) []content.PastVersion {
	return read(list, func(v *Version) content.PastVersion {
		return content.PastVersion{
			Version: v.Version, Title: v.Title, Session: v.Session, Time: ReadTime(v.Time), Stored: ReadTime(v.Stored), Replaced: ReadTime(v.Replaced), ReplacedBy: v.ReplacedBy,
			Cause: content.Replacement(v.Cause), SizeBytes: v.Size, Text: v.Text, Lost: v.Lost,
			Changes: read(v.Changes, func(d *Change) content.Difference {
				return content.Difference{Kind: content.DifferenceKind(d.Kind), Text: d.Text}
			}),
		}
	})
}
