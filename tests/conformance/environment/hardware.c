/* MPI_Get_hw_resource_info: types of resources as URIs, and whether this process is restricted to one of each: MPI-5.0 §9.1.2. */
#include "hardware.h"
#include <pthread.h>

static pthread_barrier_t bound;

/* The value of a key: 1 for true, 0 for false, -1 if it is not there. */
static int restricted(const char *type)
{
    MPI_Info info = MPI_INFO_NULL;
    int keys = -1, found = -1;
    CHECK_EQUAL(MPI_Get_hw_resource_info(&info), MPI_SUCCESS, "MPI-5.0 §9.1.2");
    CHECK(info != MPI_INFO_NULL, "MPI-5.0 §9.1.2");
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[6] = "";
        int length = sizeof value, flag = 0;
        MPI_Info_get_nthkey(info, i, key);
        CHECK(strstr(key, "://") != NULL && strstr(key, "://") != key, "MPI-5.0 §9.1.2: a URI");
        MPI_Info_get_string(info, key, &length, value, &flag);
        CHECK(flag && length <= (int)sizeof value, "MPI-5.0 §9.1.2");
        CHECK(strcmp(value, "true") == 0 || strcmp(value, "false") == 0, "MPI-5.0 §9.1.2");
        if (strcmp(key, type) == 0)
            found = value[0] == 't';
    }
    MPI_Info_free(&info);
    return found;
}

static void *elsewhere(void *cpu)
{
    CHECK_EQUAL(bind_thread(0, *(int *)cpu), 0, "the machine");
    pthread_barrier_wait(&bound);
    pthread_barrier_wait(&bound);
    return NULL;
}

/* WeftMPI's own types. Others name theirs otherwise. */
static void by_binding(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING], core[CORE_NAME], other_core[CORE_NAME];
    int length, cpu = nth_cpu(0), other = -1;
    MPI_Get_library_version(version, &length);
    core_of(cpu, core);
    if (strncmp(version, "WeftMPI", 7) != 0 || core[0] == 0)
        return;
    bind_to(cpu);
    CHECK_EQUAL(restricted("weft://Core"), 1, "MPI-5.0 §9.1.2");
    CHECK_EQUAL(restricted("weft://Package"), 1, "MPI-5.0 §9.1.2");
    CHECK_EQUAL(restricted("weft://Machine"), 1, "MPI-5.0 §9.1.2");
    CHECK_EQUAL(restricted("weft://Nothing"), -1, "MPI-5.0 §9.1.2");
    cpu_set_t all = possible_cpus();
    for (int i = 0; i < CPU_COUNT(&all); i++) {
        core_of(nth_cpu(i), other_core);
        if (other_core[0] != 0 && strcmp(core, other_core) != 0)
            other = nth_cpu(i);
    }
    if (other < 0)
        return;
    /* The value is that at the moment of the call, and a process is all its threads. */
    sched_setaffinity(0, sizeof all, &all);
    CHECK_EQUAL(restricted("weft://Core"), 0, "MPI-5.0 §9.1.2");
    CHECK_EQUAL(restricted("weft://Machine"), 1, "MPI-5.0 §9.1.2");
    bind_to(cpu);
    CHECK_EQUAL(restricted("weft://Core"), 1, "MPI-5.0 §9.1.2");
    pthread_t thread;
    pthread_barrier_init(&bound, NULL, 2);
    pthread_create(&thread, NULL, elsewhere, &other);
    pthread_barrier_wait(&bound);
    CHECK_EQUAL(restricted("weft://Core"), 0, "MPI-5.0 §9.1.2: a thread is elsewhere");
    pthread_barrier_wait(&bound);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&bound);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "hardware");
    restricted("");
    by_binding();
    return check_finish();
}
