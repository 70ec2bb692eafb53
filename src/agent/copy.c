/* Copies and moves entries. */
#define _GNU_SOURCE
#include "files.h"

struct copy_stats {
  uint32_t entries;
  uint64_t bytes;
};

/* Copies the content of a file, preserving holes. */
static int copy_bytes(struct job *j, int from, int to, struct copy_stats *t, struct failure *f) {
  struct stat s;
  if (fstat(from, &s) < 0) return fail(f, "stat");
  uint8_t *chunk = malloc(CHUNK);
  if (!chunk) die("out of memory");
  int failed = 0;
  for (off_t at = 0; at < s.st_size && !failed;) {
    off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    if (data < 0) data = at;
    off_t hole = lseek(from, data, SEEK_HOLE);
    if (hole < 0) hole = s.st_size;
    for (at = data; at < hole && !failed;) {
      size_t max = hole - at < CHUNK ? (size_t)(hole - at) : CHUNK;
      ssize_t n = pread(from, chunk, max, at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed = fail(f, "read");
      if (n <= 0) break;
      ssize_t wrote = pwrite(to, chunk, (size_t)n, at);
      /* A short write means that the disk is full; the next call would fail. */
      if (wrote != n) failed = wrote < 0 ? fail(f, "write") : fail_with(f, ENOSPC, "write");
      if (j->cancelled) failed = fail_with(f, ECANCELED, "cancel");
      at += n;
    }
    if (at < hole) break;
  }
  free(chunk);
  if (!failed && ftruncate(to, s.st_size) < 0) failed = fail(f, "write");
  t->bytes += (uint64_t)s.st_size;
  return failed;
}

/* Copies one file or link under a temporary name first. Rejects fifos, sockets and devices. */
static int copy_leaf(struct job *j, int from, const char *a, const struct stat *s, int to, const char *b, bool overwrite,
                     struct copy_stats *t, struct failure *f) {
  char temporary[40];
  temporary_name(temporary);
  int failed = 0;
  if (S_ISLNK(s->st_mode)) {
    char target[PATH_MAX];
    ssize_t n = readlinkat(from, a, target, sizeof target - 1);
    if (n < 0) return fail(f, "readlink");
    target[n] = 0;
    if (symlinkat(target, to, temporary) < 0) return fail(f, "symlink");
  } else if (S_ISREG(s->st_mode)) {
    int in = openat(from, a, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (in < 0) return fail(f, "open");
    int copy = openat(to, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (copy < 0) failed = fail(f, "open");
    else {
      failed = copy_bytes(j, in, copy, t, f);
      if (!failed && fchmod(copy, s->st_mode & 07777) < 0) failed = fail(f, "chmod");
      close(copy);
    }
    close(in);
  } else
    return fail_with(f, EINVAL, "copy");
  if (!failed && rename_to(to, temporary, to, b, overwrite) < 0) failed = fail(f, "rename");
  if (failed) unlinkat(to, temporary, 0);
  t->entries++;
  return failed;
}

/* Creates the copy of a directory, and enters both. */
static int copy_enter(struct stack *stack, int from, const char *a, int to, const char *b, mode_t mode, bool overwrite, struct failure *f) {
  struct level l;
  if (mkdirat(to, b, 0700) < 0 && !(errno == EEXIST && overwrite)) return fail(f, "mkdir");
  if (walk_open(stack, &l, from, a, false, true, UINT32_MAX) < 0) return fail(f, "open");
  l.other_fd = openat(to, b, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  l.mode = mode;
  int failed = l.other_fd < 0 ? fail(f, "open") : 0;
  *push(stack) = l;
  return failed;
}

/* Copies one entry of the directory on top of the stack; enters a directory. */
static int copy_entry(struct job *j, struct stack *stack, const char *name, bool overwrite, struct copy_stats *t, struct failure *f) {
  struct level *l = top(stack);
  struct stat s;
  if (fstatat(l->fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0) return errno == ENOENT ? 0 : fail(f, "stat");
  if (!S_ISDIR(s.st_mode)) return copy_leaf(j, l->fd, name, &s, l->other_fd, name, overwrite, t, f);
  t->entries++;
  return copy_enter(stack, l->fd, name, l->other_fd, name, s.st_mode & 07777, overwrite, f);
}

static int copy_tree(struct job *j, int from, const char *a, int to, const char *b, bool overwrite, struct copy_stats *t, struct failure *f) {
  struct stat s;
  if (fstatat(from, a, &s, AT_SYMLINK_NOFOLLOW) < 0) return fail(f, "stat");
  if (!S_ISDIR(s.st_mode)) return copy_leaf(j, from, a, &s, to, b, overwrite, t, f);
  struct stack stack = {0};
  int failed = copy_enter(&stack, from, a, to, b, s.st_mode & 07777, overwrite, f);
  t->entries++;
  while (!failed && stack.depth > 0) {
    struct level *l = top(&stack);
    const char *name;
    if (j->cancelled) failed = fail_with(f, ECANCELED, "cancel");
    else if (level_next(&stack, l, UINT32_MAX, &name) < 0) failed = fail(f, "list");
    else if (name) failed = copy_entry(j, &stack, name, overwrite, t, f);
    else {
      if (fchmod(l->other_fd, l->mode) < 0) failed = fail(f, "chmod");
      pop(&stack);
    }
  }
  drop_stack(&stack);
  return failed;
}

/* Copies an entry all or nothing, unless it is merged into an existing directory. */
static int copy_whole(struct job *j, struct location *a, struct location *b, bool overwrite, struct copy_stats *t, struct failure *f) {
  struct stat s, existing;
  if (fstatat(a->dir, a->name, &s, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0) return fail(f, "stat");
  bool exists = fstatat(b->dir, b->name, &existing, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !overwrite) return fail_with(f, EEXIST, "copy");
  if (exists && S_ISDIR(existing.st_mode) != S_ISDIR(s.st_mode)) return fail_with(f, EEXIST, "copy");
  if (exists && existing.st_ino == s.st_ino && existing.st_dev == s.st_dev) return fail_with(f, ELOOP, "copy");
  const char *from = *a->name ? a->name : ".";
  if (!S_ISDIR(s.st_mode) || exists) return copy_tree(j, a->dir, from, b->dir, b->name, overwrite, t, f);
  char temporary[40];
  temporary_name(temporary);
  int failed = copy_tree(j, a->dir, from, b->dir, temporary, false, t, f);
  if (!failed && rename_to(b->dir, temporary, b->dir, b->name, false) < 0) failed = fail(f, "rename");
  if (failed) {
    struct failure ignored;
    uint32_t removed = 0;
    remove_entry(b->dir, temporary, true, &removed, &ignored);
  }
  return failed;
}

/* Returns whether a directory is the one that `dir` is open on, or above it. */
static bool is_above(const struct stat *s, int dir) {
  int at = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int hops = 0; at >= 0 && hops < 65536; hops++) {
    struct stat here, up;
    int parent = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ok = parent >= 0 && fstat(at, &here) == 0 && fstat(parent, &up) == 0;
    close(at);
    at = parent;
    if (!ok) break;
    if (here.st_dev == s->st_dev && here.st_ino == s->st_ino) {
      close(at);
      return true;
    }
    if (here.st_dev == up.st_dev && here.st_ino == up.st_ino) break;
  }
  if (at >= 0) close(at);
  return false;
}

/* Opens source and destination of a copy or move; the destination must be a name in a directory outside the source. */
static int open_both(struct reader *r, struct location *a, struct location *b, struct stat *s, struct failure *f) {
  char *source = get_text(r), *destination = get_text(r);
  *a = *b = (struct location){.dir = -1};
  if (location_open(a, source, f) < 0) {
    free(destination);
    return -1;
  }
  if (fstatat(a->dir, a->name, s, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0) {
    free(destination);
    return fail(f, "stat");
  }
  if (location_open(b, destination, f) < 0) return -1;
  if (!*b->name) return fail_with(f, EEXIST, "open");
  if (S_ISDIR(s->st_mode) && is_above(s, b->dir)) return fail_with(f, ELOOP, "copy");
  return 0;
}

int op_copy(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  struct location a, b;
  struct stat s;
  struct copy_stats t = {0};
  struct reader flags = {r->end - 2, r->end};
  if (r->end - r->at < 2) die("malformed frame");
  bool overwrite = get8(&flags), recursive = get8(&flags);
  int failed = open_both(r, &a, &b, &s, f);
  if (!failed && S_ISDIR(s.st_mode) && !recursive) failed = fail_with(f, EISDIR, "copy");
  if (!failed) failed = copy_whole(j, &a, &b, overwrite, &t, f);
  location_close(&a);
  location_close(&b);
  put32(response, t.entries);
  put64(response, t.bytes);
  return failed;
}

/* Moves to another file system: copies completely, then removes the source; removes the copy if that fails. */
static int move_across(struct job *j, struct location *a, struct location *b, bool overwrite, struct failure *f) {
  struct copy_stats t = {0};
  uint32_t removed = 0;
  struct failure ignored;
  char temporary[40];
  temporary_name(temporary);
  if (faccessat(a->dir, ".", W_OK | X_OK, 0) < 0) return fail(f, "move");
  int failed = copy_tree(j, a->dir, a->name, b->dir, temporary, false, &t, f);
  if (!failed && rename_to(b->dir, temporary, b->dir, b->name, overwrite) < 0) failed = fail(f, "rename");
  if (failed) remove_entry(b->dir, temporary, true, &removed, &ignored);
  else if (remove_entry(a->dir, a->name, true, &removed, f) < 0) {
    failed = -1;
    /* Remove the copy only while the source is still complete. */
    if (removed == 0 && !overwrite) remove_entry(b->dir, b->name, true, &removed, &ignored);
  }
  return failed;
}

int op_move(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  struct location a, b;
  struct stat s, existing;
  if (r->end - r->at < 1) die("malformed frame");
  bool overwrite = r->end[-1];
  int failed = open_both(r, &a, &b, &s, f);
  if (!failed && (!*a.name || is_mount(a.dir, a.name, &s))) failed = fail_with(f, EBUSY, "move");
  bool exists = !failed && fstatat(b.dir, b.name, &existing, AT_SYMLINK_NOFOLLOW) == 0;
  if (!failed && exists && is_mount(b.dir, b.name, &existing)) failed = fail_with(f, overwrite ? EBUSY : EEXIST, "move");
  if (!failed && exists && overwrite && S_ISDIR(existing.st_mode) != S_ISDIR(s.st_mode)) failed = fail_with(f, EEXIST, "move");
  if (!failed && rename_to(a.dir, a.name, b.dir, b.name, overwrite) < 0)
    failed = errno == EXDEV ? move_across(j, &a, &b, overwrite, f) : fail(f, "move");
  if (!failed && fstatat(b.dir, b.name, &s, AT_SYMLINK_NOFOLLOW) < 0) failed = fail(f, "stat");
  if (!failed) put_facts(response, &s, b.dir, b.name);
  location_close(&a);
  location_close(&b);
  return failed;
}
