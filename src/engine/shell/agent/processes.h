/* The process table of the container, and the SIGKILL of a chosen part of it. */
#ifndef PROCESSES_H
#define PROCESSES_H

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
/* Forgets which processes were killed: a new sweep begins. */
void begin_sweep(void);
/* Chooses the descendants of the processes that are chosen already. */
void choose_below(void);
/* Whether a process still runs code. A leader that has exited while other threads run is a zombie that does. */
bool is_alive(const struct process *p);
/* Sends SIGKILL to every chosen process that is alive. Returns how many there are; adds new ones to `*killed`. */
int kill_chosen(uint32_t *killed);

/* Processes and threads in the cgroup and their limit; false when the system does not report them. */
bool read_pids(uint64_t *current, uint64_t *limit);
/* Number of processes that the kernel has killed for memory in the cgroup, or 0 when the system does not report it. */
uint64_t oom_kills(void);

#endif
