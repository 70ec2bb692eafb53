/* Starts programs: descriptors, arguments, script, and the fork of the supervisor. */
#define _GNU_SOURCE
#include "exec.h"
#include "processes.h"

#define PIPE_SIZE (256 << 10) /* of pipes for program output; a smaller size is only slower */
#define PLACEHOLDER "\0script"

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

static int open_terminal(struct exec *e, struct launch *l, uint16_t cols, uint16_t rows) {
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), unlocked = 0;
  if (master < 0) return -1;
  int slave = ioctl(master, TIOCSPTLCK, &unlocked) < 0 ? -1 : ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) {
    close(master);
    return -1;
  }
  set_terminal_size(master, cols, rows);
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

/* Returns clock ticks since boot, the unit of start times in /proc. */
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
  kill_orphans();
  e->made_room = kill_bomb();
  for (int i = 0; i < ROOM_TRIES; i++) {
    if (fork_supervisor(e, l) == 0) return 0;
    if (errno != EAGAIN) return -1;
    if (!await_room(e)) break;
  }
  errno = EAGAIN;
  return -1;
}

void exec_start(uint32_t id, struct reader *r) {
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
