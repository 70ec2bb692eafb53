/* Detects a source checkout whose build is older than its sources: Node builds it first. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_newer(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Checks if a file below a folder is newer than `built`. Takes ownership of the descriptor. */
static int has_newer(int fd, const struct timespec *built) {
  DIR *entries = fd < 0 ? NULL : fdopendir(fd);
  if (!entries) return 0;
  int found = 0;
  struct dirent *entry;
  while (!found && (entry = readdir(entries))) {
    if (entry->d_name[0] == '.') continue;
    if (entry->d_type == DT_DIR) {
      found = has_newer(openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), built);
      continue;
    }
    struct stat info;
    found = !fstatat(fd, entry->d_name, &info, 0) && is_newer(&info.st_mtim, built);
  }
  closedir(entries);
  return found;
}

/* `dist` is the folder of the build. Installed packages have no sources and are never stale. */
static int is_stale_checkout(const char *dist) {
  int fd = open(dist, O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat built, package;
  if (fd < 0 || fstatat(fd, "../src", &package, 0)) return 0;
  if (fstatat(fd, "manifest.json", &built, 0)) return 1;
  int stale = !fstatat(fd, "../package.json", &package, 0) && is_newer(&package.st_mtim, &built.st_mtim);
  stale = stale || has_newer(openat(fd, "../src", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &built.st_mtim);
  close(fd);
  return stale;
}
