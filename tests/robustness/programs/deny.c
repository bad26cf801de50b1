/* deny KIND COMMAND...: runs it without the system calls of a kind (filter.h), which fail with EPERM. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "filter.h"

/* Whether the calls of that kind are refused now. */
static int holds(const char *kind)
{
    if (strcmp(kind, "reach") == 0)
        return syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) == -1 && errno == EPERM;
    if (strcmp(kind, "memfd") == 0)
        return memfd_create("probe", 0) == -1 && errno == EPERM;
    if (strcmp(kind, "pwrite") == 0)
        return pwrite(-1, NULL, 0, 0) == -1 && errno == EPERM;
    return mmap(NULL, 1, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EPERM;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (deny(argv[1])) {
        perror("deny: cannot install the filter");
        return 77;
    }
    if (!holds(argv[1])) {
        fprintf(stderr, "deny: the filter does not hold\n");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
