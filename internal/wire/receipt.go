package wire

import "github.com/contextmem/contextmem/content"

// Receipt is the JSON form of an erasure's receipt. It keeps all that the signature covers.
type Receipt struct {
	ID        string   `json:"id"`
	Org       string   `json:"org_id"`
	Database  string   `json:"database"`
	UID       string   `json:"database_uid"`
	Sub       string   `json:"collection"` // empty: all collections of the database
	IDs       []string `json:"ids"`
	User      string   `json:"user_name"`
	Began     string   `json:"began_at"`
	Ended     string   `json:"ended_at"`
	Items     int      `json:"items"`
	Events    int      `json:"events"`
	Feedback  int      `json:"feedback"`
	Remains   []string `json:"remains"`
	Key       string   `json:"key_id"`
	Signature string   `json:"signature"`
}

// OfReceipt returns the JSON form of a receipt.
func OfReceipt(r *content.EraseReceipt) Receipt {
	return Receipt{ID: r.ID, Org: r.Org, Database: r.Tenant, UID: r.TenantUID, Sub: r.Sub, IDs: texts(r.IDs), User: r.User, Began: Time(r.Began), Ended: Time(r.Ended),
		Items: r.Items, Events: r.Events, Feedback: r.Feedback, Remains: texts(r.Remains), Key: r.Key, Signature: r.Signature}
}

// Receipt returns the receipt of which r is the JSON form.
func (r *Receipt) Receipt() content.EraseReceipt {
	out := content.EraseReceipt{ID: r.ID, Org: r.Org, Tenant: r.Database, TenantUID: r.UID, Sub: r.Sub, User: r.User, Began: ReadTime(r.Began), Ended: ReadTime(r.Ended),
		Items: r.Items, Events: r.Events, Feedback: r.Feedback, Key: r.Key, Signature: r.Signature}
	if len(r.IDs) > 0 {
		out.IDs = r.IDs
	}
	if len(r.Remains) > 0 {
		out.Remains = r.Remains
	}
	return out
}

// texts returns a list that is not nil.
func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
