/*
 * Process 1 of a shell session's container. It talks to the engine over its own stdin and stdout in length-prefixed
 * frames (protocol.md, beside this file), runs programs, each below a supervisor that is a child subreaper, and does
 * the file operations. It runs as the session's user, without a capability.
 *
 * - The main thread owns all programs and both ends of the connection; a few threads do the file operations, because
 *   a thread of process 1, unlike a child of it, survives a `kill -9 -1` and needs no free place under the pids limit.
 * - PR_SET_DUMPABLE 0 keeps programs of the same user away from our descriptors in /proc: they cannot forge frames.
 * - When stdin ends the engine is gone: so are we, and with process 1 the whole container.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fib_rules.h>
#include <linux/openat2.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "buffer.h"
#include "names.h"
#include "processes.h"

#define VERSION 2u
#define FRAME_MAX (2u << 20)
#define OUTPUT_WINDOW (1 << 20) /* what we may send of a stream before the engine grants more */
#define INPUT_WINDOW (256 << 10) /* what the engine may send of a stream before we grant more */
#define CHUNK (64 << 10)
#define QUEUE_SOFT (1 << 20) /* above this, streams wait for the engine to read */
#define PIPE_SIZE (256 << 10) /* of what programs write; a system that gives less is slower, not wrong */
#define EXECS 512
#define THREADS 4 /* always there */
#define THREADS_MAX 16
#define JOBS_MAX 1024

#define TERM_GRACE (200 * MS) /* between TERM and KILL */
#define DRAIN (100 * MS) /* for output of what a program left running */
#define KILL_AGAIN (10 * MS)
#define SWEEP (100 * MS) /* others wait so long at most for the killing of one tree, which then goes on later */
#define SWEEP_WHOLE (5000 * MS) /* for what has to be killed before anything else can happen */
#define SWEEP_PAUSE_US 500 /* for what was killed to die */
#define CROWDED_AGAIN (250 * MS)
#define SPARE_PLACES 8 /* fewer than these under the limit of processes are too few to start a program */
#define ROOM_TRIES 50
#define PROGRAM_NICE 19 /* relative to the agent only: the container's share of the processors stays the same */
#define DISCARD_PAUSE (10 * MS) /* a background writer that nobody hears is read this often */

enum { /* engine -> agent */
  EXEC = 1, DATA, END, CREDIT, SIGNAL, KILL, RESIZE, DISCARD, FILE_OP, CANCEL, PING, KILL_ALL
};
enum { /* agent -> engine */
  HELLO = 64, STARTED, FAILED, OUTPUT, EXITED, INPUT_CREDIT, INPUT_CLOSED, RESULT, DONE, PONG
};
enum { OP_INFO = 1, OP_REALPATH, OP_LIST, OP_WALK, OP_READ, OP_WRITE, OP_REMOVE, OP_COPY, OP_MOVE, OP_MKDIR };
enum { EXEC_PTY = 1, EXEC_STDIN = 2, EXEC_SCRIPT = 4 };
enum { WRITE_APPEND = 1, WRITE_PARENTS = 2, WRITE_OVERWRITE = 4 };
enum { READ_BENEATH = 1 };
#define SCRIPT_FD 3
#define SCRIPT_PATH "/proc/self/fd/3"
#define PLACEHOLDER "\0script"

/* ---- reading a frame; one that does not hold what it must is the end: the engine would not send it --------------- */

struct reader {
  const uint8_t *at, *end;
};

static const uint8_t *take(struct reader *r, size_t n) {
  if ((size_t)(r->end - r->at) < n) die("malformed frame");
  const uint8_t *p = r->at;
  r->at += n;
  return p;
}
static uint8_t get8(struct reader *r) { return *take(r, 1); }
static uint16_t get16(struct reader *r) {
  uint16_t v;
  memcpy(&v, take(r, 2), 2);
  return v;
}
static uint32_t get32(struct reader *r) {
  uint32_t v;
  memcpy(&v, take(r, 4), 4);
  return v;
}
static uint64_t get64(struct reader *r) {
  uint64_t v;
  memcpy(&v, take(r, 8), 8);
  return v;
}
static const uint8_t *get_bytes(struct reader *r, uint32_t *n) {
  *n = get32(r);
  return take(r, *n);
}
/* A copy that ends in NUL; *n is its length without. */
static char *get_string(struct reader *r, uint32_t *n) {
  uint32_t length;
  const uint8_t *bytes = get_bytes(r, &length);
  char *text = malloc((size_t)length + 1);
  if (!text) die("out of memory");
  memcpy(text, bytes, length);
  text[length] = 0;
  if (n) *n = length;
  return text;
}
/* The same for what the system reads as a C string: no NUL may be in it. */
static char *get_text(struct reader *r) {
  uint32_t length;
  char *text = get_string(r, &length);
  if (strlen(text) != length) die("NUL in a text");
  return text;
}

/* ---- frames to the engine --------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `out` and all jobs */
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* a job for an idle thread */
static pthread_cond_t flow = PTHREAD_COND_INITIALIZER; /* more may be sent, or more has come, for a job that waits */
static int flow_waiters;
static struct buffer out;
static int wake_fd = -1;

/* Begins a frame; its place, relative to the queue's start, is given to frame_end. */
static size_t frame_begin(uint8_t type, uint32_t id) {
  size_t place = filled(&out);
  put32(&out, 0);
  put8(&out, type);
  put32(&out, id);
  return place;
}
static void frame_end(size_t place) {
  uint32_t length = (uint32_t)(filled(&out) - place - 4);
  memcpy(out.data + out.start + place, &length, 4);
}

static void send_failed(uint32_t id, int error, const char *during) {
  size_t place = frame_begin(FAILED, id);
  put32(&out, (uint32_t)error);
  put_string(&out, during, strlen(during));
  frame_end(place);
}

static void send_number(uint8_t type, uint32_t id, uint32_t number) {
  size_t place = frame_begin(type, id);
  put32(&out, number);
  frame_end(place);
}

static void send_empty(uint8_t type, uint32_t id) { frame_end(frame_begin(type, id)); }

static void await_flow(void) {
  flow_waiters++;
  pthread_cond_wait(&flow, &lock);
  flow_waiters--;
}

static void flow_changed(void) {
  if (flow_waiters > 0) pthread_cond_broadcast(&flow);
}

/* The main thread learns that a thread has queued something. */
static void wake(void) {
  uint64_t one = 1;
  if (write(wake_fd, &one, 8) < 0 && errno != EAGAIN) die("eventfd");
}

/* ---- programs --------------------------------------------------------------------------------------------------- */

struct exec {
  bool used;
  bool reported; /* the engine has had the last frame of it; what it left running is still watched */
  bool failed, exited, settled, adopted, pty, timed_out, killed, killing, input_end, input_gone;
  bool needs_room; /* its program could not be forked: the limit of processes is reached */
  bool crowded_out; /* killed because it had reached that limit when another program was to start */
  uint32_t made_room; /* processes killed so that it could start */
  uint32_t tries;
  uint32_t id;
  pid_t supervisor, program;
  int status_fd, in_fd, out_fd[2];
  struct buffer input;
  int64_t credit[2];
  uint64_t limit[2], sent[2], total[2];
  uint64_t must_read[2]; /* of what was in the pipe when the program ended */
  int status; /* as wait() gives it */
  uint32_t left; /* running when it ended; counted once `settled` */
  uint64_t began, ended, deadline, kill_at, drain_until, discard_at;
  uint64_t began_ticks, oom_before;
};
static struct exec execs[EXECS];

/*
 * One gate per exec, in memory that its supervisor shares with us and programs do not have. While it is shut the
 * supervisor neither reaps nor forks. What dies then keeps its place under the limit of processes, so that a tree that
 * forks faster than it can be killed runs out of places.
 */
static volatile uint32_t *gates;
enum { GATE_OPEN, GATE_SHUT };

static volatile uint32_t *gate_of(const struct exec *e) { return &gates[e - execs]; }

static void await_gate(volatile uint32_t *gate) {
  const struct timespec pause = {.tv_nsec = (long)MS};
  while (*gate == GATE_SHUT) nanosleep(&pause, NULL);
}

/* What a supervisor, or the program before it is one, says in one write. */
struct word {
  char what; /* S started, R needs room to fork, F failed, X exited, L others are left */
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

static void say(int fd, char what, int number, const char *during) {
  struct word word = {.what = what, .number = number};
  strncpy(word.during, during, sizeof word.during - 1);
  if (write(fd, &word, sizeof word) != sizeof word) _exit(3);
}

static void complain(const char *program, const char *why) {
  dprintf(2, "bax: %s: %s\n", program, why);
}

static const char *find_env(char **env, const char *name) {
  size_t n = strlen(name);
  for (; *env; env++)
    if (!strncmp(*env, name, n) && (*env)[n] == '=') return *env + n + 1;
  return NULL;
}

/* execve along PATH, with the exit codes of a shell. */
static void run_program(const struct launch *l) {
  const char *program = l->argv[0];
  int error = ENOENT;
  if (strchr(program, '/')) {
    execve(program, l->argv, l->env);
    error = errno;
  } else {
    const char *path = find_env(l->env, "PATH");
    if (!path) path = "/usr/bin:/bin";
    for (const char *at = path; *program; at++) {
      const char *end = strchrnul(at, ':');
      char full[PATH_MAX];
      int n = snprintf(full, sizeof full, "%.*s/%s", (int)(end - at), end == at ? "." : at, program);
      if (n > 0 && n < (int)sizeof full) {
        execve(full, l->argv, l->env);
        if (errno != ENOENT && errno != ENOTDIR) error = errno;
      }
      if (!*end) break;
      at = end;
    }
  }
  if (error == ENOENT || error == ENOTDIR) {
    complain(program, "not found");
    _exit(127);
  }
  complain(program, error == EACCES    ? "permission denied"
                    : error == ENOEXEC ? "not a program that this system can run"
                    : error == E2BIG   ? "arguments and environment are too long"
                    : error == ELOOP   ? "too many links"
                                       : "cannot be executed");
  _exit(126);
}

/* The process that becomes the program. Only what is safe after fork() in a program with threads. */
static void become_program(const struct launch *l) {
  int status = fcntl(l->status_fd, F_DUPFD_CLOEXEC, 64);
  if (status < 0) _exit(3);
  if (setsid() < 0) say(status, 'F', errno, "setsid"), _exit(3);
  for (int i = 0; i < 3; i++)
    if (dup2(l->stdio[i], i) < 0) say(status, 'F', errno, "dup2"), _exit(3);
  if (l->pty && ioctl(0, TIOCSCTTY, 0) < 0) say(status, 'F', errno, "terminal"), _exit(3);
  if (l->script_fd >= 0) {
    if (l->script_fd == SCRIPT_FD) fcntl(SCRIPT_FD, F_SETFD, 0);
    else if (dup2(l->script_fd, SCRIPT_FD) < 0) say(status, 'F', errno, "dup2"), _exit(3);
  }
  if (chdir(l->cwd) < 0) say(status, 'F', errno, "cwd"), _exit(3);
  /* Said before it runs: the program may kill everything around it at once. */
  say(status, 'S', getpid(), "");
  /* From here on nothing of the agent is open, so that this process may be looked into. */
  close_range(l->script_fd >= 0 ? SCRIPT_FD + 1 : 3, ~0u, 0);
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_SET_PDEATHSIG, 0);
  /* However many programs there are, the agent gets to run. */
  setpriority(PRIO_PROCESS, 0, PROGRAM_NICE);
  /* When memory runs out, programs go before the agent. */
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (write(fd, "500", 3) != 3) { /* an engine that forbids it: the killer goes by size then */
    }
    close(fd);
  }
  umask(022);
  for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  run_program(l);
}

/* Parent of one program and, as subreaper, of whatever that leaves behind; ends with the last of them. */
static void supervise(const struct launch *l) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pid_t program;
  while ((program = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) < 0 && errno == EAGAIN) {
    *l->gate = GATE_SHUT;
    say(l->status_fd, 'R', 0, "");
    await_gate(l->gate);
  }
  if (program == 0) {
    become_program(l);
    _exit(3);
  }
  int forked = errno;
  int status = dup2(l->status_fd, 0);
  close_range(1, ~0u, 0);
  if (status < 0) _exit(3);
  if (program < 0) {
    say(status, 'F', forked, "fork");
    _exit(0);
  }
  for (siginfo_t info; waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL) == 0;) {
    await_gate(l->gate);
    bool ours = info.si_pid == program;
    /* Said before it is reaped: should we be killed in between, the agent finds it as its own child. */
    if (ours) say(status, 'X', info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status, "");
    while (waitpid(info.si_pid, NULL, __WALL) < 0 && errno == EINTR) {
    }
    if (ours && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0) say(status, 'L', 0, "");
  }
  _exit(0);
}

static struct exec *exec_of(uint32_t id) {
  for (int i = 0; i < EXECS; i++)
    if (execs[i].used && !execs[i].reported && execs[i].id == id) return &execs[i];
  return NULL;
}

static void exec_free(struct exec *e) {
  shut(&e->status_fd);
  shut(&e->in_fd);
  shut(&e->out_fd[0]);
  shut(&e->out_fd[1]);
  release(&e->input);
  e->used = false;
}

/* ---- killing ---------------------------------------------------------------------------------------------------- */

static void reap(void);
static void exec_kill(struct exec *e, bool gently);

static bool is_supervisor(pid_t pid) {
  for (int i = 0; i < EXECS; i++)
    if (execs[i].used && execs[i].supervisor == pid) return true;
  return false;
}

/* Chooses what runs below the chosen processes, without supervisors and ourselves. Returns the number of threads. */
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

/* Chooses what belongs to an exec. One whose supervisor was killed is known by its program and by when its orphans began. */
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

/* Chooses what no exec is responsible for: orphans of supervisors that were killed by programs. */
static uint32_t choose_strays(void) {
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

/* Kills what `e` (or NULL: no exec) is responsible for, until none of it is alive or the time is over. */
static bool sweep(struct exec *e, bool all, uint64_t time, uint32_t *killed) {
  uint64_t until = now() + time;
  begin_sweep();
  /* Twice nothing: what was forked while the table was read may not be in it. */
  for (int empty = 0; empty < 2;) {
    read_table();
    if (all) choose_all();
    else if (e) choose_tree(e);
    else choose_strays();
    empty = kill_chosen(killed) == 0 ? empty + 1 : 0;
    if (empty > 0) continue;
    if (now() >= until) return false;
    usleep(SWEEP_PAUSE_US);
  }
  return true;
}

static void open_gate(struct exec *e) {
  *gate_of(e) = GATE_OPEN;
  if (e->supervisor > 0) kill(e->supervisor, SIGCONT); /* a program may have stopped it */
}

/* Kills the tree of an exec. What it does not manage in its time goes on with the next call; the gate stays shut. */
static bool kill_tree(struct exec *e, uint64_t time, uint32_t *killed) {
  read_table();
  if (choose_tree(e) > 0) {
    *gate_of(e) = GATE_SHUT;
    if (!sweep(e, false, time, killed)) return false;
  }
  open_gate(e);
  return true;
}

/* Kills what one exec, or none (NULL), is responsible for, and waits until its places under the limit are free again. */
static uint32_t kill_holder(struct exec *e) {
  uint32_t killed = 0;
  if (!e) sweep(NULL, false, SWEEP_WHOLE, &killed);
  else if (!kill_tree(e, SWEEP_WHOLE, &killed)) open_gate(e);
  else
    for (uint64_t until = now() + SWEEP_WHOLE; e->supervisor > 0 && now() < until; usleep(SWEEP_PAUSE_US)) reap();
  reap();
  return killed;
}

/* What holds most places under the limit of processes. */
struct holder {
  struct exec *e; /* NULL for what no exec is responsible for */
  uint32_t threads; /* 0 when there is nothing */
};

/* The most that ended programs have left. */
static struct holder largest_left(void) {
  struct holder largest = {.e = NULL, .threads = choose_strays()};
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    uint32_t threads = e->used && e->reported ? choose_tree(e) : 0;
    if (threads > largest.threads) largest = (struct holder){e, threads};
  }
  return largest;
}

/* The largest of all; a program that still runs counts only if it holds more than its share of all places. */
static struct holder largest_holder(const struct exec *but) {
  struct holder largest = largest_left();
  uint32_t total = 0, running = 1;
  for (int i = 0; i < table_count; i++) total += table[i].threads;
  for (int i = 0; i < EXECS; i++) running += execs[i].used && !execs[i].reported && &execs[i] != but;
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    uint32_t threads = e->used && !e->reported && e != but ? choose_tree(e) : 0;
    if (threads > largest.threads && threads > total / running) largest = (struct holder){e, threads};
  }
  return largest;
}

/*
 * Every place under the limit of processes is taken: kills the tree that holds most of them. Small programs that run
 * are spared. Returns false when there is nothing to kill.
 */
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

/* The same; what has just ended may free places by itself. */
static bool await_room(struct exec *for_exec) {
  for (int i = 0; i < ROOM_TRIES / 2; i++) {
    if (make_room(for_exec)) return true;
    usleep(SWEEP_PAUSE_US * 4);
    reap();
  }
  return false;
}

/*
 * Kills what an ended program has left when it fills the limit of processes and holds most of it: a fork bomb.
 * Returns the number of processes.
 */
static uint32_t end_bomb(void) {
  uint64_t current, limit;
  if (!read_pids(&current, &limit) || current + SPARE_PLACES < limit) return 0;
  read_table();
  struct holder holder = largest_left();
  return holder.threads > limit / 2 ? kill_holder(holder.e) : 0;
}

/*
 * A program has killed a supervisor of ours. It is free to, but what goes on after its end and belongs to no exec any
 * more is killed: it would kill the next one as well.
 */
static bool supervisor_killed;

static void end_strays(void) {
  if (!supervisor_killed) return;
  supervisor_killed = false;
  uint32_t killed = 0;
  if (!sweep(NULL, false, SWEEP_WHOLE, &killed)) supervisor_killed = true;
  reap();
}

static int make_script(const uint8_t *bytes, uint32_t n) {
  int fd = memfd_create("script", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  for (uint32_t at = 0; at < n;) {
    ssize_t wrote = write(fd, bytes + at, n - at);
    if (wrote <= 0) {
      close(fd);
      return -1;
    }
    at += (uint32_t)wrote;
  }
  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return fd;
}

static int set_size(int fd, uint16_t cols, uint16_t rows) {
  struct winsize size = {.ws_col = cols, .ws_row = rows};
  return ioctl(fd, TIOCSWINSZ, &size);
}

static int open_terminal(struct exec *e, struct launch *l, uint16_t cols, uint16_t rows) {
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), unlocked = 0;
  if (master < 0) return -1;
  int slave = ioctl(master, TIOCSPTLCK, &unlocked) < 0 ? -1 : ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) {
    close(master);
    return -1;
  }
  set_size(master, cols, rows);
  e->out_fd[0] = master;
  e->in_fd = fcntl(master, F_DUPFD_CLOEXEC, 3);
  for (int i = 0; i < 3; i++) l->stdio[i] = slave;
  return e->in_fd < 0 ? -1 : 0;
}

static int open_pipes(struct exec *e, struct launch *l, bool input) {
  int ends[2];
  if (input) {
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    l->stdio[0] = ends[0];
    e->in_fd = ends[1];
    fcntl(e->in_fd, F_SETFL, O_NONBLOCK);
  } else if ((l->stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
    return -1;
  for (int i = 0; i < 2; i++) {
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    e->out_fd[i] = ends[0];
    l->stdio[i + 1] = ends[1];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
  }
  return 0;
}

static void free_launch(struct launch *l) {
  for (int i = 0; i < (l->pty ? 1 : 3); i++) shut(&l->stdio[i]);
  shut(&l->status_fd);
  shut(&l->script_fd);
  for (char **s = l->argv; s && *s; s++) free(*s);
  for (char **s = l->env; s && *s; s++) free(*s);
  free(l->argv);
  free(l->env);
  free(l->cwd);
}

static char **get_texts(struct reader *r, bool arguments) {
  uint32_t count = get32(r);
  if (count > FRAME_MAX / 4) die("malformed frame");
  char **texts = calloc((size_t)count + 1, sizeof *texts);
  if (!texts) die("out of memory");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t n;
    char *text = get_string(r, &n);
    if (arguments && n == sizeof PLACEHOLDER - 1 && !memcmp(text, PLACEHOLDER, n)) {
      free(text);
      text = strdup(SCRIPT_PATH);
      if (!text) die("out of memory");
    } else if (strlen(text) != n)
      die("NUL in a text");
    texts[i] = text;
  }
  return texts;
}

/* Clock ticks since boot, as /proc counts the start of processes. */
static uint64_t ticks(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
  return (uint64_t)t.tv_sec * hz + (uint64_t)t.tv_nsec * hz / 1000000000ull;
}

static int fork_supervisor(struct exec *e, struct launch *l) {
  e->began = now();
  e->began_ticks = ticks();
  e->oom_before = oom_kills();
  e->supervisor = fork();
  if (e->supervisor == 0) {
    supervise(l);
    _exit(3);
  }
  return e->supervisor < 0 ? -1 : 0;
}

static int exec_launch(struct exec *e, struct launch *l) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  e->status_fd = ends[0];
  l->status_fd = ends[1];
  fcntl(e->status_fd, F_SETFL, O_NONBLOCK);
  l->gate = gate_of(e);
  *l->gate = GATE_OPEN;
  end_strays();
  e->made_room = end_bomb();
  for (int i = 0; i < ROOM_TRIES; i++) {
    if (fork_supervisor(e, l) == 0) return 0;
    if (errno != EAGAIN) return -1;
    if (!await_room(e)) break;
  }
  errno = EAGAIN;
  return -1;
}

static void exec_start(uint32_t id, struct reader *r) {
  struct exec *e = NULL;
  for (int i = 0; i < EXECS && !e; i++)
    if (!execs[i].used) e = &execs[i];
  uint8_t flags = get8(r);
  uint16_t cols = get16(r), rows = get16(r);
  uint64_t timeout_us = get64(r), limit = get64(r);
  struct launch l = {.script_fd = -1, .stdio = {-1, -1, -1}, .status_fd = -1, .pty = flags & EXEC_PTY};
  l.cwd = get_text(r);
  l.argv = get_texts(r, true);
  l.env = get_texts(r, false);
  uint32_t script_size;
  const uint8_t *script = get_bytes(r, &script_size);
  if (!l.argv[0]) die("no program");
  if (!e) {
    send_failed(id, EAGAIN, "exec");
    free_launch(&l);
    return;
  }
  *e = (struct exec){.used = true, .id = id, .status_fd = -1, .in_fd = -1, .out_fd = {-1, -1}, .pty = l.pty,
                     .credit = {OUTPUT_WINDOW, OUTPUT_WINDOW}, .limit = {limit, limit}};
  const char *during = "pipe";
  int failed = l.pty ? open_terminal(e, &l, cols, rows) : open_pipes(e, &l, flags & EXEC_STDIN);
  if (!failed && (flags & EXEC_SCRIPT)) {
    during = "script";
    failed = (l.script_fd = make_script(script, script_size)) < 0 ? -1 : 0;
  }
  if (!failed) {
    during = "fork";
    failed = exec_launch(e, &l);
  }
  if (failed) {
    send_failed(id, errno, during);
    exec_free(e);
  } else if (timeout_us)
    e->deadline = e->began + timeout_us * 1000;
  free_launch(&l);
}

static void exec_kill(struct exec *e, bool gently) {
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

static void exec_report(struct exec *e) {
  if (!e->failed) {
    size_t place = frame_begin(EXITED, e->id);
    bool oom = oom_kills() > e->oom_before;
    put8(&out, (uint8_t)(e->timed_out | e->killed << 1 | oom << 2 | e->crowded_out << 3));
    put8(&out, WIFSIGNALED(e->status));
    put32(&out, (uint32_t)(WIFSIGNALED(e->status) ? WTERMSIG(e->status) : WEXITSTATUS(e->status)));
    put32(&out, e->left);
    put64(&out, e->total[0]);
    put64(&out, e->total[1]);
    put64(&out, (e->ended - e->began) / 1000);
    frame_end(place);
  }
  e->reported = true;
  shut(&e->in_fd);
  release(&e->input);
}

/* The program has ended: what its pipes hold now is to be handed over; what comes later, for a moment only. */
static void exec_ended(struct exec *e, int status) {
  e->exited = true;
  e->status = status;
  e->ended = now();
  e->drain_until = e->ended + DRAIN;
  for (int i = 0; i < 2; i++) {
    int waiting = 0;
    if (e->out_fd[i] >= 0 && ioctl(e->out_fd[i], FIONREAD, &waiting) == 0) e->must_read[i] = e->total[i] + (uint64_t)waiting;
  }
}

/* Processes of an exec that are alive. */
static uint32_t count_tree(struct exec *e) {
  uint32_t count = 0;
  read_table();
  choose_tree(e);
  for (int i = 0; i < table_count; i++) count += table[i].chosen;
  return count;
}

static void exec_settled(struct exec *e, bool alone) {
  if (!e->settled) e->left = alone ? 0 : count_tree(e);
  e->settled = true;
}

static void exec_failed(struct exec *e, int error, const char *during) {
  send_failed(e->id, error, during);
  e->failed = true;
}

static void exec_word(struct exec *e, const struct word *word) {
  if (word->what == 'F') exec_failed(e, word->number, word->during);
  else if (word->what == 'L') exec_settled(e, false);
  else if (word->what == 'R') e->needs_room = true;
  else if (word->what == 'S') {
    e->program = word->number;
    size_t place = frame_begin(STARTED, e->id);
    put32(&out, (uint32_t)word->number);
    put32(&out, e->made_room);
    frame_end(place);
    if (e->killing) kill(-e->program, SIGTERM);
  } else if (!e->exited)
    exec_ended(e, word->number);
}

static void exec_listen(struct exec *e) {
  struct word word;
  while (e->status_fd >= 0) {
    ssize_t n = read(e->status_fd, &word, sizeof word);
    if (n == sizeof word) exec_word(e, &word);
    else if (n < 0 && errno == EINTR) continue;
    else if (n < 0 && errno == EAGAIN) return;
    else shut(&e->status_fd);
  }
}

/* Its supervisor is gone: in order, or killed by a program (`kill -9 -1`); then we are the program's parent. */
static void supervisor_gone(struct exec *e, bool in_order) {
  exec_listen(e);
  e->supervisor = 0;
  if (e->exited) exec_settled(e, in_order);
  if (e->exited || e->failed) return;
  siginfo_t info;
  if (e->program > 0 && waitid(P_PID, (id_t)e->program, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0) e->adopted = true;
  else exec_failed(e, ECHILD, "wait");
}

static void reap(void) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0;) {
    for (int i = 0; i < EXECS; i++) {
      struct exec *e = &execs[i];
      if (!e->used) continue;
      if (e->supervisor == pid) {
        supervisor_killed = supervisor_killed || WIFSIGNALED(status);
        supervisor_gone(e, WIFEXITED(status));
      }
      else if (e->program == pid && !e->exited) {
        exec_ended(e, status);
        exec_settled(e, false);
      }
    }
  }
}

static bool may_read(struct exec *e, int i) {
  if (e->out_fd[i] < 0) return false;
  if (e->reported) return now() >= e->discard_at;
  if (e->sent[i] >= e->limit[i]) return true;
  return e->credit[i] > 0 && filled(&out) < QUEUE_SOFT;
}

/* Moves output into the queue; false when there is none for now. */
static bool exec_read(struct exec *e, int i) {
  static uint8_t dropped[CHUNK];
  bool drop = e->reported || e->sent[i] >= e->limit[i];
  ssize_t n;
  if (drop) n = read(e->out_fd[i], dropped, sizeof dropped);
  else {
    uint64_t most = CHUNK;
    if ((uint64_t)e->credit[i] < most) most = (uint64_t)e->credit[i];
    if (e->limit[i] - e->sent[i] < most) most = e->limit[i] - e->sent[i];
    size_t place = frame_begin(OUTPUT, e->id);
    put8(&out, (uint8_t)(i + 1));
    n = read(e->out_fd[i], room(&out, most), most);
    if (n > 0) {
      out.end += (size_t)n;
      frame_end(place);
      e->credit[i] -= n;
      e->sent[i] += (uint64_t)n;
    } else
      out.end = out.start + place;
  }
  if (n > 0) {
    e->total[i] += (uint64_t)n;
    return true;
  }
  /* A terminal whose last user is gone reads as EIO. */
  if (n == 0 || (errno != EAGAIN && errno != EINTR)) shut(&e->out_fd[i]);
  return false;
}

static void exec_pump(struct exec *e) {
  bool any = false;
  for (int i = 0; i < 2; i++) {
    /* In turns, so that none keeps the others waiting. */
    for (int turn = 0; turn < 4 && may_read(e, i); turn++) {
      if (!exec_read(e, i)) break;
      any = true;
    }
  }
  e->discard_at = e->reported && any ? now() + DISCARD_PAUSE : 0;
}

static void exec_feed(struct exec *e) {
  while (e->in_fd >= 0 && filled(&e->input) > 0) {
    ssize_t n = write(e->in_fd, e->input.data + e->input.start, filled(&e->input));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) {
      shut(&e->in_fd);
      break;
    }
    consume(&e->input, (size_t)n);
    send_number(INPUT_CREDIT, e->id, (uint32_t)n);
  }
  if (e->in_fd >= 0 && e->input_end && filled(&e->input) == 0) shut(&e->in_fd);
  else if (e->in_fd < 0 && !e->input_gone && !e->input_end) {
    e->input_gone = true;
    release(&e->input);
    send_empty(INPUT_CLOSED, e->id);
  }
}

static bool drained(struct exec *e) {
  for (int i = 0; i < 2; i++) {
    if (e->out_fd[i] < 0) continue;
    /* What the program itself wrote goes out whole, whatever the reader's pace. */
    if (e->total[i] < e->must_read[i]) return false;
    if (now() < e->drain_until) return false;
  }
  return true;
}

/* Its supervisor waits for a place to fork into. */
static void exec_make_room(struct exec *e) {
  e->needs_room = false;
  if (!e->killing && e->tries++ < ROOM_TRIES && await_room(e)) open_gate(e);
  else {
    uint32_t killed = 0;
    exec_failed(e, EAGAIN, "fork");
    /* A gate that was opened meanwhile may have let a program start. */
    kill_tree(e, SWEEP, &killed);
    *gate_of(e) = GATE_SHUT;
    kill(e->supervisor, SIGKILL);
  }
}

/* What time has brought, and the end when it has come. */
static void exec_step(struct exec *e) {
  uint64_t t = now();
  if (e->needs_room) exec_make_room(e);
  if (e->deadline && t >= e->deadline && !e->exited && !e->failed && !e->killing) {
    e->timed_out = true;
    exec_kill(e, true);
  }
  if (e->killing && t >= e->kill_at && !e->reported && (e->supervisor > 0 || e->adopted)) {
    uint32_t killed = 0;
    kill_tree(e, SWEEP, &killed);
    e->kill_at = now() + KILL_AGAIN;
    if (e->adopted && e->exited && count_tree(e) == 0) e->adopted = false;
  }
  if (e->failed && !e->reported) exec_report(e);
  if (e->settled && !e->reported) {
    /* Of a tree that was to be killed nothing may be left when we say so. */
    bool gone = !e->killing || (e->supervisor == 0 && !e->adopted);
    if (e->killing && gone) e->left = 0;
    if (gone && drained(e)) exec_report(e);
  }
  if (e->reported && e->supervisor <= 0) exec_free(e);
}

/* When exec_step has something to do again; 0 for never. */
static uint64_t exec_next(const struct exec *e) {
  uint64_t next = 0;
#define SOONER(time) \
  if (!next || (time) < next) next = (time)
  if (e->deadline && !e->exited && !e->killing && !e->reported) SOONER(e->deadline);
  if (e->killing && !e->reported) SOONER(e->kill_at);
  if (e->exited && !e->reported && now() < e->drain_until) SOONER(e->drain_until);
  if (e->discard_at > now()) SOONER(e->discard_at);
#undef SOONER
  return next;
}

/* ---- file operations -------------------------------------------------------------------------------------------- */

struct job {
  struct job *next; /* in the list of all */
  uint32_t id;
  uint8_t op;
  bool taken, input_end, cancelled;
  int64_t credit;
  struct buffer params, input;
};
static struct job *jobs;
static int job_count, untaken_jobs, idle_threads, thread_count;

/* Thrown from anywhere inside an operation: what the system said, and during what. */
struct fault {
  int error;
  const char *during;
};

static int fault(struct fault *f, const char *during) {
  f->error = errno;
  f->during = during;
  return -1;
}
static int fault_of(struct fault *f, int error, const char *during) {
  errno = error;
  return fault(f, during);
}

/* Waits (holding `lock`) until this much may be sent. */
static int await_credit(struct job *j, struct fault *f) {
  while (!j->cancelled && (j->credit <= 0 || filled(&out) >= QUEUE_SOFT)) await_flow();
  return j->cancelled ? fault_of(f, ECANCELED, "cancel") : 0;
}

static int job_send(struct job *j, uint8_t type, const void *bytes, size_t n, struct fault *f) {
  pthread_mutex_lock(&lock);
  int failed = await_credit(j, f);
  if (!failed) {
    size_t place = frame_begin(type, j->id);
    if (type == OUTPUT) put8(&out, 1);
    put(&out, bytes, n);
    frame_end(place);
    j->credit -= (int64_t)n;
  }
  pthread_mutex_unlock(&lock);
  wake();
  return failed;
}

/* The next bytes that the engine sends; 0 at their end. */
static ssize_t job_receive(struct job *j, uint8_t *into, size_t most, struct fault *f) {
  pthread_mutex_lock(&lock);
  while (!j->cancelled && filled(&j->input) == 0 && !j->input_end) await_flow();
  ssize_t n = -1;
  if (j->cancelled) fault_of(f, ECANCELED, "cancel");
  else {
    n = (ssize_t)filled(&j->input);
    if ((size_t)n > most) n = (ssize_t)most;
    if (n > 0) {
      memcpy(into, j->input.data + j->input.start, (size_t)n);
      consume(&j->input, (size_t)n);
      send_number(INPUT_CREDIT, j->id, (uint32_t)n);
    }
  }
  pthread_mutex_unlock(&lock);
  if (n > 0) wake();
  return n;
}

static void put_facts(struct buffer *b, const struct stat *s, int dir, const char *name) {
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

/* -- paths -- */

/* The last part of a path and an O_PATH descriptor of the directory that holds it. */
struct place {
  int dir;
  char *path;
  const char *name;
};

static void place_close(struct place *p) {
  shut(&p->dir);
  free(p->path);
  p->path = NULL;
}

/* Takes `path`. The name is "" for a path that is no entry of a directory (`/`, `.`, `a/..`). */
static int place_open(struct place *p, char *path, struct fault *f) {
  *p = (struct place){.dir = -1, .path = path};
  size_t n = strlen(path);
  if (n == 0) return fault_of(f, ENOENT, "open");
  while (n > 1 && path[n - 1] == '/') path[--n] = 0;
  char *slash = strrchr(path, '/');
  p->name = slash ? slash + 1 : path;
  if (!strcmp(p->name, ".") || !strcmp(p->name, "..") || !*p->name) {
    p->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    p->name = "";
    return p->dir < 0 ? fault(f, "open") : 0;
  }
  if (!slash) p->dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  else if (slash == path) p->dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  else {
    *slash = 0;
    p->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
  }
  return p->dir < 0 ? fault(f, "open") : 0;
}

static int make_dirs(char *path, mode_t mode, struct fault *f) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/' || at[-1] == '/') continue;
    *at = 0;
    int failed = mkdir(path, mode) < 0 && errno != EEXIST;
    *at = '/';
    if (failed) return fault(f, "mkdir");
  }
  return 0;
}

/* A name beside the wanted one, for what is made whole before it gets its name. */
static void temporary_name(char name[40]) {
  static unsigned serial;
  snprintf(name, 40, ".bax-%x-%llx.tmp", __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED), (unsigned long long)now());
}

static int rename_to(int from, const char *a, int to, const char *b, bool overwrite) {
  if (overwrite) return renameat(from, a, to, b);
  return (int)syscall(SYS_renameat2, from, a, to, b, 1 /* RENAME_NOREPLACE */);
}

static bool is_mount(int dir, const char *name, const struct stat *s) {
  struct stat parent;
  return S_ISDIR(s->st_mode) && fstatat(dir, *name ? "." : "..", &parent, AT_EMPTY_PATH) == 0 &&
         (parent.st_dev != s->st_dev || (parent.st_ino == s->st_ino && !*name));
}

/* -- looking -- */

static int op_info(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  (void)j;
  char *path = get_text(r);
  bool follow = get8(r);
  struct stat s;
  int failed = fstatat(AT_FDCWD, path, &s, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0 ? fault(f, "stat") : 0;
  if (!failed) put_facts(answer, &s, AT_FDCWD, path);
  free(path);
  return failed;
}

static int op_realpath(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  (void)j;
  char *path = get_text(r), *real = realpath(path, NULL);
  if (real) put_string(answer, real, strlen(real));
  else fault(f, "realpath");
  free(path);
  free(real);
  return real ? 0 : -1;
}

static int flush_entries(struct job *j, struct buffer *b, size_t least, struct fault *f) {
  if (filled(b) < least) return 0;
  int failed = job_send(j, RESULT, b->data + b->start, filled(b), f);
  consume(b, filled(b));
  return failed;
}

static int op_list(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  char *path = get_text(r), *after = get_text(r);
  uint32_t limit = get32(r);
  bool hidden = get8(r);
  struct window w = {.after = *after ? after : NULL, .most_names = limit, .most_bytes = SIZE_MAX};
  struct level l;
  int failed = level_open(&l, AT_FDCWD, path, true, hidden) < 0 || level_read(&l, &w) < 0 ? fault(f, "list") : 0;
  free(path);
  free(after);
  struct buffer entries = {0};
  for (uint32_t i = 0; !failed && i < l.count; i++) {
    const char *name = level_name(&l, i);
    struct stat s;
    if (fstatat(l.fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0) continue;
    put_string(&entries, name, strlen(name));
    put_facts(&entries, &s, l.fd, name);
    failed = flush_entries(j, &entries, CHUNK / 2, f);
  }
  if (!failed) failed = flush_entries(j, &entries, 1, f);
  put32(answer, l.total < UINT32_MAX ? (uint32_t)l.total : UINT32_MAX);
  put8(answer, l.more);
  put_string(answer, l.more ? level_name(&l, l.count - 1) : "", l.more ? strlen(level_name(&l, l.count - 1)) : 0);
  release(&entries);
  level_close(&l);
  return failed;
}

/* Opens a directory of a walk and reads its first names, of which at most `most` are needed. */
static int walk_open(const struct stack *s, struct level *l, int dir, const char *name, bool follow, bool hidden, uint64_t most) {
  struct window w = {.most_names = most, .most_bytes = window_bytes(s)};
  if (level_open(l, dir, name, follow, hidden) < 0) return -1;
  if (level_read(l, &w) == 0) return 0;
  int error = errno;
  level_close(l);
  errno = error;
  return -1;
}

struct walk {
  struct stack stack;
  struct buffer entries, path;
  uint32_t max_depth;
  uint64_t left; /* entries that may still be sent */
  bool hidden;
};

/* Sends one entry of a directory, and enters it when it is a directory within the depth. */
static void walk_entry(struct walk *w, const char *name) {
  struct level *l = top(&w->stack), below = {.fd = -1};
  struct stat s;
  if (fstatat(l->fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0) return;
  w->path.end = l->path_length;
  if (w->path.end > 0) put8(&w->path, '/');
  put(&w->path, name, strlen(name));
  uint8_t unread = 0;
  if (S_ISDIR(s.st_mode)) {
    if (w->stack.depth >= w->max_depth) unread = 2;
    else if (walk_open(&w->stack, &below, l->fd, name, false, w->hidden, w->left) < 0) unread = 1;
  }
  put_string(&w->entries, w->path.data, w->path.end);
  put32(&w->entries, (uint32_t)w->stack.depth);
  put8(&w->entries, unread);
  put_facts(&w->entries, &s, l->fd, name);
  w->left--;
  below.path_length = w->path.end;
  if (below.fd >= 0) *push(&w->stack) = below;
}

static int op_walk(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  char *start = get_text(r);
  struct walk w = {.max_depth = get32(r)};
  w.left = get32(r);
  w.hidden = get8(r);
  bool cut = false;
  struct level first;
  int failed = walk_open(&w.stack, &first, AT_FDCWD, start, true, w.hidden, w.left + 1) < 0 ? fault(f, "list") : 0;
  free(start);
  if (!failed) *push(&w.stack) = first;
  while (!failed && w.stack.depth > 0 && !cut) {
    const char *name;
    if (j->cancelled) failed = fault_of(f, ECANCELED, "cancel");
    else if (level_next(&w.stack, top(&w.stack), w.left + 1, &name) < 0) failed = fault(f, "list");
    else if (!name) pop(&w.stack);
    else if (w.left == 0) cut = true;
    else {
      walk_entry(&w, name);
      failed = flush_entries(j, &w.entries, CHUNK / 2, f);
    }
  }
  if (!failed) failed = flush_entries(j, &w.entries, 1, f);
  put8(answer, cut);
  release(&w.entries);
  release(&w.path);
  drop_stack(&w.stack);
  return failed;
}

/* -- reading and writing -- */

static int open_for_reading(const char *path, const char *beneath, struct fault *f) {
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  struct stat s;
  int fd;
  if (beneath) {
    int dir = open(beneath, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) return fault(f, "open");
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    int error = errno;
    close(dir);
    errno = error;
  } else {
    /* Looked at before it is opened: opening a device can do things. */
    if (stat(path, &s) < 0) return fault(f, "open");
    if (S_ISDIR(s.st_mode)) return fault_of(f, EISDIR, "open");
    if (!S_ISREG(s.st_mode)) return fault_of(f, ENXIO, "open");
    fd = open(path, flags);
  }
  if (fd < 0) return fault(f, "open");
  if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode)) {
    int error = S_ISDIR(s.st_mode) ? EISDIR : ENXIO;
    close(fd);
    return fault_of(f, error, "open");
  }
  return fd;
}

static int op_read(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
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
  int failed = fstat(fd, &s) < 0 ? fault(f, "stat") : 0;
  if (!failed) {
    put_facts(&facts, &s, -1, "");
    failed = job_send(j, RESULT, facts.data, facts.end, f);
  }
  uint8_t *chunk = malloc(CHUNK);
  if (!chunk) die("out of memory");
  while (!failed && length > 0 && offset <= INT64_MAX) {
    size_t most = length < CHUNK ? (size_t)length : CHUNK;
    ssize_t n = pread(fd, chunk, most, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed = fault(f, "read");
    if (n <= 0) break;
    offset += (uint64_t)n;
    length -= (uint64_t)n;
    failed = job_send(j, OUTPUT, chunk, (size_t)n, f);
  }
  if (!failed && fstat(fd, &s) < 0) failed = fault(f, "stat");
  if (!failed) put_facts(answer, &s, -1, "");
  free(chunk);
  release(&facts);
  close(fd);
  return failed;
}

/* Takes all the engine sends and writes it. */
static int receive_into(struct job *j, int fd, uint64_t *written, struct fault *f) {
  uint8_t *chunk = malloc(CHUNK);
  if (!chunk) die("out of memory");
  ssize_t got;
  int failed = 0;
  while (!failed && (got = job_receive(j, chunk, CHUNK, f)) != 0) {
    if (got < 0) failed = -1;
    for (ssize_t at = 0; at < got && !failed;) {
      ssize_t n = write(fd, chunk + at, (size_t)(got - at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed = fault(f, "write");
      else {
        at += n;
        *written += (uint64_t)n;
      }
    }
  }
  free(chunk);
  return failed;
}

static int append_to(struct job *j, const char *path, mode_t mode, bool *created, uint64_t *written, struct stat *s, struct fault *f) {
  int existing = stat(path, s);
  if (existing == 0 && S_ISDIR(s->st_mode)) return fault_of(f, EISDIR, "open");
  if (existing == 0 && !S_ISREG(s->st_mode)) return fault_of(f, ENXIO, "open");
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
  if (fd < 0) return fault(f, "open");
  *created = existing < 0;
  int failed = fstat(fd, s) < 0 ? fault(f, "stat") : !S_ISREG(s->st_mode) ? fault_of(f, ENXIO, "open") : 0;
  off_t before = s->st_size;
  if (!failed && *created && fchmod(fd, mode) < 0) failed = fault(f, "chmod");
  if (!failed) failed = receive_into(j, fd, written, f);
  if (failed && *written > 0 && ftruncate(fd, before) < 0) failed = -1; /* the first failure is the one to tell */
  if (failed && *created) unlink(path);
  if (!failed && fstat(fd, s) < 0) failed = fault(f, "stat");
  close(fd);
  return failed;
}

/* Where a write through a link goes; a link that leads nowhere yet is followed too, as open() would. Takes `path`. */
static char *through_links(char *path, struct fault *f) {
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
  fault_of(f, ELOOP, "open");
  return NULL;
}

static int write_whole(struct job *j, struct place *p, mode_t mode, bool overwrite, bool *created, uint64_t *written,
                       struct stat *s, struct fault *f) {
  bool exists = fstatat(p->dir, p->name, s, AT_SYMLINK_NOFOLLOW) == 0;
  if (!*p->name || (exists && S_ISDIR(s->st_mode))) return fault_of(f, EISDIR, "open");
  if (exists && !overwrite) return fault_of(f, EEXIST, "open");
  if (exists && !S_ISREG(s->st_mode)) return fault_of(f, ENXIO, "open");
  if (exists && faccessat(p->dir, p->name, W_OK, 0) < 0) return fault(f, "open");
  if (exists) mode = s->st_mode & 07777;
  char temporary[40];
  temporary_name(temporary);
  int fd = openat(p->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return fault(f, "open");
  int failed = receive_into(j, fd, written, f);
  if (!failed && fchmod(fd, mode) < 0) failed = fault(f, "chmod");
  if (!failed && rename_to(p->dir, temporary, p->dir, p->name, overwrite) < 0) failed = fault(f, "rename");
  if (failed) unlinkat(p->dir, temporary, 0);
  else if (fstat(fd, s) < 0) failed = fault(f, "stat");
  *created = !exists;
  close(fd);
  return failed;
}

static int op_write(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  char *path = get_text(r);
  mode_t mode = get32(r) & 07777;
  uint8_t flags = get8(r);
  struct stat s;
  bool created = false;
  uint64_t written = 0;
  int failed = !*path ? fault_of(f, ENOENT, "open") : (flags & WRITE_PARENTS) ? make_dirs(path, 0755, f) : 0;
  if (!failed && (flags & WRITE_APPEND)) {
    failed = append_to(j, path, mode, &created, &written, &s, f);
    free(path);
  } else if (!failed) {
    struct place p = {.dir = -1};
    /* Without `overwrite` a link is in the way itself. */
    if (flags & WRITE_OVERWRITE) path = through_links(path, f);
    failed = path ? place_open(&p, path, f) : -1;
    if (!failed) failed = write_whole(j, &p, mode, flags & WRITE_OVERWRITE, &created, &written, &s, f);
    place_close(&p);
  } else
    free(path);
  if (!failed) {
    put_facts(answer, &s, -1, "");
    put64(answer, written);
    put8(answer, created);
  }
  return failed;
}

/* -- removing -- */

/* Reads some of the names that are left in a directory that is being emptied. */
static int read_left(const struct stack *s, struct level *l) {
  struct window w = {.most_bytes = window_bytes(s), .any = true};
  return level_read(l, &w);
}

/* Enters a directory that is to be emptied, if it lies on the same file system. */
static int remove_enter(struct stack *s, int dir, const char *name, dev_t device, struct fault *f) {
  struct stat facts;
  struct level below;
  if (fstatat(dir, name, &facts, AT_SYMLINK_NOFOLLOW) < 0) return fault(f, "remove");
  if (facts.st_dev != device) return fault_of(f, EBUSY, "remove");
  if (level_open(&below, dir, name, false, true) < 0) return fault(f, "remove");
  int failed = read_left(s, &below) < 0 ? fault(f, "remove") : 0;
  *push(s) = below;
  return failed;
}

/* Removes what is below a directory, not itself. */
static int remove_below(int dir, const char *name, dev_t device, uint32_t *removed, struct fault *f) {
  struct stack stack = {0};
  int failed = remove_enter(&stack, dir, name, device, f);
  while (!failed && stack.depth > 0) {
    struct level *l = top(&stack);
    if (l->next == l->count && l->more) {
      if (read_left(&stack, l) < 0) failed = fault(f, "remove");
    } else if (l->next == l->count) {
      pop(&stack);
      if (stack.depth == 0) break;
      l = top(&stack);
      if (unlinkat(l->fd, level_name(l, l->next++), AT_REMOVEDIR) < 0) failed = fault(f, "remove");
      else ++*removed;
    } else if (unlinkat(l->fd, level_name(l, l->next), 0) == 0 || errno == ENOENT) {
      l->next++;
      ++*removed;
    } else if (errno != EISDIR && errno != EPERM)
      failed = fault(f, "remove");
    else
      failed = remove_enter(&stack, l->fd, level_name(l, l->next), device, f);
  }
  drop_stack(&stack);
  return failed;
}

static int remove_entry(int dir, const char *name, bool recursive, uint32_t *removed, struct fault *f) {
  struct stat s;
  if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) < 0) return fault(f, "remove");
  if (!S_ISDIR(s.st_mode)) {
    if (unlinkat(dir, name, 0) < 0) return fault(f, "remove");
    ++*removed;
    return 0;
  }
  if (is_mount(dir, name, &s)) return fault_of(f, EBUSY, "remove");
  if (recursive && remove_below(dir, name, s.st_dev, removed, f) < 0) return -1;
  if (unlinkat(dir, name, AT_REMOVEDIR) < 0) return fault(f, "remove");
  ++*removed;
  return 0;
}

static int op_remove(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  (void)j;
  struct place p;
  char *path = get_text(r);
  bool recursive = get8(r);
  uint32_t removed = 0;
  int failed = place_open(&p, path, f);
  if (!failed && !*p.name) failed = fault_of(f, EBUSY, "remove");
  if (!failed) failed = remove_entry(p.dir, p.name, recursive, &removed, f);
  place_close(&p);
  put32(answer, removed);
  return failed;
}

/* -- copying and moving -- */

struct tally {
  uint32_t entries;
  uint64_t bytes;
};

/* The bytes of a file; holes stay holes. */
static int copy_bytes(struct job *j, int from, int to, struct tally *t, struct fault *f) {
  struct stat s;
  if (fstat(from, &s) < 0) return fault(f, "stat");
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
      size_t most = hole - at < CHUNK ? (size_t)(hole - at) : CHUNK;
      ssize_t n = pread(from, chunk, most, at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed = fault(f, "read");
      if (n <= 0) break;
      ssize_t wrote = pwrite(to, chunk, (size_t)n, at);
      /* Less than asked is the first word of a full disk; the next call would say it. */
      if (wrote != n) failed = wrote < 0 ? fault(f, "write") : fault_of(f, ENOSPC, "write");
      if (j->cancelled) failed = fault_of(f, ECANCELED, "cancel");
      at += n;
    }
    if (at < hole) break;
  }
  free(chunk);
  if (!failed && ftruncate(to, s.st_size) < 0) failed = fault(f, "write");
  t->bytes += (uint64_t)s.st_size;
  return failed;
}

/* One file or link, whole under a temporary name first. Refuses fifos, sockets and devices. */
static int copy_leaf(struct job *j, int from, const char *a, const struct stat *s, int to, const char *b, bool overwrite,
                     struct tally *t, struct fault *f) {
  char temporary[40];
  temporary_name(temporary);
  int failed = 0;
  if (S_ISLNK(s->st_mode)) {
    char target[PATH_MAX];
    ssize_t n = readlinkat(from, a, target, sizeof target - 1);
    if (n < 0) return fault(f, "readlink");
    target[n] = 0;
    if (symlinkat(target, to, temporary) < 0) return fault(f, "symlink");
  } else if (S_ISREG(s->st_mode)) {
    int in = openat(from, a, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (in < 0) return fault(f, "open");
    int copy = openat(to, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (copy < 0) failed = fault(f, "open");
    else {
      failed = copy_bytes(j, in, copy, t, f);
      if (!failed && fchmod(copy, s->st_mode & 07777) < 0) failed = fault(f, "chmod");
      close(copy);
    }
    close(in);
  } else
    return fault_of(f, EINVAL, "copy");
  if (!failed && rename_to(to, temporary, to, b, overwrite) < 0) failed = fault(f, "rename");
  if (failed) unlinkat(to, temporary, 0);
  t->entries++;
  return failed;
}

/* Makes the copy of a directory, and enters both. */
static int copy_enter(struct stack *stack, int from, const char *a, int to, const char *b, mode_t mode, bool overwrite, struct fault *f) {
  struct level l;
  if (mkdirat(to, b, 0700) < 0 && !(errno == EEXIST && overwrite)) return fault(f, "mkdir");
  if (walk_open(stack, &l, from, a, false, true, UINT32_MAX) < 0) return fault(f, "open");
  l.other_fd = openat(to, b, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  l.mode = mode;
  int failed = l.other_fd < 0 ? fault(f, "open") : 0;
  *push(stack) = l;
  return failed;
}

/* Copies one entry of the directory on top of the stack; a directory is entered. */
static int copy_entry(struct job *j, struct stack *stack, const char *name, bool overwrite, struct tally *t, struct fault *f) {
  struct level *l = top(stack);
  struct stat s;
  if (fstatat(l->fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0) return errno == ENOENT ? 0 : fault(f, "stat");
  if (!S_ISDIR(s.st_mode)) return copy_leaf(j, l->fd, name, &s, l->other_fd, name, overwrite, t, f);
  t->entries++;
  return copy_enter(stack, l->fd, name, l->other_fd, name, s.st_mode & 07777, overwrite, f);
}

static int copy_tree(struct job *j, int from, const char *a, int to, const char *b, bool overwrite, struct tally *t, struct fault *f) {
  struct stat s;
  if (fstatat(from, a, &s, AT_SYMLINK_NOFOLLOW) < 0) return fault(f, "stat");
  if (!S_ISDIR(s.st_mode)) return copy_leaf(j, from, a, &s, to, b, overwrite, t, f);
  struct stack stack = {0};
  int failed = copy_enter(&stack, from, a, to, b, s.st_mode & 07777, overwrite, f);
  t->entries++;
  while (!failed && stack.depth > 0) {
    struct level *l = top(&stack);
    const char *name;
    if (j->cancelled) failed = fault_of(f, ECANCELED, "cancel");
    else if (level_next(&stack, l, UINT32_MAX, &name) < 0) failed = fault(f, "list");
    else if (name) failed = copy_entry(j, &stack, name, overwrite, t, f);
    else {
      if (fchmod(l->other_fd, l->mode) < 0) failed = fault(f, "chmod");
      pop(&stack);
    }
  }
  drop_stack(&stack);
  return failed;
}

/* A copy that appears whole or not at all; laid over an existing directory it cannot be, and is not. */
static int copy_whole(struct job *j, struct place *a, struct place *b, bool overwrite, struct tally *t, struct fault *f) {
  struct stat s, there;
  if (fstatat(a->dir, a->name, &s, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0) return fault(f, "stat");
  bool exists = fstatat(b->dir, b->name, &there, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !overwrite) return fault_of(f, EEXIST, "copy");
  if (exists && S_ISDIR(there.st_mode) != S_ISDIR(s.st_mode)) return fault_of(f, EEXIST, "copy");
  if (exists && there.st_ino == s.st_ino && there.st_dev == s.st_dev) return fault_of(f, ELOOP, "copy");
  const char *from = *a->name ? a->name : ".";
  if (!S_ISDIR(s.st_mode) || exists) return copy_tree(j, a->dir, from, b->dir, b->name, overwrite, t, f);
  char temporary[40];
  temporary_name(temporary);
  int failed = copy_tree(j, a->dir, from, b->dir, temporary, false, t, f);
  if (!failed && rename_to(b->dir, temporary, b->dir, b->name, false) < 0) failed = fault(f, "rename");
  if (failed) {
    struct fault ignored;
    uint32_t removed = 0;
    remove_entry(b->dir, temporary, true, &removed, &ignored);
  }
  return failed;
}

/* Whether a directory is, or lies above, the one that `dir` is open on. */
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

/* Source and destination of a copy or a move; the destination must be a name in a directory outside the source. */
static int open_both(struct reader *r, struct place *a, struct place *b, struct stat *s, struct fault *f) {
  char *source = get_text(r), *destination = get_text(r);
  *a = *b = (struct place){.dir = -1};
  if (place_open(a, source, f) < 0) {
    free(destination);
    return -1;
  }
  if (fstatat(a->dir, a->name, s, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0) {
    free(destination);
    return fault(f, "stat");
  }
  if (place_open(b, destination, f) < 0) return -1;
  if (!*b->name) return fault_of(f, EEXIST, "open");
  if (S_ISDIR(s->st_mode) && is_above(s, b->dir)) return fault_of(f, ELOOP, "copy");
  return 0;
}

static int op_copy(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  struct place a, b;
  struct stat s;
  struct tally t = {0};
  struct reader flags = {r->end - 2, r->end};
  if (r->end - r->at < 2) die("malformed frame");
  bool overwrite = get8(&flags), recursive = get8(&flags);
  int failed = open_both(r, &a, &b, &s, f);
  if (!failed && S_ISDIR(s.st_mode) && !recursive) failed = fault_of(f, EISDIR, "copy");
  if (!failed) failed = copy_whole(j, &a, &b, overwrite, &t, f);
  place_close(&a);
  place_close(&b);
  put32(answer, t.entries);
  put64(answer, t.bytes);
  return failed;
}

/* To another file system: a whole copy first, then the source goes; when it cannot, the copy goes again. */
static int move_across(struct job *j, struct place *a, struct place *b, bool overwrite, struct fault *f) {
  struct tally t = {0};
  uint32_t removed = 0;
  struct fault ignored;
  char temporary[40];
  temporary_name(temporary);
  if (faccessat(a->dir, ".", W_OK | X_OK, 0) < 0) return fault(f, "move");
  int failed = copy_tree(j, a->dir, a->name, b->dir, temporary, false, &t, f);
  if (!failed && rename_to(b->dir, temporary, b->dir, b->name, overwrite) < 0) failed = fault(f, "rename");
  if (failed) remove_entry(b->dir, temporary, true, &removed, &ignored);
  else if (remove_entry(a->dir, a->name, true, &removed, f) < 0) {
    failed = -1;
    /* Nothing of the source is gone yet: take the copy back. Else the copy is all there is of it. */
    if (removed == 0 && !overwrite) remove_entry(b->dir, b->name, true, &removed, &ignored);
  }
  return failed;
}

static int op_move(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  struct place a, b;
  struct stat s, there;
  if (r->end - r->at < 1) die("malformed frame");
  bool overwrite = r->end[-1];
  int failed = open_both(r, &a, &b, &s, f);
  if (!failed && (!*a.name || is_mount(a.dir, a.name, &s))) failed = fault_of(f, EBUSY, "move");
  bool exists = !failed && fstatat(b.dir, b.name, &there, AT_SYMLINK_NOFOLLOW) == 0;
  if (!failed && exists && is_mount(b.dir, b.name, &there)) failed = fault_of(f, overwrite ? EBUSY : EEXIST, "move");
  if (!failed && exists && overwrite && S_ISDIR(there.st_mode) != S_ISDIR(s.st_mode)) failed = fault_of(f, EEXIST, "move");
  if (!failed && rename_to(a.dir, a.name, b.dir, b.name, overwrite) < 0)
    failed = errno == EXDEV ? move_across(j, &a, &b, overwrite, f) : fault(f, "move");
  if (!failed && fstatat(b.dir, b.name, &s, AT_SYMLINK_NOFOLLOW) < 0) failed = fault(f, "stat");
  if (!failed) put_facts(answer, &s, b.dir, b.name);
  place_close(&a);
  place_close(&b);
  return failed;
}

static int op_mkdir(struct job *j, struct reader *r, struct buffer *answer, struct fault *f) {
  (void)j;
  char *path = get_text(r);
  bool parents = get8(r);
  mode_t mode = get32(r) & 07777;
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') path[--n] = 0;
  int failed = n == 0 ? fault_of(f, ENOENT, "mkdir") : parents ? make_dirs(path, 0755, f) : 0;
  bool created = false;
  if (!failed && mkdir(path, mode) == 0) created = true;
  else if (!failed) {
    struct stat s;
    int error = errno;
    bool there = stat(path, &s) == 0;
    if (there && !(parents && S_ISDIR(s.st_mode))) failed = fault_of(f, EEXIST, "mkdir");
    else if (!there) failed = fault_of(f, error, "mkdir");
  }
  if (created && chmod(path, mode) < 0) failed = fault(f, "chmod");
  put8(answer, created);
  free(path);
  return failed;
}

/* -- the threads -- */

static void job_run(struct job *j) {
  static int (*const ops[])(struct job *, struct reader *, struct buffer *, struct fault *) = {
      [OP_INFO] = op_info,   [OP_REALPATH] = op_realpath, [OP_LIST] = op_list, [OP_WALK] = op_walk, [OP_READ] = op_read,
      [OP_WRITE] = op_write, [OP_REMOVE] = op_remove,     [OP_COPY] = op_copy, [OP_MOVE] = op_move, [OP_MKDIR] = op_mkdir,
  };
  if (j->op < OP_INFO || j->op > OP_MKDIR) die("unknown file operation");
  struct reader r = {j->params.data, j->params.data + j->params.end};
  struct buffer answer = {0};
  struct fault f = {0};
  int failed = ops[j->op](j, &r, &answer, &f);
  pthread_mutex_lock(&lock);
  if (failed) send_failed(j->id, f.error, f.during);
  else {
    size_t place = frame_begin(DONE, j->id);
    put(&out, answer.data, answer.end);
    frame_end(place);
  }
  for (struct job **at = &jobs; *at; at = &(*at)->next)
    if (*at == j) {
      *at = j->next;
      break;
    }
  job_count--;
  pthread_mutex_unlock(&lock);
  release(&answer);
  release(&j->params);
  release(&j->input);
  free(j);
  wake();
}

static struct job *waiting_job(void) {
  struct job *oldest = NULL;
  for (struct job *j = jobs; j; j = j->next)
    if (!j->taken) oldest = j; /* new ones stand in front */
  return oldest;
}

/* Serves jobs; one that is not among the first ends when there are none. */
static void *file_thread(void *extra) {
  for (;;) {
    pthread_mutex_lock(&lock);
    struct job *j;
    idle_threads++;
    while (!(j = waiting_job()) && !extra) pthread_cond_wait(&work, &lock);
    idle_threads--;
    if (!j) {
      thread_count--;
      pthread_mutex_unlock(&lock);
      return NULL;
    }
    j->taken = true;
    untaken_jobs--;
    pthread_mutex_unlock(&lock);
    job_run(j);
  }
}

static bool start_thread(bool extra) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  static char yes;
  bool ok = pthread_create(&thread, &attributes, file_thread, extra ? &yes : NULL) == 0;
  pthread_attr_destroy(&attributes);
  if (ok) thread_count++;
  return ok;
}

static void job_start(uint32_t id, struct reader *r) {
  uint8_t op = get8(r);
  if (job_count >= JOBS_MAX) {
    send_failed(id, EAGAIN, "file operation");
    return;
  }
  struct job *j = calloc(1, sizeof *j);
  if (!j) die("out of memory");
  *j = (struct job){.next = jobs, .id = id, .op = op, .credit = OUTPUT_WINDOW};
  put(&j->params, r->at, (size_t)(r->end - r->at));
  r->at = r->end;
  jobs = j;
  job_count++;
  untaken_jobs++;
  /* Streams wait for their readers: others must not wait for them. Where no thread can be had, they do. */
  if (untaken_jobs > idle_threads && thread_count < THREADS_MAX) start_thread(true);
  pthread_cond_signal(&work);
}

static struct job *job_of(uint32_t id) {
  for (struct job *j = jobs; j; j = j->next)
    if (j->id == id) return j;
  return NULL;
}

/* ---- frames from the engine ------------------------------------------------------------------------------------- */

static void feed(uint32_t id, struct reader *r, bool end) {
  struct exec *e = exec_of(id);
  struct job *j = e ? NULL : job_of(id);
  size_t n = (size_t)(r->end - r->at);
  const uint8_t *bytes = take(r, n);
  struct buffer *input = e ? &e->input : j ? &j->input : NULL;
  if (!input) return; /* it has ended meanwhile */
  if (filled(input) + n > INPUT_WINDOW) die("more input than was granted");
  if (e) {
    if (e->in_fd < 0 || e->input_end) return;
    put(input, bytes, n);
    if (end && !e->pty) e->input_end = true;
    exec_feed(e);
  } else {
    put(input, bytes, n);
    if (end) j->input_end = true;
    flow_changed();
  }
}

static void grant(uint32_t id, struct reader *r) {
  uint8_t stream = get8(r);
  uint32_t bytes = get32(r);
  if (stream != 1 && stream != 2) die("unknown stream");
  struct exec *e = exec_of(id);
  struct job *j = e ? NULL : job_of(id);
  if (e) e->credit[stream - 1] += bytes;
  if (j) {
    j->credit += bytes;
    flow_changed();
  }
}

/* Kills every program and what it has started; those that run end with the status that this gives them. */
static void kill_all(uint32_t id) {
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

static void on_frame(uint8_t type, uint32_t id, struct reader *r) {
  struct exec *e = exec_of(id);
  switch (type) {
    case EXEC:
      if (e || job_of(id)) die("id in use");
      exec_start(id, r);
      break;
    case FILE_OP:
      if (e || job_of(id)) die("id in use");
      job_start(id, r);
      break;
    case DATA:
    case END:
      feed(id, r, type == END);
      break;
    case CREDIT:
      grant(id, r);
      break;
    case SIGNAL: {
      uint32_t number = get32(r);
      if (number < 1 || number >= NSIG) die("unknown signal");
      if (e && e->program > 0 && !e->exited) kill(-e->program, (int)number);
      break;
    }
    case KILL: {
      bool gently = get8(r);
      if (e && !e->exited && !e->failed) {
        e->killed = true;
        exec_kill(e, gently);
      }
      break;
    }
    case RESIZE: {
      uint16_t cols = get16(r), rows = get16(r);
      if (e && e->pty && e->out_fd[0] >= 0) set_size(e->out_fd[0], cols, rows);
      break;
    }
    case DISCARD: {
      uint8_t stream = get8(r);
      if (stream != 1 && stream != 2) die("unknown stream");
      if (e) e->limit[stream - 1] = 0;
      break;
    }
    case CANCEL: {
      struct job *j = job_of(id);
      if (j) {
        j->cancelled = true;
        flow_changed();
      }
      break;
    }
    case KILL_ALL:
      kill_all(id);
      break;
    case PING:
      send_empty(PONG, id);
      break;
    default:
      die("unknown frame");
  }
  if (r->at != r->end) die("frame too long");
}

static void leave(int code) {
  /* As process 1 we take everything with us; else (in tests) nothing of ours may survive. */
  if (getpid() != 1)
    for (int i = 0; i < EXECS; i++)
      if (execs[i].used) kill_tree(&execs[i], SWEEP_WHOLE, &(uint32_t){0});
  _exit(code);
}

static void receive(struct buffer *in) {
  for (;;) {
    ssize_t n = read(0, room(in, CHUNK), CHUNK);
    if (n == 0) leave(0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) leave(0);
    in->end += (size_t)n;
    if (n < CHUNK) break;
  }
  while (filled(in) >= 4) {
    uint32_t length;
    memcpy(&length, in->data + in->start, 4);
    if (length < 5 || length > FRAME_MAX) die("bad length of a frame");
    if (filled(in) < 4 + (size_t)length) break;
    const uint8_t *body = in->data + in->start + 4;
    uint32_t id;
    memcpy(&id, body + 1, 4);
    struct reader r = {body + 5, body + length};
    on_frame(body[0], id, &r);
    consume(in, 4 + (size_t)length);
  }
}

static void transmit(void) {
  while (filled(&out) > 0) {
    ssize_t n = write(1, out.data + out.start, filled(&out));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) leave(0);
    consume(&out, (size_t)n);
  }
  flow_changed();
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

struct watch {
  struct exec *e;
  int what; /* 0 status, 1 input, 2 and 3 output */
};

static int watch_all(struct pollfd *fds, struct watch *watches) {
  int count = 4;
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    if (!e->used) continue;
#define WATCH(descriptor, wanted, kind) \
  fds[count] = (struct pollfd){.fd = descriptor, .events = wanted}, watches[count++] = (struct watch){e, kind}
    if (e->status_fd >= 0) WATCH(e->status_fd, POLLIN, 0);
    /* Without POLLOUT it still tells that the reader is gone. A terminal's one descriptor tells that by its output. */
    if (e->in_fd >= 0 && (!e->pty || filled(&e->input) > 0)) WATCH(e->in_fd, filled(&e->input) > 0 ? POLLOUT : 0, 1);
    for (int o = 0; o < 2; o++)
      if (may_read(e, o)) WATCH(e->out_fd[o], POLLIN, 2 + o);
#undef WATCH
  }
  return count;
}

static void attend(struct pollfd *p, struct watch *w) {
  struct exec *e = w->e;
  if (!p->revents || !e->used) return;
  if (w->what == 0) exec_listen(e);
  else if (w->what == 1) {
    if (p->revents & POLLERR) shut(&e->in_fd);
    exec_feed(e);
  } else
    exec_pump(e);
}

/* When to look again for a bomb that an ended program has left. */
static uint64_t look_at;

static void look_for_bomb(void) {
  if (now() < look_at) return;
  look_at = now() + CROWDED_AGAIN;
  bool left = false;
  for (int i = 0; i < EXECS; i++) left = left || (execs[i].used && execs[i].reported);
  uint32_t killed = left ? end_bomb() : 0;
  if (killed > 0) dprintf(2, "bax-agent: killed %u processes of an ended command, which filled the limit of processes\n", killed);
}

static int milliseconds_to_wait(void) {
  uint64_t next = 0, t = now();
  for (int i = 0; i < EXECS; i++) {
    uint64_t at = execs[i].used ? exec_next(&execs[i]) : 0;
    if (at && (!next || at < next)) next = at;
  }
  for (int i = 0; i < EXECS && look_at; i++)
    if (execs[i].used && execs[i].reported && (!next || look_at < next)) next = look_at;
  if (!next) return -1;
  return next <= t ? 0 : (int)((next - t + MS - 1) / MS);
}

static void serve(int signals) {
  static struct pollfd fds[4 + EXECS * 4];
  static struct watch watches[4 + EXECS * 4];
  static struct buffer in;
  pthread_mutex_lock(&lock);
  for (;;) {
    fds[0] = (struct pollfd){.fd = 0, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = filled(&out) > 0 ? 1 : -1, .events = POLLOUT};
    fds[2] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    fds[3] = (struct pollfd){.fd = signals, .events = POLLIN};
    int count = watch_all(fds, watches), timeout = milliseconds_to_wait();
    pthread_mutex_unlock(&lock);
    int ready = poll(fds, (nfds_t)count, timeout);
    pthread_mutex_lock(&lock);
    if (ready < 0 && errno != EINTR) die("poll");
    uint64_t rung;
    if (ready > 0 && fds[2].revents && read(wake_fd, &rung, 8) < 0 && errno != EAGAIN) die("eventfd");
    struct signalfd_siginfo child;
    bool reaping = ready > 0 && fds[3].revents;
    while (reaping && read(signals, &child, sizeof child) > 0) {
    }
    for (int i = 4; ready > 0 && i < count; i++) attend(&fds[i], &watches[i]);
    if (reaping) reap();
    if (ready > 0 && fds[0].revents) receive(&in);
    for (int i = 0; i < EXECS; i++)
      if (execs[i].used) exec_step(&execs[i]);
    look_for_bomb();
    transmit();
  }
}

/*
 * On top of Docker's own filter, whichever it is, for us and every program: no io_uring, and no AF_VSOCK, which no
 * network namespace holds and which leads to the host of a virtual machine.
 */
static void filter_calls(void) {
#if defined(__x86_64__)
  const uint32_t native = AUDIT_ARCH_X86_64, other_socket = 359; /* i386 */
#else
  const uint32_t native = AUDIT_ARCH_AARCH64, other_socket = 281; /* arm */
#endif
  enum { VSOCK = 40, FIRST_URING = 425, LAST_URING = 427, OTHER_SOCKETCALL = 102 };
  const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM, numbers = ~0x40000000u; /* without the mark of x32 */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS_EQUAL(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
  struct sock_filter code[] = {
      LOAD(nr),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, numbers),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_URING, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_URING, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, refuse),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      LOAD(arch),
      UNLESS_EQUAL(native, 5),
      BPF_STMT(BPF_MISC | BPF_TXA, 0),
      UNLESS_EQUAL(SYS_socket, 8),
      LOAD(args[0]),
      UNLESS_EQUAL(VSOCK, 6),
      BPF_STMT(BPF_RET | BPF_K, refuse),
      /* Another architecture's sockets go by calls whose family cannot be seen. */
      BPF_STMT(BPF_MISC | BPF_TXA, 0),
      UNLESS_EQUAL(OTHER_SOCKETCALL, 1),
      BPF_STMT(BPF_RET | BPF_K, refuse),
      UNLESS_EQUAL(other_socket, 1),
      BPF_STMT(BPF_RET | BPF_K, refuse),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
#undef LOAD
#undef UNLESS_EQUAL
  struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) die("seccomp");
}

/* ---- the fence: two small programs for sessions with a network, run in containers of their own ------------------- */

/* `agent survey`, in the host's network: its addresses, and the resolvers that it asks. */
static int survey(void) {
  struct ifaddrs *all, *a;
  if (getifaddrs(&all) < 0) return 1;
  for (a = all; a; a = a->ifa_next) {
    char text[INET6_ADDRSTRLEN];
    int family = a->ifa_addr ? a->ifa_addr->sa_family : 0;
    const void *address = family == AF_INET    ? (const void *)&((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr
                          : family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)(void *)a->ifa_addr)->sin6_addr
                                               : NULL;
    if (address && inet_ntop(family, address, text, sizeof text)) printf("address %s\n", text);
  }
  freeifaddrs(all);
  FILE *file = fopen("/etc/resolv.conf", "re");
  char line[1024], name[64];
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "nameserver %63s", name) == 1) printf("resolver %s\n", name);
  if (file) fclose(file);
  return 0;
}

struct rule {
  struct nlmsghdr head;
  struct fib_rule_hdr body;
  char attributes[128];
};

static void attribute(struct rule *rule, unsigned short type, const void *bytes, size_t n) {
  struct rtattr *a = (struct rtattr *)(void *)((char *)rule + NLMSG_ALIGN(rule->head.nlmsg_len));
  a->rta_type = type;
  a->rta_len = (unsigned short)RTA_LENGTH(n);
  memcpy(RTA_DATA(a), bytes, n);
  rule->head.nlmsg_len = NLMSG_ALIGN(rule->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

/* Sends one rule and waits for the kernel's answer. */
static int add_rule(int fd, struct rule *rule) {
  struct {
    struct nlmsghdr head;
    struct nlmsgerr error;
    char rest[256];
  } answer;
  if (send(fd, rule, rule->head.nlmsg_len, 0) < 0) return errno;
  if (recv(fd, &answer, sizeof answer, 0) < (ssize_t)NLMSG_LENGTH(sizeof answer.error)) return EIO;
  return answer.head.nlmsg_type == NLMSG_ERROR ? -answer.error.error : EIO;
}

/* Routes of one destination: nowhere, or (with a protocol) as usual to its port 53. */
static int rule_for(int fd, const char *destination, int protocol) {
  char text[64];
  snprintf(text, sizeof text, "%s", destination);
  char *slash = strchr(text, '/');
  if (slash) *slash = 0;
  uint8_t address[16];
  int family = strchr(text, ':') ? AF_INET6 : AF_INET;
  size_t size = family == AF_INET ? 4 : 16;
  if (inet_pton(family, text, address) != 1) return EINVAL;
  struct rule rule = {
      .head = {.nlmsg_len = NLMSG_LENGTH(sizeof rule.body),
               .nlmsg_type = RTM_NEWRULE,
               .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
      .body = {.family = (uint8_t)family,
               .dst_len = (uint8_t)(slash ? atoi(slash + 1) : (int)size * 8),
               .table = protocol ? RT_TABLE_MAIN : RT_TABLE_UNSPEC,
               .action = protocol ? FR_ACT_TO_TBL : FR_ACT_UNREACHABLE},
  };
  uint32_t priority = protocol ? 100 : 200;
  attribute(&rule, FRA_PRIORITY, &priority, sizeof priority);
  if (rule.body.dst_len > 0) attribute(&rule, FRA_DST, address, size);
  if (protocol) {
    uint8_t number = (uint8_t)protocol;
    struct fib_rule_port_range port = {53, 53};
    attribute(&rule, FRA_IP_PROTO, &number, sizeof number);
    attribute(&rule, FRA_DPORT_RANGE, &port, sizeof port);
  }
  int error = add_rule(fd, &rule);
  /* A kernel without IPv6 has nothing to forbid there. */
  return error == EEXIST || (error == EAFNOSUPPORT && family == AF_INET6) ? 0 : error;
}

/*
 * `agent fence deny RANGE… ask RESOLVER…`, in the network of a session and with CAP_NET_ADMIN, which the session itself
 * never has: says where it may not go. Only then does the session run its first program.
 */
static int fence(char **words) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return 1;
  bool deny = true;
  for (; *words; words++) {
    if (!strcmp(*words, "deny") || !strcmp(*words, "ask")) {
      deny = !strcmp(*words, "deny");
      continue;
    }
    int error = deny ? rule_for(fd, *words, 0) : rule_for(fd, *words, IPPROTO_UDP);
    if (!error && !deny) error = rule_for(fd, *words, IPPROTO_TCP);
    if (error) {
      dprintf(2, "%s: %s\n", *words, strerror(error));
      return 1;
    }
  }
  puts("fenced");
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "survey")) return survey();
  if (argc > 2 && !strcmp(argv[1], "fence")) return fence(argv + 2);
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  filter_calls();
  signal(SIGPIPE, SIG_IGN);
  umask(0);
  /* Walking a deep tree holds a descriptor a level; what the system allows us at most is ours. */
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &watched, NULL);
  int signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signals < 0 || wake_fd < 0) die("signalfd");
  gates = mmap(NULL, EXECS * sizeof *gates, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (gates == MAP_FAILED) die("gates");
  fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
  fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
  fcntl(1, F_SETPIPE_SZ, 1 << 20);
  /* Relative paths begin here; an image or a test without it begins where it was started. */
  if (chdir("/workspace") < 0 && errno != ENOENT) die("/workspace");
  size_t place = frame_begin(HELLO, 0);
  put32(&out, VERSION);
  frame_end(place);
  for (int i = 0; i < THREADS; i++)
    if (!start_thread(false)) die("no threads");
  serve(signals);
}
