/* Filters of system calls, as containers and sandboxes have them: from `deny` on, this thread and what it starts get EPERM
 * for the calls of that kind. */
#ifndef FILTER_H
#define FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define DENY BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Goes on with the next line where the word loaded is the number, else skips some. */
#define IF(number, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, skipped)
#define IF_SET(bits, skipped) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, skipped)

/* Reaching into another process's memory: without the ptrace capability, or Yama. */
static struct sock_filter deny_reach[] = {
    LOAD(nr), IF(SYS_process_vm_readv, 1), DENY, IF(SYS_process_vm_writev, 1), DENY,
    IF(SYS_ptrace, 1), DENY, IF(SYS_pidfd_getfd, 1), DENY, ALLOW,
};
/* Files that only memory holds. */
static struct sock_filter deny_memfd[] = { LOAD(nr), IF(SYS_memfd_create, 1), DENY, ALLOW };
/* Writes to a place in a file, which make memory of one that only memory holds. */
static struct sock_filter deny_pwrite[] = { LOAD(nr), IF(SYS_pwrite64, 1), DENY, ALLOW };
/* Mappings that others see. */
static struct sock_filter deny_shared[] = { LOAD(nr), IF(SYS_mmap, 3), LOAD(args[3]), IF_SET(MAP_SHARED, 1), DENY, ALLOW };

/* 0, or -1 where this kernel has no filters, or no such kind is known. */
static inline int deny(const char *kind)
{
    const struct {
        const char *kind;
        struct sock_fprog program;
    } filters[] = {
        { "reach", { sizeof deny_reach / sizeof *deny_reach, deny_reach } },
        { "memfd", { sizeof deny_memfd / sizeof *deny_memfd, deny_memfd } },
        { "pwrite", { sizeof deny_pwrite / sizeof *deny_pwrite, deny_pwrite } },
        { "shared", { sizeof deny_shared / sizeof *deny_shared, deny_shared } },
    };
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].kind, kind) == 0)
            return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filters[i].program) ? -1 : 0;
    return -1;
}

#endif
