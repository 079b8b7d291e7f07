// Package scale plays the traffic of a million tenants against the service, over a database that takes its time.
//
// The service is the real one, with its open tenants, workers and indexes. The database is memory behind latencies and a bounded number of connections, and
// time is that of testing/synctest: a store call takes as long as it is said to, the processor takes none. So it shows how many tenants are found
// open, how often the database is asked, and what waiting adds up to; it does not show what processors can do.
//
//	go test ./scale -run Traffic -v -args -operations 20000 -open 1000
package scale
