/* Memory that is scarce, to be preloaded: fail_from(n, count) has the calling thread's n-th allocation from then on
 * fail, and those after it, `count` in all (0: all). Other threads have memory: glibc ends a process that has none for
 * its notes of a thread that has begun. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

static _Thread_local long seen, first = -1, end, failed;

void fail_from(long n, long count)
{
    failed = seen = 0;
    end = count ? n + count : 0;
    first = n;
}

long failed_so_far(void)
{
    return failed;
}

static int fails(void)
{
    if (first < 0)
        return 0;
    long now = seen++;
    if (now < first || (end && now >= end))
        return 0;
    failed++;
    errno = ENOMEM;
    return 1;
}

/* What dlsym itself takes before the real ones are known. */
static char early[4096];
static size_t taken;

void *malloc(size_t bytes)
{
    static void *(*real)(size_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "malloc");
    return fails() ? NULL : real(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    static void *(*real)(size_t, size_t);
    static int finding;
    if (!real) {
        if (finding) {
            void *memory = early + taken;
            taken += (count * bytes + 15) / 16 * 16;
            return taken <= sizeof early ? memory : NULL;
        }
        finding = 1;
        real = dlsym(RTLD_NEXT, "calloc");
    }
    return fails() ? NULL : real(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    static void *(*real)(void *, size_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "realloc");
    return fails() ? NULL : real(memory, bytes);
}

int posix_memalign(void **memory, size_t align, size_t bytes)
{
    static int (*real)(void **, size_t, size_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "posix_memalign");
    return fails() ? ENOMEM : real(memory, align, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
    static void *(*real)(size_t, size_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "aligned_alloc");
    return fails() ? NULL : real(align, bytes);
}

void free(void *memory)
{
    static void (*real)(void *);
    if (!real)
        real = dlsym(RTLD_NEXT, "free");
    if ((char *)memory < early || (char *)memory >= early + sizeof early)
        real(memory);
}
