/* SPDX-License-Identifier: Apache-2.0
 *
 * Shuts an image in that runs on this computer and holds code of strangers: before main, it gives up every system call but those that read,
 * write and seek in what is open already and those that end it (seccomp, Documentation/userspace-api/seccomp_filter.rst of Linux). The kernel
 * ends an image that asks for anything else.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FENCE_FAILED 71

#if defined(__x86_64__) && defined(__LP64__)
#define AUDIT_ARCH 0xc000003eu
#elif defined(__aarch64__) && defined(__LP64__)
#define AUDIT_ARCH 0xc00000b7u
#else
#error the system calls of this computer are not known
#endif

/* Linux' sock_filter, sock_fprog and their constants: not every C library brings the headers. */
struct instruction {
  uint16_t code;
  uint8_t if_true;
  uint8_t if_false;
  uint32_t value;
};

struct program {
  uint16_t length;
  const struct instruction* instructions;
};

#define LOAD 0x20u     /* BPF_LD | BPF_W | BPF_ABS; offsets in struct seccomp_data: 0 the number of the call, 4 the architecture */
#define IS_EQUAL 0x15u /* BPF_JMP | BPF_JEQ | BPF_K */
#define RETURN 0x06u   /* BPF_RET | BPF_K */
#define ALLOW 0x7fff0000u
#define KILL_PROCESS 0x80000000u
#define NO_NEW_PRIVILEGES 38 /* PR_SET_NO_NEW_PRIVS */
#define SET_SECCOMP 22       /* PR_SET_SECCOMP */
#define FILTER 2             /* SECCOMP_MODE_FILTER */

static const struct instruction instructions[] = {
    {LOAD, 0, 0, 4u},
    {IS_EQUAL, 0, 7, AUDIT_ARCH},
    {LOAD, 0, 0, 0u},
    {IS_EQUAL, 6, 0, SYS_read},
    {IS_EQUAL, 5, 0, SYS_write},
    {IS_EQUAL, 4, 0, SYS_lseek},
    {IS_EQUAL, 3, 0, SYS_exit},
    {IS_EQUAL, 2, 0, SYS_exit_group},
    {IS_EQUAL, 1, 0, SYS_rt_sigreturn},
    {RETURN, 0, 0, KILL_PROCESS},
    {RETURN, 0, 0, ALLOW},
};

/* Standard input and output get their buffers here, because asking for memory is a system call too. */
static char input[BUFSIZ];
static char output[BUFSIZ];

__attribute__((constructor(101))) static void kiln_fence(void) {
  const struct program program = {sizeof instructions / sizeof instructions[0], instructions};
  int failed = setvbuf(stdin, input, _IOFBF, sizeof input) | setvbuf(stdout, output, _IOFBF, sizeof output);
  failed |= prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) | prctl(SET_SECCOMP, FILTER, &program, 0, 0);
  if (failed != 0) {
    static const char text[] = "kiln: this computer cannot shut the image in\n";
    _exit(write(STDERR_FILENO, text, sizeof text - 1u) < 0 ? FENCE_FAILED + 1 : FENCE_FAILED);
  }
}
