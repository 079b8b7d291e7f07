//go:build cgo && (linux || darwin || freebsd)

// A file system for SQLite that lays a cipher between it and the default one. What SQLite sees as a file is kept in blocks, each sealed by
// itself and OVERHEAD bytes longer than what it holds:
//
//	main database, journals, temporary files   blocks of 4096 bytes
//	write-ahead log                            its header of 32 bytes, then blocks of a frame: 24 bytes and a page of 4096
//
// The last block may be shorter. Pages and frames are thus sealed and written as a whole; whatever else SQLite writes is read, changed and sealed
// again. The files of locks and of the log's index hold no content and stay as they are.

#include "vfs.h"
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

// SQLite is linked in by its driver.
extern sqlite3_vfs *sqlite3_vfs_find(const char *) __attribute__((weak));
extern int sqlite3_vfs_register(sqlite3_vfs *, int) __attribute__((weak));
extern int sqlite3_vfs_unregister(sqlite3_vfs *) __attribute__((weak));

typedef sqlite3_int64 i64;

enum { OVERHEAD = 40, PAGE = 4096, WAL_HEADER = 32, FRAME_HEADER = 24 };
enum { KIND_OTHER = 0, KIND_WAL = 1 };

typedef struct {
  sqlite3_vfs base;
  sqlite3_vfs *real;
  int cipher;
  char name[64];
} sealed_vfs;

typedef struct {
  sqlite3_file base;
  sqlite3_file *real;
  int cipher;
  int kind;
  int first; // size of the first block; 0: as the others
  int block;
  unsigned char *plain;  // a block
  unsigned char *stored; // a sealed one
  unsigned char *pend;   // the front of a block that waits for its rest
  i64 pend_block;        // -1: none
  int pend_len;
} sealed_file;

#define REAL(f) (((sealed_file *)(f))->real)

static i64 offset_of(sealed_file *f, i64 blk) {
  if (f->first == 0) return blk * (f->block + OVERHEAD);
  return blk == 0 ? 0 : f->first + OVERHEAD + (blk - 1) * (f->block + OVERHEAD);
}

static int size_of(sealed_file *f, i64 blk) { return f->first != 0 && blk == 0 ? f->first : f->block; }

static i64 start_of(sealed_file *f, i64 blk) {
  if (f->first == 0) return blk * f->block;
  return blk == 0 ? 0 : f->first + (blk - 1) * f->block;
}

static void locate(sealed_file *f, i64 at, i64 *blk, int *in) {
  if (f->first != 0 && at < f->first) {
    *blk = 0;
    *in = (int)at;
    return;
  }
  at -= f->first;
  *blk = at / f->block + (f->first != 0);
  *in = (int)(at % f->block);
}

static i64 logical_size(sealed_file *f, i64 stored) {
  i64 blk, rest;
  if (f->first != 0) {
    if (stored < f->first + OVERHEAD) return stored > OVERHEAD ? stored - OVERHEAD : 0;
    stored -= f->first + OVERHEAD;
  }
  blk = stored / (f->block + OVERHEAD);
  rest = stored % (f->block + OVERHEAD);
  return f->first + blk * f->block + (rest > OVERHEAD ? rest - OVERHEAD : 0);
}

static int all_zero(const unsigned char *b, int n) { return b[0] == 0 && memcmp(b, b + 1, n - 1) == 0; }

// read_block reads a block into to and sets how many bytes it has.
static int read_block(sealed_file *f, i64 blk, unsigned char *to, int *len) {
  int want = size_of(f, blk) + OVERHEAD;
  i64 off = offset_of(f, blk);
  int rc = f->real->pMethods->xRead(f->real, f->stored, want, off);
  *len = 0;
  if (rc == SQLITE_IOERR_SHORT_READ) {
    i64 size;
    rc = f->real->pMethods->xFileSize(f->real, &size);
    if (rc != SQLITE_OK) return rc;
    if (size - off <= OVERHEAD) return SQLITE_OK;
    if (size - off < want) want = (int)(size - off);
  } else if (rc != SQLITE_OK) {
    return rc;
  }
  *len = want - OVERHEAD;
  if (f->kind == KIND_WAL && all_zero(f->stored, want)) { // space that was made ahead
    memset(to, 0, *len);
    return SQLITE_OK;
  }
  return sealedOpen(f->cipher, f->kind, blk, f->stored, want, to) ? SQLITE_IOERR_DATA : SQLITE_OK;
}

static int write_block(sealed_file *f, i64 blk, const unsigned char *from, int len) {
  if (sealedSeal(f->cipher, f->kind, blk, (void *)from, len, f->stored)) return SQLITE_IOERR_DATA;
  return f->real->pMethods->xWrite(f->real, f->stored, len + OVERHEAD, offset_of(f, blk));
}

// change_block writes n bytes into a block and keeps its others.
static int change_block(sealed_file *f, i64 blk, int in, const unsigned char *from, int n) {
  int len;
  int rc = read_block(f, blk, f->plain, &len);
  if (rc != SQLITE_OK) return rc;
  if (len < in) memset(f->plain + len, 0, in - len);
  memcpy(f->plain + in, from, n);
  return write_block(f, blk, f->plain, len > in + n ? len : in + n);
}

static int flush(sealed_file *f) {
  i64 blk = f->pend_block;
  if (blk < 0) return SQLITE_OK;
  f->pend_block = -1;
  return change_block(f, blk, 0, f->pend, f->pend_len);
}

static int sealed_close(sqlite3_file *file) {
  sealed_file *f = (sealed_file *)file;
  int rc = flush(f);
  int rc2 = f->real->pMethods->xClose(f->real);
  free(f->plain);
  f->plain = 0;
  return rc != SQLITE_OK ? rc : rc2;
}

static int read_range(sqlite3_file *file, void *buf, int amt, i64 at) {
  sealed_file *f = (sealed_file *)file;
  unsigned char *to = buf;
  int rc = flush(f);
  if (rc != SQLITE_OK) return rc;
  while (amt > 0) {
    i64 blk;
    int in, len, n;
    locate(f, at, &blk, &in);
    n = size_of(f, blk) - in;
    if (n > amt) n = amt;
    if (in == 0 && n == size_of(f, blk)) {
      rc = read_block(f, blk, to, &len);
      // The end of a log may be torn. SQLite finds it by the checksums of frames, which it reads whole for that.
      if (rc == SQLITE_IOERR_DATA && f->kind == KIND_WAL) {
        memset(to, 0, len);
        rc = SQLITE_OK;
      }
      if (rc != SQLITE_OK) return rc;
    } else {
      rc = read_block(f, blk, f->plain, &len);
      if (rc != SQLITE_OK) return rc;
      if (len > in) memcpy(to, f->plain + in, len - in < n ? len - in : n);
    }
    if (len < in + n) {
      int got = len > in ? len - in : 0;
      memset(to + got, 0, amt - got);
      return SQLITE_IOERR_SHORT_READ;
    }
    to += n;
    at += n;
    amt -= n;
  }
  return SQLITE_OK;
}

// SQLite cuts extended codes where it reads the schema; SQLITE_CORRUPT says the same everywhere.
static int sealed_read(sqlite3_file *file, void *buf, int amt, i64 at) {
  int rc = read_range(file, buf, amt, at);
  return rc == SQLITE_IOERR_DATA ? SQLITE_CORRUPT : rc;
}

static int sealed_write(sqlite3_file *file, const void *buf, int amt, i64 at) {
  sealed_file *f = (sealed_file *)file;
  const unsigned char *from = buf;
  while (amt > 0) {
    i64 blk;
    int in, n, rc = SQLITE_OK;
    locate(f, at, &blk, &in);
    int size = size_of(f, blk);
    n = size - in;
    if (n > amt) n = amt;
    if (f->pend_block >= 0 && (f->pend_block != blk || in != f->pend_len)) {
      rc = flush(f);
      if (rc != SQLITE_OK) return rc;
    }
    if (f->pend_block == blk) {
      memcpy(f->pend + in, from, n);
      f->pend_len += n;
      if (f->pend_len == size) {
        f->pend_block = -1;
        rc = write_block(f, blk, f->pend, size);
      }
    } else if (in == 0 && n == size) {
      rc = write_block(f, blk, from, n);
    } else if (f->kind == KIND_WAL && in == 0 && n == FRAME_HEADER && blk > 0) { // its page comes next
      memcpy(f->pend, from, n);
      f->pend_block = blk;
      f->pend_len = n;
    } else {
      rc = change_block(f, blk, in, from, n);
    }
    if (rc != SQLITE_OK) return rc;
    from += n;
    at += n;
    amt -= n;
  }
  return SQLITE_OK;
}

static int sealed_truncate(sqlite3_file *file, i64 size) {
  sealed_file *f = (sealed_file *)file;
  i64 blk, off;
  int in, len;
  int rc = flush(f);
  if (rc != SQLITE_OK) return rc;
  locate(f, size, &blk, &in);
  off = offset_of(f, blk);
  if (in > 0 && f->kind != KIND_WAL) { // what a log loses here has been moved into the database
    rc = read_block(f, blk, f->plain, &len);
    if (rc != SQLITE_OK) return rc;
    if (len < in) memset(f->plain + len, 0, in - len);
    rc = write_block(f, blk, f->plain, in);
    if (rc != SQLITE_OK) return rc;
    off += in + OVERHEAD;
  }
  return f->real->pMethods->xTruncate(f->real, off);
}

static int sealed_sync(sqlite3_file *file, int flags) {
  int rc = flush((sealed_file *)file);
  return rc != SQLITE_OK ? rc : REAL(file)->pMethods->xSync(REAL(file), flags);
}

static int sealed_file_size(sqlite3_file *file, i64 *size) {
  sealed_file *f = (sealed_file *)file;
  i64 stored;
  int rc = f->real->pMethods->xFileSize(f->real, &stored);
  if (rc != SQLITE_OK) return rc;
  *size = logical_size(f, stored);
  if (f->pend_block >= 0) {
    i64 end = start_of(f, f->pend_block) + f->pend_len;
    if (end > *size) *size = end;
  }
  return SQLITE_OK;
}

static int sealed_lock(sqlite3_file *f, int l) { return REAL(f)->pMethods->xLock(REAL(f), l); }
static int sealed_unlock(sqlite3_file *f, int l) { return REAL(f)->pMethods->xUnlock(REAL(f), l); }
static int sealed_check_lock(sqlite3_file *f, int *out) { return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out); }

static int sealed_control(sqlite3_file *f, int op, void *arg) {
  switch (op) {
  case SQLITE_FCNTL_SIZE_HINT: // sizes as SQLite sees them are not those of the file
  case SQLITE_FCNTL_CHUNK_SIZE:
  case SQLITE_FCNTL_MMAP_SIZE:
    return SQLITE_NOTFOUND;
  }
  return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}

static int sealed_sector(sqlite3_file *f) { return REAL(f)->pMethods->xSectorSize(REAL(f)); }

static int sealed_characteristics(sqlite3_file *f) {
  return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f)) & (SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN);
}

static int sealed_shm_map(sqlite3_file *f, int pg, int size, int extend, void volatile **pp) {
  return REAL(f)->pMethods->xShmMap(REAL(f), pg, size, extend, pp);
}
static int sealed_shm_lock(sqlite3_file *f, int off, int n, int flags) { return REAL(f)->pMethods->xShmLock(REAL(f), off, n, flags); }
static void sealed_shm_barrier(sqlite3_file *f) { REAL(f)->pMethods->xShmBarrier(REAL(f)); }
static int sealed_shm_unmap(sqlite3_file *f, int del) { return REAL(f)->pMethods->xShmUnmap(REAL(f), del); }

static const sqlite3_io_methods methods = {
    2,
    sealed_close,
    sealed_read,
    sealed_write,
    sealed_truncate,
    sealed_sync,
    sealed_file_size,
    sealed_lock,
    sealed_unlock,
    sealed_check_lock,
    sealed_control,
    sealed_sector,
    sealed_characteristics,
    sealed_shm_map,
    sealed_shm_lock,
    sealed_shm_barrier,
    sealed_shm_unmap,
    0,
    0,
};

#define ORIG(v) (((sealed_vfs *)(v))->real)

static int sealed_open(sqlite3_vfs *v, const char *name, sqlite3_file *file, int flags, int *out) {
  sealed_vfs *s = (sealed_vfs *)v;
  sealed_file *f = (sealed_file *)file;
  int rc;
  if (flags & SQLITE_OPEN_SUPER_JOURNAL) return s->real->xOpen(s->real, name, file, flags, out);
  memset(f, 0, sizeof(*f));
  f->real = (sqlite3_file *)(f + 1);
  f->real->pMethods = 0;
  rc = s->real->xOpen(s->real, name, f->real, flags, out);
  if (rc != SQLITE_OK) {
    if (f->real->pMethods != 0) f->real->pMethods->xClose(f->real);
    return rc;
  }
  f->cipher = s->cipher;
  f->block = PAGE;
  f->pend_block = -1;
  if (flags & SQLITE_OPEN_WAL) {
    f->kind = KIND_WAL;
    f->first = WAL_HEADER;
    f->block = FRAME_HEADER + PAGE;
  }
  f->plain = malloc(3 * (size_t)f->block + OVERHEAD);
  if (f->plain == 0) {
    f->real->pMethods->xClose(f->real);
    return SQLITE_NOMEM;
  }
  f->pend = f->plain + f->block;
  f->stored = f->pend + f->block;
  f->base.pMethods = &methods;
  return SQLITE_OK;
}

static int sealed_delete(sqlite3_vfs *v, const char *name, int sync) { return ORIG(v)->xDelete(ORIG(v), name, sync); }
static int sealed_access(sqlite3_vfs *v, const char *name, int flags, int *out) { return ORIG(v)->xAccess(ORIG(v), name, flags, out); }
static int sealed_full(sqlite3_vfs *v, const char *name, int n, char *out) { return ORIG(v)->xFullPathname(ORIG(v), name, n, out); }
static void *sealed_dlopen(sqlite3_vfs *v, const char *name) { return ORIG(v)->xDlOpen(ORIG(v), name); }
static void sealed_dlerror(sqlite3_vfs *v, int n, char *msg) { ORIG(v)->xDlError(ORIG(v), n, msg); }
static void (*sealed_dlsym(sqlite3_vfs *v, void *h, const char *sym))(void) { return ORIG(v)->xDlSym(ORIG(v), h, sym); }
static void sealed_dlclose(sqlite3_vfs *v, void *h) { ORIG(v)->xDlClose(ORIG(v), h); }
static int sealed_random(sqlite3_vfs *v, int n, char *out) { return ORIG(v)->xRandomness(ORIG(v), n, out); }
static int sealed_sleep(sqlite3_vfs *v, int us) { return ORIG(v)->xSleep(ORIG(v), us); }
static int sealed_time(sqlite3_vfs *v, double *t) { return ORIG(v)->xCurrentTime(ORIG(v), t); }
static int sealed_last_error(sqlite3_vfs *v, int n, char *out) { return ORIG(v)->xGetLastError(ORIG(v), n, out); }
static int sealed_time64(sqlite3_vfs *v, i64 *t) { return ORIG(v)->xCurrentTimeInt64(ORIG(v), t); }

sqlite3_vfs *sealed_register(const char *name, int cipher) {
  sealed_vfs *s;
  sqlite3_vfs *real;
  if (!sqlite3_vfs_find || !sqlite3_vfs_register || !sqlite3_vfs_unregister) return 0;
  real = sqlite3_vfs_find(0);
  if (real == 0 || real->iVersion < 2) return 0;
  s = calloc(1, sizeof(*s));
  if (s == 0) return 0;
  s->real = real;
  s->cipher = cipher;
  strncpy(s->name, name, sizeof(s->name) - 1);
  s->base.iVersion = 2;
  s->base.szOsFile = (int)sizeof(sealed_file) + real->szOsFile;
  s->base.mxPathname = real->mxPathname;
  s->base.zName = s->name;
  s->base.xOpen = sealed_open;
  s->base.xDelete = sealed_delete;
  s->base.xAccess = sealed_access;
  s->base.xFullPathname = sealed_full;
  s->base.xDlOpen = sealed_dlopen;
  s->base.xDlError = sealed_dlerror;
  s->base.xDlSym = sealed_dlsym;
  s->base.xDlClose = sealed_dlclose;
  s->base.xRandomness = sealed_random;
  s->base.xSleep = sealed_sleep;
  s->base.xCurrentTime = sealed_time;
  s->base.xGetLastError = sealed_last_error;
  s->base.xCurrentTimeInt64 = sealed_time64;
  if (sqlite3_vfs_register(&s->base, 0) != SQLITE_OK) {
    free(s);
    return 0;
  }
  return &s->base;
}

void sealed_unregister(sqlite3_vfs *v) {
  sqlite3_vfs_unregister(v);
  free(v);
}
