#define _GNU_SOURCE
#include "names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "buffer.h"

#define WALK_BYTES (4u << 20) /* all windows of one walk */
#define LEAST_BYTES (4u << 10) /* minimum of one window, however deep the walk */
#define ENTRIES_SIZE (32u << 10)

static int by_name(const void *a, const void *b, void *names) {
  return strcmp((char *)names + *(const uint32_t *)a, (char *)names + *(const uint32_t *)b);
}

/* Names being collected. */
struct names {
  struct buffer bytes, offsets;
  uint32_t count;
  char *limit; /* names after this one are not part of the window; NULL for no limit */
};

static void names_add(struct names *n, const char *name) {
  put32(&n->offsets, (uint32_t)n->bytes.end);
  put(&n->bytes, name, strlen(name) + 1);
  n->count++;
}

static uint32_t *names_sort(struct names *n) {
  uint32_t *offsets = (uint32_t *)(void *)n->offsets.data;
  if (n->count > 1) qsort_r(offsets, n->count, sizeof *offsets, by_name, n->bytes.data);
  return offsets;
}

/* Keeps only the smallest names. */
static void names_trim(struct names *n, uint32_t keep) {
  uint32_t *offsets = names_sort(n);
  struct names kept = {0};
  for (uint32_t i = 0; i < keep; i++) names_add(&kept, (char *)n->bytes.data + offsets[i]);
  kept.limit = strdup((char *)n->bytes.data + offsets[keep - 1]);
  if (!kept.limit) die("out of memory");
  free(n->limit);
  release(&n->bytes);
  release(&n->offsets);
  *n = kept;
}

/* Adds a name to the window, or notes that there is one after it. Returns false when no more names are needed. */
static bool names_take(struct names *n, const struct window *w, const char *name, bool *more) {
  if (!w->any && w->after && strcmp(name, w->after) <= 0) return true;
  if (n->limit && strcmp(name, n->limit) > 0) {
    *more = true;
    return true;
  }
  if (w->any && n->count > 0 && filled(&n->bytes) >= w->max_bytes) {
    *more = true;
    return false;
  }
  names_add(n, name);
  if (w->any || n->count < 2) return true;
  bool many = n->count >= 2 * w->max_names, large = filled(&n->bytes) > w->max_bytes;
  if (many || large) {
    uint32_t half = n->count / 2;
    names_trim(n, half < w->max_names ? half : (uint32_t)w->max_names);
    *more = true;
  }
  return true;
}

static bool is_shown(const char *name, bool hidden) {
  return name[0] != '.' || (hidden && name[1] && (name[1] != '.' || name[2]));
}

static void window_drop(struct level *l) {
  free(l->names);
  free(l->offsets);
  l->names = NULL;
  l->offsets = NULL;
  l->count = l->next = 0;
  l->size = 0;
}

/* Turns the collected names into the window of a level, using no more memory than needed. */
static void window_set(struct level *l, struct names *n, const struct window *w) {
  if (!w->any && n->count > w->max_names) {
    names_trim(n, (uint32_t)w->max_names);
    l->more = true;
  }
  if (!w->any) names_sort(n);
  free(n->limit);
  l->count = n->count;
  l->size = n->bytes.end + n->offsets.end;
  if (l->count == 0) return;
  l->names = realloc(n->bytes.data, n->bytes.end);
  l->offsets = realloc(n->offsets.data, n->offsets.end);
  if (!l->names || !l->offsets) die("out of memory");
}

int level_open(struct level *l, int dir, const char *name, bool follow, bool hidden) {
  *l = (struct level){.fd = -1, .other_fd = -1, .hidden = hidden};
  l->fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
  return l->fd < 0 ? -1 : 0;
}

int level_read(struct level *l, const struct window *w) {
  struct names found = {0};
  char *entries = malloc(ENTRIES_SIZE);
  if (!entries) die("out of memory");
  l->more = false;
  l->total = 0;
  long n = lseek(l->fd, 0, SEEK_SET) < 0 ? -1 : 0;
  bool reading = n == 0;
  while (reading && (n = syscall(SYS_getdents64, l->fd, entries, ENTRIES_SIZE)) > 0) {
    for (long at = 0; at < n && reading;) {
      struct dirent64 *entry = (struct dirent64 *)(entries + at);
      at += entry->d_reclen;
      if (!is_shown(entry->d_name, l->hidden)) continue;
      l->total++;
      reading = names_take(&found, w, entry->d_name, &l->more);
    }
  }
  int error = errno;
  free(entries);
  window_drop(l);
  window_set(l, &found, w);
  errno = error;
  return n < 0 ? -1 : 0;
}

void level_close(struct level *l) {
  shut(&l->fd);
  shut(&l->other_fd);
  window_drop(l);
}

struct level *push(struct stack *s) {
  if (s->depth == s->cap) {
    s->cap = s->cap ? s->cap * 2 : 16;
    s->levels = realloc(s->levels, s->cap * sizeof *s->levels);
    if (!s->levels) die("out of memory");
  }
  return &s->levels[s->depth++];
}

struct level *top(struct stack *s) { return &s->levels[s->depth - 1]; }

void pop(struct stack *s) { level_close(&s->levels[--s->depth]); }

void drop_stack(struct stack *s) {
  while (s->depth > 0) pop(s);
  free(s->levels);
}

size_t window_bytes(const struct stack *s) {
  size_t used = 0;
  for (size_t i = 0; i < s->depth; i++) used += s->levels[i].size;
  size_t half = used < WALK_BYTES ? (WALK_BYTES - used) / 2 : 0;
  return half > LEAST_BYTES ? half : LEAST_BYTES;
}

int level_next(const struct stack *s, struct level *l, uint64_t max, const char **name) {
  *name = NULL;
  if (l->next == l->count && l->more) {
    char *after = strdup(level_name(l, l->count - 1));
    if (!after) die("out of memory");
    struct window w = {.after = after, .max_names = max, .max_bytes = window_bytes(s)};
    int failed = level_read(l, &w);
    free(after);
    if (failed) return -1;
  }
  if (l->next < l->count) *name = level_name(l, l->next++);
  return 0;
}
