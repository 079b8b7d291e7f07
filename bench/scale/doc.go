// Package scale simulates the traffic of a million tenants against the service, over a database with latency.
//
// The service is the real one, with its open tenants, workers and indexes. The database is an in-memory store with simulated latencies and a
// bounded number of connections. Time is that of testing/synctest: a store call takes its simulated latency, computation takes none. So the
// simulation shows the share of tenants found open, the number of database calls and the total waiting time, but not the processor load.
//
//	go test ./scale -run Traffic -v -args -operations 20000 -open 1000
package scale
