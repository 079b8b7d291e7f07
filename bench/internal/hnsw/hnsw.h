#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hnsw_index hnsw_index;

hnsw_index *hnsw_new(size_t dim, size_t rows, size_t m, size_t ef);
hnsw_index *hnsw_load(size_t dim, const char *path);
int hnsw_save(hnsw_index *x, const char *path);
int hnsw_add(hnsw_index *x, const float *v, size_t row);
void hnsw_set_ef(hnsw_index *x, size_t ef);
// Writes at most k rows, nearest first, and returns how many; negative: an exception.
int hnsw_search(hnsw_index *x, const float *q, size_t k, size_t *rows);
void hnsw_free(hnsw_index *x);

#ifdef __cplusplus
}
#endif
