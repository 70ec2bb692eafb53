/*
 * The `bax` command: passes a command line to a warm process of the local engine, and streams and signals between that
 * process and the terminal. Without one, or if the command must run in a process of its own, it starts Node instead.
 *
 * Frames in both directions: type (1 byte), length of the payload (4 bytes, little endian), payload.
 *   to the engine:    H hello, I input (empty: end of input), S signal (1 byte), W window sizes, E an output failed (its
 *                     number, errno), D all output so far has been written or has failed
 *   from the engine:  A accepted, F run it in Node (a reason), N connect to a command worker (a reason), O and R data for
 *                     standard output and error (empty: report with D), I send more input, X exit code (1 byte), Y exit
 *                     code if all output has been written; otherwise report with D and go on
 * The engine starts the command once it has written A, which fails if this program has shut down the connection. This
 * program starts Node only if there is no A after it has done that: a command never runs twice.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "checkout.h"
#include "hello.h"

#define CHUNK 65536
/* A pipe that is ready for writing takes this much without blocking. */
#define PIPE_CHUNK 4096
/* Time in which the engine accepts the command, in milliseconds. */
#define ACCEPT_MS 5000
/* Sockets in the state folder, as in server/process/command-workers. */
#define ENGINE_SOCKET "cli.sock"
#define WORKER_SOCKET "worker.sock"
/* Exit code for an engine that ended, as in core/errors. */
#define UNREACHABLE 3

/* Name under which a command starts this program to learn that nobody reads its standard output any more. */
#define READER_WATCH "bax-wait-for-reader"

static sigset_t before;   /* signal mask to restore for Node */
static void (*pipe_before)(int);

/* Runs the command in Node; nothing of it has happened yet. `bax doctor` asks for the reason. */
__attribute__((noreturn)) static void run_node(const char *reason) {
  if (getenv("BAX_EXPLAIN_LAUNCHER")) fprintf(stderr, "launcher: %s\n", reason);
  char program[4200];
  snprintf(program, sizeof program, "%s/../bin/bax.js", folder);
  int count = 0;
  while (arguments[count]) count++;
  char **args = calloc((size_t)count + 2, sizeof *args);
  if (!args) _exit(1);
  args[0] = "node";
  args[1] = program;
  for (int i = 1; i < count; i++) args[i + 1] = arguments[i];
  signal(SIGPIPE, pipe_before);
  sigprocmask(SIG_SETMASK, &before, NULL);
  /* Packages of operating systems contain a Node. */
  char bundled[4200];
  snprintf(bundled, sizeof bundled, "%s/../runtime/node", folder);
  execv(bundled, args);
  execvp("node", args);
  fprintf(stderr, "error: cannot start node: %s\nhint: install Node.js 20.12 or newer\n", strerror(errno));
  _exit(UNREACHABLE);
}

/* Writes the state folder for which no flag and no settings file names another: `env-paths` does the same. */
static int state_folder(char *path, size_t n) {
  const char *named = getenv("BAX_STATE_DIR");
  const char *data = getenv("XDG_DATA_HOME");
  const char *home = getenv("HOME");
  int length;
  if (named && *named) length = *named == '/' ? snprintf(path, n, "%s", named) : snprintf(path, n, "%s/%s", cwd, named);
  else if (data && *data) length = snprintf(path, n, "%s/bax", data);
  else if (home && *home) length = snprintf(path, n, "%s/.local/share/bax", home);
  else return 0;
  return length > 0 && (size_t)length < n;
}

/* Connects to a socket of the engine; -1 if none listens or it belongs to another user. */
static int connect_engine(const char *name) {
  char path[4096];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!state_folder(path, sizeof path)) return -1;
  int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", path, name);
  if (length < 0 || (size_t)length >= sizeof address.sun_path) return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) ||
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid != geteuid()) {
    close(fd);
    return -1;
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

static int signal_number;

/* Ends like a program that the signal has killed. */
__attribute__((noreturn)) static void die_of_signal(void) { _exit(128 + signal_number); }

/* Reads pending signals. A second signal to stop exits immediately. */
static void take_signals(int fd, int started) {
  struct signalfd_siginfo info;
  while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
    int number = (int)info.ssi_signo;
    if (number == SIGWINCH) {
      size_t start = begin('W');
      put_windows();
      finish(start);
      continue;
    }
    int again = signal_number != 0;
    if (!again) signal_number = number;
    if (!started || (again && number != SIGHUP)) die_of_signal();
    if (!again) put_frame('S', &(char){(char)number}, 1);
  }
}

/* Blocks the signals that are passed on, except those that the parent ignores; returns their descriptor. */
static int open_signals(void) {
  static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
    struct sigaction action;
    if (!sigaction(passed[i], NULL, &action) && action.sa_handler != SIG_IGN) sigaddset(&set, passed[i]);
  }
  sigprocmask(SIG_BLOCK, &set, &before);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static uint64_t clock_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The part of a frame from the engine that has been read. */
static uint8_t head[5];
static size_t head_len;
static uint32_t left;             /* bytes of its payload that have not been read */
static char data[CHUNK];          /* read, and not written yet */
static size_t data_start, data_len;
static int failed[3];             /* outputs that take nothing more */
static int wants_worker;          /* the engine does not run the command itself */

/* Writes pending data to standard output or error. */
static void write_data(int fd) {
  struct stat info;
  size_t n = data_len - data_start;
  if (n > PIPE_CHUNK && (fstat(fd, &info) || !S_ISREG(info.st_mode))) n = PIPE_CHUNK;
  ssize_t written = write(fd, data + data_start, n);
  if (written >= 0) data_start += (size_t)written;
  else if (errno != EINTR && errno != EAGAIN) {
    uint8_t report[] = {(uint8_t)fd, (uint8_t)errno};
    put_frame('E', report, sizeof report);
    failed[fd] = 1;
  }
  if (failed[fd] || data_start == data_len) data_start = data_len = 0;
}

static int number_of_output(void) { return head[0] == 'O' ? 1 : 2; }

enum state { WAITING, STARTED };

/* Reads from the engine. Returns 0 when the connection has ended. */
static int read_engine(int socket, enum state *state, int *wants_input) {
  if (left > 0) {
    ssize_t n = read(socket, data, left < CHUNK ? left : CHUNK);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    left -= (uint32_t)n;
    if (head[0] == 'X' || (head[0] == 'Y' && !failed[1] && !failed[2])) _exit((uint8_t)data[0]);
    if (head[0] == 'Y') {
      put_frame('D', "", 0);
      return 1;
    }
    if (head[0] == 'F') {
      data[n < CHUNK ? n : CHUNK - 1] = 0;
      return 0;
    }
    if (!failed[number_of_output()]) data_len = (size_t)n;
    return 1;
  }
  ssize_t n = read(socket, head + head_len, sizeof head - head_len);
  if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
  head_len += (size_t)n;
  if (head_len < sizeof head) return 1;
  head_len = 0;
  left = (uint32_t)head[1] | (uint32_t)head[2] << 8 | (uint32_t)head[3] << 16 | (uint32_t)head[4] << 24;
  switch (head[0]) {
    case 'A': *state = STARTED; return 1;
    case 'I': *wants_input = 1; return 1;
    case 'O': case 'R':
      if (left == 0) put_frame('D', "", 0);
      return 1;
    case 'F': case 'X': case 'Y': return 1;
    case 'N': wants_worker = 1; return 0;
    default: return 0;
  }
}

/* Sends one chunk of standard input; an empty one at its end. */
static void send_input(int *wants_input) {
  char chunk[CHUNK];
  ssize_t n = read(0, chunk, sizeof chunk);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  *wants_input = 0;
  put_frame('I', chunk, n > 0 ? (size_t)n : 0);
}

static void send_out(int socket) {
  ssize_t n = send(socket, out, out_len, MSG_NOSIGNAL);
  if (n <= 0) return;
  memmove(out, out + n, out_len - (size_t)n);
  out_len -= (size_t)n;
}

/* Reports a connection that ended without an exit code: of the engine, or of the one process that ran the command. */
__attribute__((noreturn)) static void report_lost(void) {
  const char *ended =
      !wants_worker || connect_engine(ENGINE_SOCKET) < 0 ? "local engine" : "process of the local engine that ran the command";
  fprintf(stderr, "error: the %s ended before the command was done\nhint: see \"bax engine logs\"\n", ended);
  _exit(UNREACHABLE);
}

static void run(int socket, int signals) {
  enum state state = WAITING;
  int wants_input = 0;
  uint64_t until = clock_ms() + ACCEPT_MS;
  for (;;) {
    int pending = data_len > data_start;
    struct pollfd fds[] = {
        {.fd = signals, .events = POLLIN},
        {.fd = socket, .events = (short)((pending ? 0 : POLLIN) | (out_len > 0 ? POLLOUT : 0))},
        {.fd = pending ? number_of_output() : -1, .events = POLLOUT},
        {.fd = wants_input && out_len == 0 ? 0 : -1, .events = POLLIN},
    };
    uint64_t now = clock_ms();
    int ready = poll(fds, 4, state != WAITING ? -1 : now < until ? (int)(until - now) : 0);
    if (ready < 0) continue;
    if (ready == 0 && clock_ms() >= until) {
      /* From here on the engine cannot accept the command. It may just have done so. */
      shutdown(socket, SHUT_RDWR);
      while (state == WAITING && read_engine(socket, &state, &wants_input)) {}
      if (state == WAITING) return;
      report_lost();
    }
    if (fds[0].revents) take_signals(signals, state == STARTED);
    if (fds[2].revents) write_data(number_of_output());
    if (fds[3].revents) send_input(&wants_input);
    if (fds[1].revents & POLLOUT) send_out(socket);
    if (!pending && fds[1].revents & (POLLIN | POLLHUP | POLLERR) && !read_engine(socket, &state, &wants_input)) {
      if (state == WAITING) return;
      if (signal_number) die_of_signal();
      report_lost();
    }
  }
}

/*
 * Opens closed standard streams, so that no other file gets their numbers. Input is empty, and writing fails, also in
 * Node, which would discard what is written to a closed output.
 */
static int open_standard_streams(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) return 0;
  return 1;
}

/* Reads the folder of this program and the ID of the build in it. */
static int find_build(char *build, size_t n) {
  ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
  if (length <= 0) return 0;
  folder[length] = 0;
  char *slash = strrchr(folder, '/');
  if (!slash || slash == folder) return 0;
  *slash = 0;
  char path[4200];
  snprintf(path, sizeof path, "%s/build-id", folder);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  length = read(fd, build, n - 1);
  close(fd);
  if (length <= 0) return 0;
  build[length] = 0;
  return 1;
}

/* Returns 0 when the reader of standard output is gone, and 1 when standard input ends, and thus the command. */
static int wait_for_reader(void) {
  struct pollfd fds[] = {{.fd = 0, .events = POLLIN}, {.fd = 1}};
  while (poll(fds, 2, -1) < 0)
    if (errno != EINTR) return 1;
  return fds[1].revents & (POLLERR | POLLHUP) ? 0 : 1;
}

int main(int argc, char **argv) {
  if (!open_standard_streams()) {
    fputs("error: a standard stream is closed, and /dev/null cannot be opened\n", stderr);
    return UNREACHABLE;
  }
  if (argc > 0 && !strcmp(argv[0], READER_WATCH)) return wait_for_reader();
  char build[128];
  arguments = argv;
  sigprocmask(SIG_SETMASK, NULL, &before);
  pipe_before = signal(SIGPIPE, SIG_IGN);
  if (!find_build(build, sizeof build)) {
    fputs("error: the launcher is not in the folder of a build\n", stderr);
    return UNREACHABLE;
  }
  if (!getcwd(cwd, sizeof cwd)) run_node("the working folder no longer exists");
  if (is_stale_checkout(folder)) run_node("the build is older than the sources");
  int socket = connect_engine(ENGINE_SOCKET);
  if (socket < 0) run_node("no local engine is running");
  int signals = open_signals();
  put_hello(build);
  run(socket, signals);
  close(socket);
  if (wants_worker) {
    socket = connect_engine(WORKER_SOCKET);
    if (socket < 0) run_node("the engine is about to end");
    head_len = left = out_len = 0;
    put_hello(build);
    run(socket, signals);
    close(socket);
  }
  run_node(*data ? data : "the engine does not answer");
}
