package wire

import "github.com/contextmem/contextmem/content"

// Version is what a version of an item says.
type Version struct {
	Version    int      `json:"version"`
	Title      string   `json:"title"`
	Session    string   `json:"session_id"`
	Time       string   `json:"timestamp"`
	Stored     string   `json:"stored_at"`
	Replaced   string   `json:"replaced_at"`
	ReplacedBy int      `json:"replaced_by"` // version; 0: none
	Cause      string   `json:"cause"`       // add, edit or restore
	Size       int64    `json:"size"`
	Text       string   `json:"text"`
	Lost       bool     `json:"lost"`    // its content was too large to be kept
	Changes    []Change `json:"changes"` // from the version before
}

// Change is a run of sentences of one version or of both.
type Change struct {
	Kind string `json:"kind"` // same, added or removed
	Text string `json:"text"`
}

// OfVersions returns the versions of an item as they are written.
func OfVersions(list []content.PastVersion) []Version {
	return each(list, func(v *content.PastVersion) Version {
		return Version{v.Version, v.Title, v.Session, Time(v.Time), Time(v.Stored), Time(v.Replaced), v.ReplacedBy, string(v.Cause), v.SizeBytes, v.Text, v.Lost,
			each(v.Changes, func(d *content.Difference) Change { return Change{string(d.Kind), d.Text} })}
	})
}

// Versions returns the versions that were read.
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
