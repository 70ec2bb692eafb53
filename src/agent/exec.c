/* Runs programs: their output, input, timeouts and end. */
#define _GNU_SOURCE
#include "exec.h"

#include "processes.h"

#define DRAIN (100 * MS) /* for output of background processes */
#define KILL_AGAIN (10 * MS)
#define SWEEP (100 * MS) /* maximum time for killing one tree before others are served */
#define DISCARD_PAUSE (10 * MS) /* between reads of a background process without a reader */

struct exec execs[EXECS];

struct exec *exec_of(uint32_t id) {
  for (int i = 0; i < EXECS; i++)
    if (execs[i].used && !execs[i].reported && execs[i].id == id) return &execs[i];
  return NULL;
}

void exec_free(struct exec *e) {
  shut(&e->status_fd);
  shut(&e->in_fd);
  shut(&e->out_fd[0]);
  shut(&e->out_fd[1]);
  release(&e->input);
  e->used = false;
}

int set_terminal_size(int fd, uint16_t cols, uint16_t rows) {
  struct winsize size = {.ws_col = cols, .ws_row = rows};
  return ioctl(fd, TIOCSWINSZ, &size);
}

static void exec_finish(struct exec *e) {
  if (!e->failed) {
    size_t frame = frame_begin(EXITED, e->id);
    bool oom = oom_kills() > e->oom_before;
    put8(&out, (uint8_t)(e->timed_out | e->killed << 1 | oom << 2 | e->crowded_out << 3));
    put8(&out, WIFSIGNALED(e->status));
    put32(&out, (uint32_t)(WIFSIGNALED(e->status) ? WTERMSIG(e->status) : WEXITSTATUS(e->status)));
    put32(&out, e->left);
    put64(&out, e->total[0]);
    put64(&out, e->total[1]);
    put64(&out, (e->ended - e->began) / 1000);
    frame_end(frame);
  }
  e->reported = true;
  shut(&e->in_fd);
  release(&e->input);
}

/* Notes the end of the program: the current content of its pipes is delivered, later output only for a moment. */
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

static void exec_count_left(struct exec *e, bool alone) {
  if (!e->left_counted) e->left = alone ? 0 : count_tree(e);
  e->left_counted = true;
}

static void exec_failed(struct exec *e, int error, const char *during) {
  send_failed(e->id, error, during);
  e->failed = true;
}

static void exec_handle_report(struct exec *e, const struct report *report) {
  if (report->what == 'F') exec_failed(e, report->number, report->during);
  else if (report->what == 'L') exec_count_left(e, false);
  else if (report->what == 'R') e->needs_room = true;
  else if (report->what == 'S') {
    e->program = report->number;
    size_t frame = frame_begin(STARTED, e->id);
    put32(&out, (uint32_t)report->number);
    put32(&out, e->made_room);
    frame_end(frame);
    if (e->killing) kill(-e->program, SIGTERM);
  } else if (!e->exited)
    exec_ended(e, report->number);
}

void exec_read_reports(struct exec *e) {
  struct report report;
  while (e->status_fd >= 0) {
    ssize_t n = read(e->status_fd, &report, sizeof report);
    if (n == sizeof report) exec_handle_report(e, &report);
    else if (n < 0 && errno == EINTR) continue;
    else if (n < 0 && errno == EAGAIN) return;
    else shut(&e->status_fd);
  }
}

/* Handles the end of a supervisor. If it was killed (`kill -9 -1`), we are the parent of its program now. */
static void supervisor_gone(struct exec *e, bool in_order) {
  exec_read_reports(e);
  e->supervisor = 0;
  if (e->exited) exec_count_left(e, in_order);
  if (e->exited || e->failed) return;
  siginfo_t info;
  if (e->program > 0 && waitid(P_PID, (id_t)e->program, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0) e->adopted = true;
  else exec_failed(e, ECHILD, "wait");
}

void reap(void) {
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
        exec_count_left(e, false);
      }
    }
  }
}

bool exec_may_read(struct exec *e, int i) {
  if (e->out_fd[i] < 0) return false;
  if (e->reported) return now() >= e->discard_at;
  if (e->sent[i] >= e->limit[i]) return true;
  return e->credit[i] > 0 && filled(&out) < QUEUE_SOFT;
}

/* Moves output to the queue; returns false if there is none at the moment. */
static bool exec_read_stream(struct exec *e, int i) {
  static uint8_t dropped[CHUNK];
  bool drop = e->reported || e->sent[i] >= e->limit[i];
  ssize_t n;
  if (drop) n = read(e->out_fd[i], dropped, sizeof dropped);
  else {
    uint64_t max = CHUNK;
    if ((uint64_t)e->credit[i] < max) max = (uint64_t)e->credit[i];
    if (e->limit[i] - e->sent[i] < max) max = e->limit[i] - e->sent[i];
    size_t frame = frame_begin(OUTPUT, e->id);
    put8(&out, (uint8_t)(i + 1));
    n = read(e->out_fd[i], room(&out, max), max);
    if (n > 0) {
      out.end += (size_t)n;
      frame_end(frame);
      e->credit[i] -= n;
      e->sent[i] += (uint64_t)n;
    } else
      out.end = out.start + frame;
  }
  if (n > 0) {
    e->total[i] += (uint64_t)n;
    return true;
  }
  /* A terminal without users returns EIO. */
  if (n == 0 || (errno != EAGAIN && errno != EINTR)) shut(&e->out_fd[i]);
  return false;
}

void exec_read_output(struct exec *e) {
  bool any = false;
  for (int i = 0; i < 2; i++) {
    /* Read in turns, so that no stream blocks the others. */
    for (int turn = 0; turn < 4 && exec_may_read(e, i); turn++) {
      if (!exec_read_stream(e, i)) break;
      any = true;
    }
  }
  e->discard_at = e->reported && any ? now() + DISCARD_PAUSE : 0;
}

void exec_write_input(struct exec *e) {
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

static bool exec_is_drained(struct exec *e) {
  for (int i = 0; i < 2; i++) {
    if (e->out_fd[i] < 0) continue;
    /* Output of the program itself is delivered completely, at any pace of the reader. */
    if (e->total[i] < e->must_read[i]) return false;
    if (now() < e->drain_until) return false;
  }
  return true;
}

/* Makes room for a supervisor that cannot fork. */
static void exec_make_room(struct exec *e) {
  e->needs_room = false;
  if (!e->killing && e->tries++ < ROOM_TRIES && await_room(e)) open_gate(e);
  else {
    uint32_t killed = 0;
    exec_failed(e, EAGAIN, "fork");
    /* A program may have started while the gate was open. */
    kill_tree(e, SWEEP, &killed);
    *gate_of(e) = GATE_SHUT;
    kill(e->supervisor, SIGKILL);
  }
}

void exec_step(struct exec *e) {
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
  if (e->failed && !e->reported) exec_finish(e);
  if (e->left_counted && !e->reported) {
    /* Once the kill is reported, nothing of the tree may be left. */
    bool gone = !e->killing || (e->supervisor == 0 && !e->adopted);
    if (e->killing && gone) e->left = 0;
    if (gone && exec_is_drained(e)) exec_finish(e);
  }
  if (e->reported && e->supervisor <= 0) exec_free(e);
}

uint64_t exec_next(const struct exec *e) {
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
