/* Reads facts, paths and directories. */
#define _GNU_SOURCE
#include "files.h"

int op_info(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  (void)j;
  char *path = get_text(r);
  bool follow = get8(r);
  struct stat s;
  int failed = fstatat(AT_FDCWD, path, &s, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0 ? fail(f, "stat") : 0;
  if (!failed) put_facts(response, &s, AT_FDCWD, path);
  free(path);
  return failed;
}

int op_realpath(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  (void)j;
  char *path = get_text(r), *real = realpath(path, NULL);
  if (real) put_string(response, real, strlen(real));
  else fail(f, "realpath");
  free(path);
  free(real);
  return real ? 0 : -1;
}

static int flush_entries(struct job *j, struct buffer *b, size_t least, struct failure *f) {
  if (filled(b) < least) return 0;
  int failed = job_send(j, RESULT, b->data + b->start, filled(b), f);
  consume(b, filled(b));
  return failed;
}

int op_list(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  char *path = get_text(r), *after = get_text(r);
  uint32_t limit = get32(r);
  bool hidden = get8(r);
  struct window w = {.after = *after ? after : NULL, .max_names = limit, .max_bytes = SIZE_MAX};
  struct level l;
  int failed = level_open(&l, AT_FDCWD, path, true, hidden) < 0 || level_read(&l, &w) < 0 ? fail(f, "list") : 0;
  free(path);
  free(after);
  struct buffer entries = {0};
  for (uint32_t i = 0; !failed && i < l.count; i++) {
    const char *name = level_name(&l, i);
    struct stat s;
    if (fstatat(l.fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0) continue;
    put_string(&entries, name, strlen(name));
    put_facts(&entries, &s, l.fd, name);
    failed = flush_entries(j, &entries, CHUNK / 2, f);
  }
  if (!failed) failed = flush_entries(j, &entries, 1, f);
  put32(response, l.total < UINT32_MAX ? (uint32_t)l.total : UINT32_MAX);
  put8(response, l.more);
  put_string(response, l.more ? level_name(&l, l.count - 1) : "", l.more ? strlen(level_name(&l, l.count - 1)) : 0);
  release(&entries);
  level_close(&l);
  return failed;
}

int walk_open(const struct stack *s, struct level *l, int dir, const char *name, bool follow, bool hidden, uint64_t max) {
  struct window w = {.max_names = max, .max_bytes = window_bytes(s)};
  if (level_open(l, dir, name, follow, hidden) < 0) return -1;
  if (level_read(l, &w) == 0) return 0;
  int error = errno;
  level_close(l);
  errno = error;
  return -1;
}

struct walk {
  struct stack stack;
  struct buffer entries, path;
  uint32_t max_depth;
  uint64_t left; /* remaining entries */
  bool hidden;
};

/* Sends one entry of a directory, and enters it if it is a directory within the depth limit. */
static void walk_entry(struct walk *w, const char *name) {
  struct level *l = top(&w->stack), below = {.fd = -1};
  struct stat s;
  if (fstatat(l->fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0) return;
  w->path.end = l->path_length;
  if (w->path.end > 0) put8(&w->path, '/');
  put(&w->path, name, strlen(name));
  uint8_t unread = 0;
  if (S_ISDIR(s.st_mode)) {
    if (w->stack.depth >= w->max_depth) unread = 2;
    else if (walk_open(&w->stack, &below, l->fd, name, false, w->hidden, w->left) < 0) unread = 1;
  }
  put_string(&w->entries, w->path.data, w->path.end);
  put32(&w->entries, (uint32_t)w->stack.depth);
  put8(&w->entries, unread);
  put_facts(&w->entries, &s, l->fd, name);
  w->left--;
  below.path_length = w->path.end;
  if (below.fd >= 0) *push(&w->stack) = below;
}

int op_walk(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  char *start = get_text(r);
  struct walk w = {.max_depth = get32(r)};
  w.left = get32(r);
  w.hidden = get8(r);
  bool cut = false;
  struct level first;
  int failed = walk_open(&w.stack, &first, AT_FDCWD, start, true, w.hidden, w.left + 1) < 0 ? fail(f, "list") : 0;
  free(start);
  if (!failed) *push(&w.stack) = first;
  while (!failed && w.stack.depth > 0 && !cut) {
    const char *name;
    if (j->cancelled) failed = fail_with(f, ECANCELED, "cancel");
    else if (level_next(&w.stack, top(&w.stack), w.left + 1, &name) < 0) failed = fail(f, "list");
    else if (!name) pop(&w.stack);
    else if (w.left == 0) cut = true;
    else {
      walk_entry(&w, name);
      failed = flush_entries(j, &w.entries, CHUNK / 2, f);
    }
  }
  if (!failed) failed = flush_entries(j, &w.entries, 1, f);
  put8(response, cut);
  release(&w.entries);
  release(&w.path);
  drop_stack(&w.stack);
  return failed;
}
