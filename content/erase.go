package content

import "time"

// EraseRequest names what to erase, by one of its fields.
type EraseRequest struct {
	IDs  []string // items of all classes; at most 10000
	User string   // memories with exactly this Memory.UserName
	All  bool     // everything in the sub-tenant, or in all of the tenant
}

// EraseReceipt describes what was erased. The service keeps no copy of it. Service.VerifyReceipt reports whether a receipt is
// from the service and unchanged. A receipt stays valid if it is encoded as JSON and decoded.
type EraseReceipt struct {
	ID        string // random
	Org       string
	Tenant    string
	TenantUID string
	Sub       string    // stored name of the sub-tenant; empty: all sub-tenants of the tenant
	IDs       []string  // as in the request
	User      string    // as in the request
	Began     time.Time // UTC
	Ended     time.Time // UTC; after this time no byte of the erased data was in a file of the deployment, except as named in Remains
	Items     int       // items erased, with their chunks, vectors, content and graph
	Events    int       // events and webhook deliveries about them
	Feedback  int       // records of feedback, with the score changes that they caused
	Remains   []string  `json:",omitempty"` // places that the service cannot erase and that may still have the data, such as the log of a database; nil: none is known
	Key       string    // names the key of the signature
	Signature string    // HMAC-SHA256 over the rest as JSON, in hexadecimal digits
}
