/* Programs: their state, their supervisors, and how their process trees are killed. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol.h"

#define EXECS 512
#define SCRIPT_FD 3 /* descriptor from which a program reads its script */
#define SCRIPT_PATH "/proc/self/fd/3" /* of SCRIPT_FD */
#define SWEEP_WHOLE (5000 * MS) /* for kills that must complete first */
#define ROOM_TRIES 50 /* attempts to start a program at the process limit */

struct exec {
  bool used;
  bool reported; /* its last frame was sent; background processes are still tracked */
  bool failed, exited, left_counted, adopted, pty, timed_out, killed, killing, input_end, input_gone;
  bool needs_room; /* forking failed at the process limit */
  bool crowded_out; /* killed for filling the process limit while another program started */
  uint32_t made_room; /* number of processes killed to start it */
  uint32_t tries;
  uint32_t id;
  pid_t supervisor, program;
  int status_fd, in_fd, out_fd[2];
  struct buffer input;
  int64_t credit[2];
  uint64_t limit[2], sent[2], total[2];
  uint64_t must_read[2]; /* including the content of the pipe when the program ended */
  int status; /* as returned by wait() */
  uint32_t left; /* still running at its end; valid once `left_counted` */
  uint64_t began, ended, deadline, kill_at, drain_until, discard_at;
  uint64_t began_ticks, oom_before;
};
extern struct exec execs[EXECS];

/*
 * One gate per exec, in memory shared with its supervisor but not with programs. While it is shut, the supervisor
 * neither reaps nor forks: processes that die keep their slots under the process limit, so that a tree that forks
 * faster than it can be killed runs out of slots.
 */
extern volatile uint32_t *gates;
enum { GATE_OPEN, GATE_SHUT };

static inline volatile uint32_t *gate_of(const struct exec *e) { return &gates[e - execs]; }

/* Status report of a supervisor, or of a program before it is executed, sent in one write. */
struct report {
  char what; /* S started, R needs room to fork, F failed, X exited, L other processes are left */
  int32_t number;
  char during[24];
};

struct launch {
  char **argv, **env;
  char *cwd;
  int script_fd, stdio[3], status_fd;
  volatile uint32_t *gate;
  bool pty;
};

/* ---- supervisor.c */
/* Runs as parent of one program and subreaper of its descendants; ends with the last of them. */
void supervise(const struct launch *l);

/* ---- launch.c */
/* Starts the program of an EXEC frame. */
void exec_start(uint32_t id, struct reader *r);

/* ---- exec.c */
/* Returns the exec of a call, or NULL. */
struct exec *exec_of(uint32_t id);
void exec_free(struct exec *e);
int set_terminal_size(int fd, uint16_t cols, uint16_t rows);
/* Reads the status reports of the supervisor. */
void exec_read_reports(struct exec *e);
/* Returns whether output of a stream may be read now. */
bool exec_may_read(struct exec *e, int i);
/* Moves output to the queue. */
void exec_read_output(struct exec *e);
/* Writes queued input to the program. */
void exec_write_input(struct exec *e);
/* Handles timeouts, and completes an exec that has ended. */
void exec_step(struct exec *e);
/* Returns when exec_step must run again; 0 for never. */
uint64_t exec_next(const struct exec *e);
/* Reaps children: supervisors, and adopted programs. */
void reap(void);

/* ---- kill.c */
extern bool supervisor_killed;
void create_gates(void);
void open_gate(struct exec *e);
/* Begins to kill an exec: with TERM and a grace period, or immediately. */
void exec_kill(struct exec *e, bool gently);
/* Kills the tree of an exec. If the time is too short, the next call continues; the gate stays shut. */
bool kill_tree(struct exec *e, uint64_t time, uint32_t *killed);
/* Counts the live processes of an exec. */
uint32_t count_tree(struct exec *e);
/* Frees slots under the process limit for an exec. Returns false if there is nothing to kill. */
bool await_room(struct exec *for_exec);
/* Kills a fork bomb: processes of an ended program that fill the process limit. Returns their number. */
uint32_t kill_bomb(void);
/* Kills the processes left by supervisors that were killed. */
void kill_orphans(void);
/* Kills every program with all of its processes; running execs end with the resulting status. */
void kill_all(uint32_t id);
