/*
 * Process 1 of a shell session's container. It exchanges length-prefixed frames with the engine over its stdin and
 * stdout (protocol.md), runs programs, each below a supervisor that is a child subreaper, and performs the file
 * operations. It runs as the session's user, without capabilities.
 *
 * - The main thread owns all programs and both ends of the connection; a few threads perform the file operations:
 *   unlike child processes, threads of process 1 survive `kill -9 -1` and need no free slot under the process limit.
 * - PR_SET_DUMPABLE 0 keeps programs of the same user away from our descriptors in /proc: they cannot forge frames.
 * - When stdin ends, the engine has disconnected: the agent exits, and the container with it.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "exec.h"
#include "jobs.h"
#include "protocol.h"
#include "sandbox.h"

#define CROWDED_AGAIN (250 * MS) /* between checks for fork bombs of ended programs */

static void receive_input(uint32_t id, struct reader *r, bool end) {
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
    exec_write_input(e);
  } else {
    put(input, bytes, n);
    if (end) j->input_end = true;
    flow_changed();
  }
}

static void add_credit(uint32_t id, struct reader *r) {
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
      receive_input(id, r, type == END);
      break;
    case CREDIT:
      add_credit(id, r);
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
      if (e && e->pty && e->out_fd[0] >= 0) set_terminal_size(e->out_fd[0], cols, rows);
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

static void quit(int code) {
  /* As process 1 our end kills everything; otherwise, in tests, kill our processes. */
  if (getpid() != 1)
    for (int i = 0; i < EXECS; i++)
      if (execs[i].used) kill_tree(&execs[i], SWEEP_WHOLE, &(uint32_t){0});
  _exit(code);
}

static void receive(struct buffer *in) {
  for (;;) {
    ssize_t n = read(0, room(in, CHUNK), CHUNK);
    if (n == 0) quit(0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) quit(0);
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
    if (n < 0) quit(0);
    consume(&out, (size_t)n);
  }
  flow_changed();
}

struct watch {
  struct exec *e;
  int what; /* 0 status, 1 input, 2 and 3 output */
};

static int watch_all(struct pollfd *fds, struct watch *watches) {
  int count = 4;
  for (int i = 0; i < EXECS; i++) {
    struct exec *e = &execs[i];
    if (!e->used) continue;
#define WATCH(descriptor, mask, kind) \
  fds[count] = (struct pollfd){.fd = descriptor, .events = mask}, watches[count++] = (struct watch){e, kind}
    if (e->status_fd >= 0) WATCH(e->status_fd, POLLIN, 0);
    /* Without POLLOUT it still reports that the reader is gone. A terminal reports that by its output. */
    if (e->in_fd >= 0 && (!e->pty || filled(&e->input) > 0)) WATCH(e->in_fd, filled(&e->input) > 0 ? POLLOUT : 0, 1);
    for (int o = 0; o < 2; o++)
      if (exec_may_read(e, o)) WATCH(e->out_fd[o], POLLIN, 2 + o);
#undef WATCH
  }
  return count;
}

static void handle_event(struct pollfd *p, struct watch *w) {
  struct exec *e = w->e;
  if (!p->revents || !e->used) return;
  if (w->what == 0) exec_read_reports(e);
  else if (w->what == 1) {
    if (p->revents & POLLERR) shut(&e->in_fd);
    exec_write_input(e);
  } else
    exec_read_output(e);
}

/* Time of the next check for a fork bomb of an ended program. */
static uint64_t next_check;

static void check_for_bomb(void) {
  if (now() < next_check) return;
  next_check = now() + CROWDED_AGAIN;
  bool left = false;
  for (int i = 0; i < EXECS; i++) left = left || (execs[i].used && execs[i].reported);
  uint32_t killed = left ? kill_bomb() : 0;
  if (killed > 0) dprintf(2, "bax-agent: killed %u processes of an ended command, which filled the limit of processes\n", killed);
}

static int milliseconds_to_wait(void) {
  uint64_t next = 0, t = now();
  for (int i = 0; i < EXECS; i++) {
    uint64_t at = execs[i].used ? exec_next(&execs[i]) : 0;
    if (at && (!next || at < next)) next = at;
  }
  for (int i = 0; i < EXECS && next_check; i++)
    if (execs[i].used && execs[i].reported && (!next || next_check < next)) next = next_check;
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
    uint64_t wakeups;
    if (ready > 0 && fds[2].revents && read(wake_fd, &wakeups, 8) < 0 && errno != EAGAIN) die("eventfd");
    struct signalfd_siginfo child;
    bool reaping = ready > 0 && fds[3].revents;
    while (reaping && read(signals, &child, sizeof child) > 0) {
    }
    for (int i = 4; ready > 0 && i < count; i++) handle_event(&fds[i], &watches[i]);
    if (reaping) reap();
    if (ready > 0 && fds[0].revents) receive(&in);
    for (int i = 0; i < EXECS; i++)
      if (execs[i].used) exec_step(&execs[i]);
    check_for_bomb();
    transmit();
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "survey")) return survey();
  if (argc > 2 && !strcmp(argv[1], "fence")) return fence(argv + 2);
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  filter_calls();
  signal(SIGPIPE, SIG_IGN);
  umask(0);
  /* Raise the limit of open files: walking a deep tree needs a descriptor per level. */
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
  create_gates();
  fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
  fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
  fcntl(1, F_SETPIPE_SZ, 1 << 20);
  /* Relative paths start here; without this folder (other images, tests) in the current one. */
  if (chdir("/workspace") < 0 && errno != ENOENT) die("/workspace");
  size_t frame = frame_begin(HELLO, 0);
  put32(&out, VERSION);
  frame_end(frame);
  start_threads();
  serve(signals);
}
