/* Child processes of the agent: a supervisor per program, and the program until it is executed. */
#define _GNU_SOURCE
#include <limits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "exec.h"

#define PROGRAM_NICE 19 /* relative to the agent: the CPU share of the container stays the same */

static void await_gate(volatile uint32_t *gate) {
  const struct timespec pause = {.tv_nsec = (long)MS};
  while (*gate == GATE_SHUT) nanosleep(&pause, NULL);
}

static void send_report(int fd, char what, int number, const char *during) {
  struct report report = {.what = what, .number = number};
  strncpy(report.during, during, sizeof report.during - 1);
  if (write(fd, &report, sizeof report) != sizeof report) _exit(3);
}

static void print_error(const char *program, const char *why) {
  dprintf(2, "bax: %s: %s\n", program, why);
}

static const char *find_env(char **env, const char *name) {
  size_t n = strlen(name);
  for (; *env; env++)
    if (!strncmp(*env, name, n) && (*env)[n] == '=') return *env + n + 1;
  return NULL;
}

/* Runs execve along PATH, with the exit codes of a shell. */
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
    print_error(program, "not found");
    _exit(127);
  }
  print_error(program, error == EACCES    ? "permission denied"
                    : error == ENOEXEC ? "not executable on this system"
                    : error == E2BIG   ? "arguments and environment are too long"
                    : error == ELOOP   ? "too many links"
                                       : "cannot be executed");
  _exit(126);
}

/* Turns this process into the program. Only uses what is safe after fork() in a program with threads. */
static void become_program(const struct launch *l) {
  int status = fcntl(l->status_fd, F_DUPFD_CLOEXEC, 64);
  if (status < 0) _exit(3);
  if (setsid() < 0) send_report(status, 'F', errno, "setsid"), _exit(3);
  for (int i = 0; i < 3; i++)
    if (dup2(l->stdio[i], i) < 0) send_report(status, 'F', errno, "dup2"), _exit(3);
  if (l->pty && ioctl(0, TIOCSCTTY, 0) < 0) send_report(status, 'F', errno, "terminal"), _exit(3);
  if (l->script_fd >= 0) {
    if (l->script_fd == SCRIPT_FD) fcntl(SCRIPT_FD, F_SETFD, 0);
    else if (dup2(l->script_fd, SCRIPT_FD) < 0) send_report(status, 'F', errno, "dup2"), _exit(3);
  }
  if (chdir(l->cwd) < 0) send_report(status, 'F', errno, "cwd"), _exit(3);
  /* Report it before it runs: the program may kill everything around it at once. */
  send_report(status, 'S', getpid(), "");
  /* From here on no descriptor of the agent is open, so this process may be inspected. */
  close_range(l->script_fd >= 0 ? SCRIPT_FD + 1 : 3, ~0u, 0);
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_SET_PDEATHSIG, 0);
  /* The agent always gets to run, however many programs there are. */
  setpriority(PRIO_PROCESS, 0, PROGRAM_NICE);
  /* Programs are killed before the agent when memory runs out. */
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (write(fd, "500", 3) != 3) { /* not allowed: the OOM killer then decides by size */
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

void supervise(const struct launch *l) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pid_t program;
  while ((program = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) < 0 && errno == EAGAIN) {
    *l->gate = GATE_SHUT;
    send_report(l->status_fd, 'R', 0, "");
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
    send_report(status, 'F', forked, "fork");
    _exit(0);
  }
  for (siginfo_t info; waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL) == 0;) {
    await_gate(l->gate);
    bool ours = info.si_pid == program;
    /* Report it before reaping: if we are killed in between, the agent becomes its parent. */
    if (ours) send_report(status, 'X', info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status, "");
    while (waitpid(info.si_pid, NULL, __WALL) < 0 && errno == EINTR) {
    }
    if (ours && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0) send_report(status, 'L', 0, "");
  }
  _exit(0);
}
