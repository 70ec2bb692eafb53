/* Reads the names of a directory window by window, with limited memory for any number of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Open directory, and the window of its names in memory. */
struct level {
  int fd;
  char *names;
  uint32_t *offsets, count, next;
  size_t size; /* bytes of the window */
  bool hidden; /* whether names that begin with a dot are included */
  bool more; /* there are names after this window */
  uint64_t total; /* names in the whole directory when it was last read */
  size_t path_length; /* length of the path of this directory */
  int other_fd; /* the directory of the copy */
  mode_t mode;
};

struct window {
  const char *after; /* only names after this one; NULL for all */
  uint64_t max_names;
  size_t max_bytes;
  bool any; /* any names, unsorted and ignoring `after`: for emptying a directory */
};

/* Opens a directory (through a link only if `follow`) without reading it. */
int level_open(struct level *l, int dir, const char *name, bool follow, bool hidden);
/* Reads the next window: the smallest names after `after`, sorted bytewise. */
int level_read(struct level *l, const struct window *w);
void level_close(struct level *l);

static inline const char *level_name(const struct level *l, uint32_t i) { return l->names + l->offsets[i]; }

/* Directories from the start of a walk to its current position. */
struct stack {
  struct level *levels;
  size_t depth, cap;
};

struct level *push(struct stack *s);
struct level *top(struct stack *s);
void pop(struct stack *s);
void drop_stack(struct stack *s);
/* Returns the maximum size of the next window of a walk, so that all of its windows together stay limited. */
size_t window_bytes(const struct stack *s);
/* Sets `*name` to the next name in order, or NULL after the last; reads further windows of at most `max` names. */
int level_next(const struct stack *s, struct level *l, uint64_t max, const char **name);
