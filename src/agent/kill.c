/* Kills process trees, and frees slots under the process limit. */
#define _GNU_SOURCE
#include "exec.h"

#include "processes.h"

#define TERM_GRACE (200 * MS) /* between TERM and KILL */
#define SWEEP_PAUSE_US 500 /* for killed processes to die */
#define SPARE_SLOTS 8 /* minimum of free slots for starting a program */

volatile uint32_t *gates;

/*
 * Set when a program has killed one of our supervisors. This is allowed, but its remaining processes without an exec
 * are killed: they would kill the next supervisor as well.
 */
bool supervisor_killed;

void create_gates(void) {
  gates = mmap(NULL, EXECS * sizeof *gates, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (gates == MAP_FAILED) die("gates");
}

static bool is_supervisor(pid_t pid) {
  for (int i = 0; i < EXECS; i++)
    if (execs[i].used && execs[i].supervisor == pid) return true;
  return false;
}

/*
 * Chooses the descendants of the chosen processes, without supervisors and ourselves. Returns their number of threads.
 */
static uint32_t choose_programs(void) {
  choose_below();
  uint32_t threads = 0;
  for (int i = 0; i < table_count; i++) {
    struct process *p = &table[i];
    if (p->pid == getpid() || is_supervisor(p->pid) || !is_alive(p)) p->chosen = false;
    if (p->chosen) threads += p->threads;
  }
  return threads;
}

/* Chooses the processes of an exec. If its supervisor was killed, these are its program, and orphans started since. */
static uint32_t choose_tree(struct exec *e) {
  pid_t self = getpid();
  for (int i = 0; i < table_count; i++) {
    struct process *p = &table[i];
    if (e->supervisor > 0) p->chosen = p->pid == e->supervisor;
    else
      p->chosen = p->pid == e->program || (p->parent == self && p->started >= e->began_ticks && !is_supervisor(p->pid));
  }
  return choose_programs();
}

/* Chooses processes of no exec: orphans of supervisors that were killed by programs. */
static uint32_t choose_orphans(void) {
  pid_t self = getpid();
  for (int i = 0; i < table_count; i++) table[i].chosen = table[i].parent == self && !is_supervisor(table[i].pid);
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    if (!e->used || e->reported) continue;
    for (int k = 0; k < table_count; k++)
      if (table[k].pid == e->program) table[k].chosen = false;
  }
  return choose_programs();
}

static uint32_t choose_all(void) {
  for (int i = 0; i < table_count; i++) table[i].chosen = table[i].pid == getpid();
  return choose_programs();
}

/* Kills the processes of `e` (NULL: those of no exec) until none is alive or the time is over. */
static bool sweep(struct exec *e, bool all, uint64_t time, uint32_t *killed) {
  uint64_t until = now() + time;
  begin_sweep();
  /* Stop after two empty passes: processes forked while the table was read may be missing from it. */
  for (int empty = 0; empty < 2;) {
    read_table();
    if (all) choose_all();
    else if (e) choose_tree(e);
    else choose_orphans();
    empty = kill_chosen(killed) == 0 ? empty + 1 : 0;
    if (empty > 0) continue;
    if (now() >= until) return false;
    usleep(SWEEP_PAUSE_US);
  }
  return true;
}

void open_gate(struct exec *e) {
  *gate_of(e) = GATE_OPEN;
  if (e->supervisor > 0) kill(e->supervisor, SIGCONT); /* a program may have stopped it */
}

bool kill_tree(struct exec *e, uint64_t time, uint32_t *killed) {
  read_table();
  if (choose_tree(e) > 0) {
    *gate_of(e) = GATE_SHUT;
    if (!sweep(e, false, time, killed)) return false;
  }
  open_gate(e);
  return true;
}

/* Kills the processes of one exec, or of none (NULL), and waits until their slots are free. */
static uint32_t kill_holder(struct exec *e) {
  uint32_t killed = 0;
  if (!e) sweep(NULL, false, SWEEP_WHOLE, &killed);
  else if (!kill_tree(e, SWEEP_WHOLE, &killed)) open_gate(e);
  else
    for (uint64_t until = now() + SWEEP_WHOLE; e->supervisor > 0 && now() < until; usleep(SWEEP_PAUSE_US)) reap();
  reap();
  return killed;
}

/* Largest user of slots under the process limit. */
struct holder {
  struct exec *e; /* NULL for processes of no exec */
  uint32_t threads; /* 0 if there are none */
};

/* Finds the largest tree of an ended program. */
static struct holder largest_left(void) {
  struct holder largest = {.e = NULL, .threads = choose_orphans()};
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    uint32_t threads = e->used && e->reported ? choose_tree(e) : 0;
    if (threads > largest.threads) largest = (struct holder){e, threads};
  }
  return largest;
}

/* Finds the largest tree of all; one whose program is running only counts above its share of all slots. */
static struct holder largest_holder(const struct exec *except) {
  struct holder largest = largest_left();
  uint32_t total = 0, running = 1;
  for (int i = 0; i < table_count; i++) total += table[i].threads;
  for (int i = 0; i < EXECS; i++) running += execs[i].used && !execs[i].reported && &execs[i] != except;
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    uint32_t threads = e->used && !e->reported && e != except ? choose_tree(e) : 0;
    if (threads > largest.threads && threads > total / running) largest = (struct holder){e, threads};
  }
  return largest;
}

/* Kills the tree that uses most slots, except small running programs. Returns false if there is none. */
static bool make_room(struct exec *for_exec) {
  read_table();
  struct holder holder = largest_holder(for_exec);
  if (holder.threads == 0) return false;
  if (holder.e && !holder.e->reported) {
    holder.e->crowded_out = true;
    exec_kill(holder.e, false);
  }
  for_exec->made_room += kill_holder(holder.e);
  return true;
}

bool await_room(struct exec *for_exec) {
  for (int i = 0; i < ROOM_TRIES / 2; i++) {
    if (make_room(for_exec)) return true;
    usleep(SWEEP_PAUSE_US * 4);
    reap();
  }
  return false;
}

uint32_t kill_bomb(void) {
  uint64_t current, limit;
  if (!read_pids(&current, &limit) || current + SPARE_SLOTS < limit) return 0;
  read_table();
  struct holder holder = largest_left();
  return holder.threads > limit / 2 ? kill_holder(holder.e) : 0;
}

void kill_orphans(void) {
  if (!supervisor_killed) return;
  supervisor_killed = false;
  uint32_t killed = 0;
  if (!sweep(NULL, false, SWEEP_WHOLE, &killed)) supervisor_killed = true;
  reap();
}

void exec_kill(struct exec *e, bool gently) {
  if (!e->killing) {
    e->killing = true;
    if (gently && e->program > 0) {
      kill(-e->program, SIGTERM);
      kill(-e->program, SIGCONT);
    }
    e->kill_at = now() + (gently ? TERM_GRACE : 0);
  } else if (!gently && e->kill_at > now())
    e->kill_at = now();
}

uint32_t count_tree(struct exec *e) {
  uint32_t count = 0;
  read_table();
  choose_tree(e);
  for (int i = 0; i < table_count; i++) count += table[i].chosen;
  return count;
}

void kill_all(uint32_t id) {
  uint32_t killed = 0;
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    if (!e->used) continue;
    *gate_of(e) = GATE_SHUT;
    if (e->reported || e->exited || e->failed) continue;
    e->killed = true;
    exec_kill(e, false);
  }
  bool done = sweep(NULL, true, SWEEP_WHOLE, &killed);
  for (int i = 0; i < EXECS; i++)
    if (execs[i].used) open_gate(&execs[i]);
  if (done) send_number(DONE, id, killed);
  else send_failed(id, ETIMEDOUT, "kill");
}
