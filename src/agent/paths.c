/* Facts and paths of files, shared by all operations. */
#define _GNU_SOURCE
#include "files.h"

void put_facts(struct buffer *b, const struct stat *s, int dir, const char *name) {
  mode_t m = s->st_mode;
  put8(b, S_ISREG(m) ? 0 : S_ISDIR(m) ? 1 : S_ISLNK(m) ? 2 : S_ISFIFO(m) ? 3 : S_ISSOCK(m) ? 4 : 5);
  put32(b, m & 07777);
  put32(b, s->st_uid);
  put32(b, s->st_gid);
  put64(b, (uint64_t)s->st_size);
  put64(b, (uint64_t)s->st_mtim.tv_sec * 1000000000ull + (uint64_t)s->st_mtim.tv_nsec);
  put64(b, (uint64_t)s->st_ctim.tv_sec * 1000000000ull + (uint64_t)s->st_ctim.tv_nsec);
  put64(b, s->st_ino);
  put64(b, s->st_dev);
  char target[PATH_MAX];
  ssize_t n = S_ISLNK(m) ? readlinkat(dir, name, target, sizeof target) : 0;
  put_string(b, target, n > 0 ? (size_t)n : 0);
}

void location_close(struct location *p) {
  shut(&p->dir);
  free(p->path);
  p->path = NULL;
}

int location_open(struct location *p, char *path, struct failure *f) {
  *p = (struct location){.dir = -1, .path = path};
  size_t n = strlen(path);
  if (n == 0) return fail_with(f, ENOENT, "open");
  while (n > 1 && path[n - 1] == '/') path[--n] = 0;
  char *slash = strrchr(path, '/');
  p->name = slash ? slash + 1 : path;
  if (!strcmp(p->name, ".") || !strcmp(p->name, "..") || !*p->name) {
    p->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    p->name = "";
    return p->dir < 0 ? fail(f, "open") : 0;
  }
  if (!slash) p->dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  else if (slash == path) p->dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  else {
    *slash = 0;
    p->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
  }
  return p->dir < 0 ? fail(f, "open") : 0;
}

int make_dirs(char *path, mode_t mode, struct failure *f) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/' || at[-1] == '/') continue;
    *at = 0;
    int failed = mkdir(path, mode) < 0 && errno != EEXIST;
    *at = '/';
    if (failed) return fail(f, "mkdir");
  }
  return 0;
}

void temporary_name(char name[40]) {
  static unsigned serial;
  snprintf(name, 40, ".bax-%x-%llx.tmp", __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED), (unsigned long long)now());
}

int rename_to(int from, const char *a, int to, const char *b, bool overwrite) {
  if (overwrite) return renameat(from, a, to, b);
  return (int)syscall(SYS_renameat2, from, a, to, b, 1 /* RENAME_NOREPLACE */);
}

bool is_mount(int dir, const char *name, const struct stat *s) {
  struct stat parent;
  return S_ISDIR(s->st_mode) && fstatat(dir, *name ? "." : "..", &parent, AT_EMPTY_PATH) == 0 &&
         (parent.st_dev != s->st_dev || (parent.st_ino == s->st_ino && !*name));
}
