// Package behaviour has no code: its folders hold the tests of whole services, by what they are about. They call what users call, the root package, over a
// backend in memory or in a directory; packages beside them test their own parts.
//
//   - ingest: what is accepted, refused, read, retried and listed
//   - recall: hits and their order, filters, changes of the embedder
//   - memory: what holds now, facts, sessions, profiles
//   - graph: entities, merges, the context of a recall
//   - workspace: tenants and their isolation, export and import, erasing, closing
//   - durability: killed processes, damage, backups, verification
//   - delivery: connectors and webhooks
package behaviour
