/* deny COMMAND...: runs it without the system calls that reach into another process's memory, as a container without the
 * ptrace capability, or Yama, refuses them: process_vm_readv, process_vm_writev, ptrace and pidfd_getfd fail with EPERM. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DENY_IF(number, over) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, over, 0)

int main(int argc, char **argv)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        DENY_IF(SYS_process_vm_readv, 4),
        DENY_IF(SYS_process_vm_writev, 3),
        DENY_IF(SYS_ptrace, 2),
        DENY_IF(SYS_pidfd_getfd, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    if (argc < 2)
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("deny: cannot install the filter");
        return 77;
    }
    if (syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) != -1 || errno != EPERM) {
        fprintf(stderr, "deny: the filter does not hold\n");
        return 77;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
