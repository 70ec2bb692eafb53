/* Removes entries and creates directories. */
#define _GNU_SOURCE
#include "files.h"

/* Reads some of the remaining names of a directory that is being emptied. */
static int read_left(const struct stack *s, struct level *l) {
  struct window w = {.max_bytes = window_bytes(s), .any = true};
  return level_read(l, &w);
}

/* Enters a directory to empty it, unless it is on another file system. */
static int remove_enter(struct stack *s, int dir, const char *name, dev_t device, struct failure *f) {
  struct stat facts;
  struct level below;
  if (fstatat(dir, name, &facts, AT_SYMLINK_NOFOLLOW) < 0) return fail(f, "remove");
  if (facts.st_dev != device) return fail_with(f, EBUSY, "remove");
  if (level_open(&below, dir, name, false, true) < 0) return fail(f, "remove");
  int failed = read_left(s, &below) < 0 ? fail(f, "remove") : 0;
  *push(s) = below;
  return failed;
}

/* Removes the contents of a directory, but not the directory itself. */
static int remove_below(int dir, const char *name, dev_t device, uint32_t *removed, struct failure *f) {
  struct stack stack = {0};
  int failed = remove_enter(&stack, dir, name, device, f);
  while (!failed && stack.depth > 0) {
    struct level *l = top(&stack);
    if (l->next == l->count && l->more) {
      if (read_left(&stack, l) < 0) failed = fail(f, "remove");
    } else if (l->next == l->count) {
      pop(&stack);
      if (stack.depth == 0) break;
      l = top(&stack);
      if (unlinkat(l->fd, level_name(l, l->next++), AT_REMOVEDIR) < 0) failed = fail(f, "remove");
      else ++*removed;
    } else if (unlinkat(l->fd, level_name(l, l->next), 0) == 0 || errno == ENOENT) {
      l->next++;
      ++*removed;
    } else if (errno != EISDIR && errno != EPERM)
      failed = fail(f, "remove");
    else
      failed = remove_enter(&stack, l->fd, level_name(l, l->next), device, f);
  }
  drop_stack(&stack);
  return failed;
}

int remove_entry(int dir, const char *name, bool recursive, uint32_t *removed, struct failure *f) {
  struct stat s;
  if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) < 0) return fail(f, "remove");
  if (!S_ISDIR(s.st_mode)) {
    if (unlinkat(dir, name, 0) < 0) return fail(f, "remove");
    ++*removed;
    return 0;
  }
  if (is_mount(dir, name, &s)) return fail_with(f, EBUSY, "remove");
  if (recursive && remove_below(dir, name, s.st_dev, removed, f) < 0) return -1;
  if (unlinkat(dir, name, AT_REMOVEDIR) < 0) return fail(f, "remove");
  ++*removed;
  return 0;
}

int op_remove(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  (void)j;
  struct location p;
  char *path = get_text(r);
  bool recursive = get8(r);
  uint32_t removed = 0;
  int failed = location_open(&p, path, f);
  if (!failed && !*p.name) failed = fail_with(f, EBUSY, "remove");
  if (!failed) failed = remove_entry(p.dir, p.name, recursive, &removed, f);
  location_close(&p);
  put32(response, removed);
  return failed;
}

int op_mkdir(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  (void)j;
  char *path = get_text(r);
  bool parents = get8(r);
  mode_t mode = get32(r) & 07777;
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') path[--n] = 0;
  int failed = n == 0 ? fail_with(f, ENOENT, "mkdir") : parents ? make_dirs(path, 0755, f) : 0;
  bool created = false;
  if (!failed && mkdir(path, mode) == 0) created = true;
  else if (!failed) {
    struct stat s;
    int error = errno;
    bool existing = stat(path, &s) == 0;
    if (existing && !(parents && S_ISDIR(s.st_mode))) failed = fail_with(f, EEXIST, "mkdir");
    else if (!existing) failed = fail_with(f, error, "mkdir");
  }
  if (created && chmod(path, mode) < 0) failed = fail(f, "chmod");
  put8(response, created);
  free(path);
  return failed;
}
