package backend

import (
	"cmp"
	"slices"
	"time"
)

// DeliveryClaim is a request to a [Registry] for deliveries to send. PerURL and PerOrg limit deliveries that are leased
// at the same time; live leases of all senders count.
type DeliveryClaim struct {
	Now, LeaseUntil time.Time
	Token           string   // token of the sender, which will hold the leases
	Limit           int      // greatest number of deliveries to claim; below 1: none
	PerURL, PerOrg  int      // greatest number of leased deliveries of one URL, and of one organisation; 0: no limit
	Skip            []string // URLs whose deliveries are not claimed
}

// DueDelivery is a delivery that [DeliveryClaim.Choose] may choose.
type DueDelivery struct {
	Num      int64
	Org, URL string
	Due      time.Time
}

// Choose returns the candidates to claim, in order. underWay are the deliveries with live
// leases. The organisation with the fewest claimed deliveries comes first, so that no
// organisation waits for the long queue of another. Within an organisation the delivery that
// is due earliest comes first. Every Registry uses Choose, so that all are equally fair.
func (c *DeliveryClaim) Choose(candidates, underWay []DueDelivery) []DueDelivery {
	byURL, byOrg := map[string]int{}, map[string]int{}
	for _, d := range underWay {
		byURL[d.URL]++
		byOrg[d.Org]++
	}
	candidates = slices.Clone(candidates)
	slices.SortFunc(candidates, func(a, b DueDelivery) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Num, b.Num)) })
	queues, order := map[string][]DueDelivery{}, []string(nil) // queues by organisation, each by due time; order has the organisations, the one due earliest first
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
