/* What this machine allows: half a round trip of 2 bytes and the rate of 64 KiB, by process_vm_writev between two
 * processes, without any device. One line each for tests/softrdma/measure.py. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000, BLOCK = 65536, BLOCKS = 20000 };

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void put(pid_t process, void *to, const void *from, size_t bytes)
{
    struct iovec here = {(void *)from, bytes}, there = {to, bytes};
    if (process_vm_writev(process, &here, 1, &there, 1, 0) != (ssize_t)bytes) {
        perror("process_vm_writev");
        _exit(1);
    }
}

/* Both processes have `mine` at the same address: the child was forked from the parent. */
static void bounce(pid_t peer, volatile uint16_t *mine, int first)
{
    for (uint16_t round = 1; round <= ROUNDS; round++) {
        if (!first)
            while (*mine != round) {
            }
        put(peer, (void *)mine, &round, sizeof round);
        if (first)
            while (*mine != round) {
            }
    }
}

int main(void)
{
    static volatile uint16_t word;
    /* One block again and again, as perftest does with messages of this size. */
    char *block = aligned_alloc(4096, BLOCK), *source = aligned_alloc(4096, BLOCK);
    memset(block, 1, BLOCK);
    memset(source, 2, BLOCK);
    pid_t parent = getpid(), child = fork();
    if (!child) {
        memset(block, 3, BLOCK);
        bounce(parent, &word, 0);
        pause();
    }
    double begin = now_us();
    bounce(child, &word, 1);
    printf("latency_us %.3f\n", (now_us() - begin) / ROUNDS / 2);
    begin = now_us();
    for (int i = 0; i < BLOCKS; i++)
        put(child, block, source, BLOCK);
    printf("bandwidth_mb_s %.0f\n", (double)BLOCKS * BLOCK / (now_us() - begin));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
