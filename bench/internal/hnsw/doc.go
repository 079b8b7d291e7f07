// Package hnsw wraps the C++ library hnswlib. It needs the build tag hnswlib.
package hnsw
