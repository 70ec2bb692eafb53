/* Reads and writes the content of files. */
#define _GNU_SOURCE
#include <linux/openat2.h>

#include "files.h"

static int open_for_reading(const char *path, const char *beneath, struct failure *f) {
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  struct stat s;
  int fd;
  if (beneath) {
    int dir = open(beneath, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) return fail(f, "open");
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    int error = errno;
    close(dir);
    errno = error;
  } else {
    /* Check the type before opening: opening a device can have side effects. */
    if (stat(path, &s) < 0) return fail(f, "open");
    if (S_ISDIR(s.st_mode)) return fail_with(f, EISDIR, "open");
    if (!S_ISREG(s.st_mode)) return fail_with(f, ENXIO, "open");
    fd = open(path, flags);
  }
  if (fd < 0) return fail(f, "open");
  if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode)) {
    int error = S_ISDIR(s.st_mode) ? EISDIR : ENXIO;
    close(fd);
    return fail_with(f, error, "open");
  }
  return fd;
}

int op_read(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  char *path = get_text(r);
  uint8_t flags = get8(r);
  char *beneath = get_text(r);
  uint64_t offset = get64(r), length = get64(r);
  int fd = open_for_reading(path, (flags & READ_BENEATH) ? beneath : NULL, f);
  free(path);
  free(beneath);
  if (fd < 0) return -1;
  struct stat s;
  struct buffer facts = {0};
  int failed = fstat(fd, &s) < 0 ? fail(f, "stat") : 0;
  if (!failed) {
    put_facts(&facts, &s, -1, "");
    failed = job_send(j, RESULT, facts.data, facts.end, f);
  }
  uint8_t *chunk = malloc(CHUNK);
  if (!chunk) die("out of memory");
  while (!failed && length > 0 && offset <= INT64_MAX) {
    size_t max = length < CHUNK ? (size_t)length : CHUNK;
    ssize_t n = pread(fd, chunk, max, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed = fail(f, "read");
    if (n <= 0) break;
    offset += (uint64_t)n;
    length -= (uint64_t)n;
    failed = job_send(j, OUTPUT, chunk, (size_t)n, f);
  }
  if (!failed && fstat(fd, &s) < 0) failed = fail(f, "stat");
  if (!failed) put_facts(response, &s, -1, "");
  free(chunk);
  release(&facts);
  close(fd);
  return failed;
}

/* Writes everything that the engine sends. */
static int receive_into(struct job *j, int fd, uint64_t *written, struct failure *f) {
  uint8_t *chunk = malloc(CHUNK);
  if (!chunk) die("out of memory");
  ssize_t got;
  int failed = 0;
  while (!failed && (got = job_receive(j, chunk, CHUNK, f)) != 0) {
    if (got < 0) failed = -1;
    for (ssize_t at = 0; at < got && !failed;) {
      ssize_t n = write(fd, chunk + at, (size_t)(got - at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed = fail(f, "write");
      else {
        at += n;
        *written += (uint64_t)n;
      }
    }
  }
  free(chunk);
  return failed;
}

static int append_to(struct job *j, const char *path, mode_t mode, bool *created, uint64_t *written, struct stat *s, struct failure *f) {
  int existing = stat(path, s);
  if (existing == 0 && S_ISDIR(s->st_mode)) return fail_with(f, EISDIR, "open");
  if (existing == 0 && !S_ISREG(s->st_mode)) return fail_with(f, ENXIO, "open");
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
  if (fd < 0) return fail(f, "open");
  *created = existing < 0;
  int failed = fstat(fd, s) < 0 ? fail(f, "stat") : !S_ISREG(s->st_mode) ? fail_with(f, ENXIO, "open") : 0;
  off_t before = s->st_size;
  if (!failed && *created && fchmod(fd, mode) < 0) failed = fail(f, "chmod");
  if (!failed) failed = receive_into(j, fd, written, f);
  if (failed && *written > 0 && ftruncate(fd, before) < 0) failed = -1; /* keeps the first error */
  if (failed && *created) unlink(path);
  if (!failed && fstat(fd, s) < 0) failed = fail(f, "stat");
  close(fd);
  return failed;
}

/* Resolves the target of a write through links, even dangling ones, as open() does. Takes ownership of `path`. */
static char *through_links(char *path, struct failure *f) {
  for (int hops = 0; hops < 40; hops++) {
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) return path;
    target[n] = 0;
    char *next;
    char *slash = strrchr(path, '/');
    if (target[0] == '/' || !slash) next = strdup(target);
    else if (asprintf(&next, "%.*s/%s", (int)(slash - path), path, target) < 0) next = NULL;
    if (!next) die("out of memory");
    free(path);
    path = next;
  }
  free(path);
  fail_with(f, ELOOP, "open");
  return NULL;
}

static int write_whole(struct job *j, struct location *p, mode_t mode, bool overwrite, bool *created, uint64_t *written,
                       struct stat *s, struct failure *f) {
  bool exists = fstatat(p->dir, p->name, s, AT_SYMLINK_NOFOLLOW) == 0;
  if (!*p->name || (exists && S_ISDIR(s->st_mode))) return fail_with(f, EISDIR, "open");
  if (exists && !overwrite) return fail_with(f, EEXIST, "open");
  if (exists && !S_ISREG(s->st_mode)) return fail_with(f, ENXIO, "open");
  if (exists && faccessat(p->dir, p->name, W_OK, 0) < 0) return fail(f, "open");
  if (exists) mode = s->st_mode & 07777;
  char temporary[40];
  temporary_name(temporary);
  int fd = openat(p->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return fail(f, "open");
  int failed = receive_into(j, fd, written, f);
  if (!failed && fchmod(fd, mode) < 0) failed = fail(f, "chmod");
  if (!failed && rename_to(p->dir, temporary, p->dir, p->name, overwrite) < 0) failed = fail(f, "rename");
  if (failed) unlinkat(p->dir, temporary, 0);
  else if (fstat(fd, s) < 0) failed = fail(f, "stat");
  *created = !exists;
  close(fd);
  return failed;
}

int op_write(struct job *j, struct reader *r, struct buffer *response, struct failure *f) {
  char *path = get_text(r);
  mode_t mode = get32(r) & 07777;
  uint8_t flags = get8(r);
  struct stat s;
  bool created = false;
  uint64_t written = 0;
  int failed = !*path ? fail_with(f, ENOENT, "open") : (flags & WRITE_PARENTS) ? make_dirs(path, 0755, f) : 0;
  if (!failed && (flags & WRITE_APPEND)) {
    failed = append_to(j, path, mode, &created, &written, &s, f);
    free(path);
  } else if (!failed) {
    struct location p = {.dir = -1};
    /* Without `overwrite` the link itself is the existing entry. */
    if (flags & WRITE_OVERWRITE) path = through_links(path, f);
    failed = path ? location_open(&p, path, f) : -1;
    if (!failed) failed = write_whole(j, &p, mode, flags & WRITE_OVERWRITE, &created, &written, &s, f);
    location_close(&p);
  } else
    free(path);
  if (!failed) {
    put_facts(response, &s, -1, "");
    put64(response, written);
    put8(response, created);
  }
  return failed;
}
