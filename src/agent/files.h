/* File operations, and what they share: facts of files, and paths that are resolved once. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jobs.h"
#include "names.h"

/* Operations. They read their parameters from `r`, and append the body of DONE to `response`. */
typedef int operation(struct job *j, struct reader *r, struct buffer *response, struct failure *f);
operation op_info, op_realpath, op_list, op_walk; /* listing.c */
operation op_read, op_write; /* content.c */
operation op_remove, op_mkdir; /* change.c */
operation op_copy, op_move; /* copy.c */

/* Appends the facts of a file; `dir` and `name` are needed for the target of a link. */
void put_facts(struct buffer *b, const struct stat *s, int dir, const char *name);

/* Last component of a path, and an O_PATH descriptor of its directory. */
struct location {
  int dir;
  char *path;
  const char *name;
};

/* Takes ownership of `path`. The name is "" for a path that is not a directory entry (`/`, `.`, `a/..`). */
int location_open(struct location *p, char *path, struct failure *f);
void location_close(struct location *p);
/* Creates the parents of a path. */
int make_dirs(char *path, mode_t mode, struct failure *f);
/* Returns a temporary name for building an entry before it is renamed into place. */
void temporary_name(char name[40]);
int rename_to(int from, const char *a, int to, const char *b, bool overwrite);
bool is_mount(int dir, const char *name, const struct stat *s);
/* Opens a directory of a walk and reads its first names, of which at most `max` are needed. */
int walk_open(const struct stack *s, struct level *l, int dir, const char *name, bool follow, bool hidden,
              uint64_t max);
int remove_entry(int dir, const char *name, bool recursive, uint32_t *removed, struct failure *f);
