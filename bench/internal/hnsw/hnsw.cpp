//go:build hnswlib

#include <hnswlib/hnswlib.h>

#include "hnsw.h"

using Graph = hnswlib::HierarchicalNSW<float>;

struct hnsw_index {
	hnswlib::InnerProductSpace space;
	Graph graph;
	hnsw_index(size_t dim, size_t rows, size_t m, size_t ef) : space(dim), graph(&space, rows, m, ef, 100) {}
	hnsw_index(size_t dim, const char *path) : space(dim), graph(&space, std::string(path)) {}
};

hnsw_index *hnsw_new(size_t dim, size_t rows, size_t m, size_t ef) {
	try {
		return new hnsw_index(dim, rows, m, ef);
	} catch (...) {
		return nullptr;
	}
}

hnsw_index *hnsw_load(size_t dim, const char *path) {
	try {
		return new hnsw_index(dim, path);
	} catch (...) {
		return nullptr;
	}
}

int hnsw_save(hnsw_index *x, const char *path) {
	try {
		x->graph.saveIndex(path);
		return 0;
	} catch (...) {
		return -1;
	}
}

int hnsw_add(hnsw_index *x, const float *v, size_t row) {
	try {
		x->graph.addPoint(v, row);
		return 0;
	} catch (...) {
		return -1;
	}
}

void hnsw_set_ef(hnsw_index *x, size_t ef) { x->graph.setEf(ef); }

int hnsw_search(hnsw_index *x, const float *q, size_t k, size_t *rows) {
	try {
		auto found = x->graph.searchKnn(q, k);
		int n = (int)found.size();
		for (int i = n - 1; i >= 0; i--) {
			rows[i] = found.top().second;
			found.pop();
		}
		return n;
	} catch (...) {
		return -1;
	}
}

void hnsw_free(hnsw_index *x) { delete x; }
