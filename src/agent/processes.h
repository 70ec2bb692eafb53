/* Process table of the container, and SIGKILL for a chosen part of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
  pid_t pid, parent;
  char state;
  uint32_t threads;
  uint64_t started; /* clock ticks since boot */
  struct process *above;
  bool chosen;
  bool killed; /* SIGKILL was sent during the current sweep */
};

extern struct process *table; /* ordered by process ID */
extern int table_count;

/* Reads /proc into `table`. */
void read_table(void);
/* Starts a new sweep: forgets which processes were killed. */
void begin_sweep(void);
/* Chooses the descendants of the chosen processes. */
void choose_below(void);
/* Returns whether a process still runs code. A leader that has exited while other threads run is a zombie that does. */
bool is_alive(const struct process *p);
/* Sends SIGKILL to every chosen process that is alive. Returns their number; adds new ones to `*killed`. */
int kill_chosen(uint32_t *killed);

/* Reads the number of processes and threads in the cgroup and their limit; false if the system does not report them. */
bool read_pids(uint64_t *current, uint64_t *limit);
/* Returns the number of processes killed for memory in the cgroup; 0 if the system does not report it. */
uint64_t oom_kills(void);
