/* Where a process may run, by Linux and not by MPI: for the programs about hardware resources. */
#ifndef WEFT_TESTS_HARDWARE_H
#define WEFT_TESTS_HARDWARE_H

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include "check.h"

enum { CORE_NAME = 256 };

/* The CPUs that this process could run on, whatever its launcher has bound it to. */
static inline cpu_set_t possible_cpus(void)
{
    cpu_set_t before, all;
    sched_getaffinity(0, sizeof before, &before);
    memset(&all, 0xFF, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    sched_getaffinity(0, sizeof all, &all);
    sched_setaffinity(0, sizeof before, &before);
    return all;
}

/* Binds a thread to one CPU: the calling one is 0. */
static inline int bind_thread(pid_t thread, int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(thread, sizeof one, &one);
}

/* Binds all threads of this process: an adapter's driver may have some of its own. One that has ended meanwhile is nowhere. */
static inline void bind_to(int cpu)
{
    DIR *threads = opendir("/proc/self/task");
    CHECK(threads != NULL, "the machine");
    for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;)
        if (thread->d_name[0] != '.')
            CHECK(bind_thread(atoi(thread->d_name), cpu) == 0 || errno == ESRCH, "the machine");
    if (threads != NULL)
        closedir(threads);
}

/* What tells the core of a CPU from others: the CPUs it has. Empty where the system does not say. */
static inline void core_of(int cpu, char name[CORE_NAME])
{
    char path[100];
    memset(name, 0, CORE_NAME);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        name[0] = 0;
        if (fgets(name, CORE_NAME, file) == NULL)
            name[0] = 0;
        fclose(file);
    }
}

/* The n-th CPU that this process could run on, counted round. */
static inline int nth_cpu(int n)
{
    cpu_set_t all = possible_cpus();
    n %= CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && n-- == 0)
            return cpu;
    return 0;
}

#endif
