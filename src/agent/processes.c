#define _GNU_SOURCE
#include "processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than the largest limit of processes that a session can have. */
#define PROCESSES 16384

static struct process tables[2][PROCESSES];
struct process *table = tables[0];
int table_count;

static bool read_process(pid_t pid, struct process *p) {
  char path[40], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return false;
  text[n] = 0;
  char *rest = strrchr(text, ')'); /* the name before it may contain anything */
  if (!rest) return false;
  int parent;
  unsigned threads;
  unsigned long long started;
  if (sscanf(rest + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u %*d %llu", &p->state,
             &parent, &threads, &started) != 4)
    return false;
  p->pid = pid;
  p->parent = parent;
  p->threads = threads;
  p->started = started;
  p->chosen = p->killed = false;
  return true;
}

/* The kernel lists processes in the order of their IDs. */
static struct process *find_process(struct process *in, int count, pid_t pid) {
  for (int low = 0, high = count; low < high;) {
    int middle = (low + high) / 2;
    if (in[middle].pid == pid) return &in[middle];
    if (in[middle].pid < pid) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

void read_table(void) {
  struct process *before = table;
  int before_count = table_count;
  table = table == tables[0] ? tables[1] : tables[0];
  table_count = 0;
  DIR *dir = opendir("/proc");
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir)) && table_count < PROCESSES;) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (read_process(atoi(entry->d_name), &table[table_count])) table_count++;
  }
  closedir(dir);
  for (int i = 0; i < table_count; i++) {
    struct process *p = &table[i], *same = find_process(before, before_count, p->pid);
    p->above = find_process(table, table_count, p->parent);
    p->killed = same && same->started == p->started && same->killed;
  }
}

void begin_sweep(void) {
  for (int i = 0; i < table_count; i++) table[i].killed = false;
}

void choose_below(void) {
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < table_count; i++)
      if (!table[i].chosen && table[i].above && table[i].above->chosen) table[i].chosen = more = true;
  }
}

bool is_alive(const struct process *p) {
  return (p->state != 'Z' && p->state != 'X') || p->threads > 1;
}

int kill_chosen(uint32_t *killed) {
  int alive = 0;
  for (int i = 0; i < table_count; i++) {
    struct process *p = &table[i];
    if (!p->chosen || !is_alive(p) || kill(p->pid, SIGKILL) < 0) continue;
    alive++;
    if (!p->killed) ++*killed;
    p->killed = true;
  }
  return alive;
}

/* Reads a small file as text. */
static bool read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  if (n <= 0) return false;
  text[n] = 0;
  return true;
}

/* Supports both versions of cgroups; in version 2 the cgroup of the container is the root. */
bool read_pids(uint64_t *current, uint64_t *limit) {
  static const char *const files[][2] = {{"/sys/fs/cgroup/pids.current", "/sys/fs/cgroup/pids.max"},
                                         {"/sys/fs/cgroup/pids/pids.current", "/sys/fs/cgroup/pids/pids.max"}};
  char text[64];
  for (int i = 0; i < 2; i++) {
    if (!read_text(files[i][0], text, sizeof text)) continue;
    *current = strtoull(text, NULL, 10);
    if (!read_text(files[i][1], text, sizeof text)) continue;
    *limit = strtoull(text, NULL, 10); /* 0 for "max" */
    return *limit > 0;
  }
  return false;
}

uint64_t oom_kills(void) {
  static const char *const files[] = {"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"};
  char text[1024];
  for (int i = 0; i < 2; i++) {
    char *found = read_text(files[i], text, sizeof text) ? strstr(text, "oom_kill ") : NULL;
    if (found) return strtoull(found + 9, NULL, 10);
  }
  return 0;
}
