package backend

import (
	"cmp"
	"slices"
	"time"
)

// DeliveryClaim is a request to a [Registry] for deliveries to send. Deliveries with live leases of any holder count
// towards PerURL and PerOrg.
type DeliveryClaim struct {
	Now, LeaseUntil time.Time
	Token           string   // of the sender
	Limit           int      // deliveries; below 1: none
	PerURL, PerOrg  int      // deliveries of one URL, of one organisation, that are sweeping at once; 0: no bound
	Skip            []string // URLs that get nothing now
}

// DueDelivery is a candidate of [DeliveryClaim.Choose].
type DueDelivery struct {
	Num      int64
	Org, URL string
	Due      time.Time
}

// Choose returns the candidates that a claim takes, in order. The organisation with the
// fewest claimed deliveries comes first, so that no organisation waits for the long queue
// of another. In an organisation the earliest due come first. All Registries use Choose and are therefore equally fair.
func (c *DeliveryClaim) Choose(candidates, underWay []DueDelivery) []DueDelivery {
	byURL, byOrg := map[string]int{}, map[string]int{}
	for _, d := range underWay {
		byURL[d.URL]++
		byOrg[d.Org]++
	}
	candidates = slices.Clone(candidates)
	slices.SortFunc(candidates, func(a, b DueDelivery) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Num, b.Num)) })
	queues, order := map[string][]DueDelivery{}, []string(nil) // of organisations, those due earliest first
	for _, d := range candidates {
		if slices.Contains(c.Skip, d.URL) {
			continue
		}
		if queues[d.Org] == nil {
			order = append(order, d.Org)
		}
		queues[d.Org] = append(queues[d.Org], d)
	}
	var out []DueDelivery
	for len(out) < c.Limit {
		best := -1
		var head DueDelivery
		for i, org := range order {
			q := queues[org]
			for len(q) > 0 && c.PerURL > 0 && byURL[q[0].URL] >= c.PerURL {
				q = q[1:]
			}
			queues[org] = q
			if len(q) == 0 || c.PerOrg > 0 && byOrg[org] >= c.PerOrg {
				continue
			}
			if best < 0 || cmp.Or(cmp.Compare(byOrg[org], byOrg[order[best]]), q[0].Due.Compare(head.Due), cmp.Compare(q[0].Num, head.Num)) < 0 {
				best, head = i, q[0]
			}
		}
		if best < 0 {
			break
		}
		out = append(out, head)
		queues[head.Org] = queues[head.Org][1:]
		byURL[head.URL]++
		byOrg[head.Org]++
	}
	return out
}
