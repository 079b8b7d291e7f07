package content

import "time"

// EraseRequest names what to erase. With neither IDs nor User it is everything; at most one of them is given.
type EraseRequest struct {
	IDs  []string // items of all classes; at most 10000
	User string   // memories with this Memory.UserName
}

// EraseReceipt says what was erased. The service keeps no copy of it. Service.VerifyReceipt tells whether it is
// one of the service's and unchanged; JSON keeps it so.
type EraseReceipt struct {
	ID        string // random
	Org       string
	Tenant    string
	TenantUID string
	Sub       string    // as it is stored; empty: all sub-tenants of the tenant
	IDs       []string  // as in the request
	User      string    // as in the request
	Began     time.Time // UTC
	Ended     time.Time // UTC; from then on no byte of it was in a file of the deployment, beside what Remains names
	Items     int       // items erased, with their chunks, vectors, content and graph
	Events    int       // events and webhook deliveries about them
	Feedback  int       // records of feedback, and what they taught
	Remains   []string  `json:",omitempty"` // places out of reach that may still hold it, such as the log of a database; nil: none is known
	Key       string    // names the key of the signature
	Signature string    // HMAC-SHA256 over the rest as JSON, in hexadecimal digits
}
