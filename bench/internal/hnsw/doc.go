// Package hnsw drives the C++ library hnswlib, where the build tag of that name is set.
package hnsw
