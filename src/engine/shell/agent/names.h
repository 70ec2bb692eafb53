/* The names in a directory, window by window: bounded memory however many there are. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One open directory and the window of its names that is in memory. */
struct level {
  int fd;
  char *names;
  uint32_t *offsets, count, next;
  size_t size; /* bytes of the window */
  bool hidden; /* whether names that begin with a dot are included */
  bool more; /* there are names behind this window */
  uint64_t total; /* names in the whole directory when it was last read */
  size_t path_length; /* of the path below which these names are */
  int other_fd; /* the copy's side */
  mode_t mode;
};

struct window {
  const char *after; /* only names behind this one; NULL for all */
  uint64_t most_names;
  size_t most_bytes;
  bool any; /* whichever names come first, unsorted and without `after`: for a directory that is being emptied */
};

/* Opens a directory (through a link only if `follow`) without reading it. */
int level_open(struct level *l, int dir, const char *name, bool follow, bool hidden);
/* Reads the next window: its names are the smallest behind `after`, sorted bytewise. */
int level_read(struct level *l, const struct window *w);
void level_close(struct level *l);

static inline const char *level_name(const struct level *l, uint32_t i) { return l->names + l->offsets[i]; }

/* The directories from the start of a walk to where it is. */
struct stack {
  struct level *levels;
  size_t depth, cap;
};

struct level *push(struct stack *s);
struct level *top(struct stack *s);
void pop(struct stack *s);
void drop_stack(struct stack *s);
/* Bytes that the next window of a walk may have, so that all windows of a walk together stay bounded. */
size_t window_bytes(const struct stack *s);
/* Sets `*name` to the next name in order, or to NULL behind the last; reads further windows of at most `most` names. */
int level_next(const struct stack *s, struct level *l, uint64_t most, const char **name);

#endif
