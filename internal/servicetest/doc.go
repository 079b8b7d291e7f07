// Package servicetest has what tests of a whole service share: services in memory and in directories, embedders, stores and providers that a test
// steers, and short forms of the calls that most tests make. The tests are in internal/behaviour and beside the root package.
package servicetest
