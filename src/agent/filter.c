/* Seccomp filter of the agent and all programs. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "buffer.h"

void filter_calls(void) {
#if defined(__x86_64__)
  const uint32_t native = AUDIT_ARCH_X86_64, other_socket = 359; /* i386 */
#else
  const uint32_t native = AUDIT_ARCH_AARCH64, other_socket = 281; /* arm */
#endif
  enum { VSOCK = 40, FIRST_URING = 425, LAST_URING = 427, OTHER_SOCKETCALL = 102 };
  const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM, numbers = ~0x40000000u; /* without the flag of x32 */
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
      /* Sockets of another architecture use calls whose family is not visible. */
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
