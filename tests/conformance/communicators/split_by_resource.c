/* MPI_Comm_split_type by hardware resources and process sets: MPI-5.0 §7.4.2. */
#include "hardware.h"
#include "hosts.h"

static MPI_Info one(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (key != NULL)
        MPI_Info_set(info, key, value);
    return info;
}

static MPI_Comm split(MPI_Comm comm, int type, int key, const char *info_key, const char *value)
{
    MPI_Comm part = MPI_COMM_WORLD;
    MPI_Info info = one(info_key, value);
    CHECK_EQUAL(MPI_Comm_split_type(comm, type, key, info, &part), MPI_SUCCESS, "MPI-5.0 §7.4.2");
    MPI_Info_free(&info);
    return part;
}

static void expect_null(int type, const char *key, const char *value)
{
    CHECK(split(MPI_COMM_WORLD, type, 0, key, value) == MPI_COMM_NULL, "MPI-5.0 §7.4.2: MPI_COMM_NULL");
}

/* Frees a communicator of `size` processes of which this is the `rank`th. */
static void expect_place(MPI_Comm comm, int size, int rank)
{
    int got_size = -1, got_rank = -1;
    CHECK(comm != MPI_COMM_NULL, "MPI-5.0 §7.4.2");
    MPI_Comm_size(comm, &got_size);
    MPI_Comm_rank(comm, &got_rank);
    CHECK_EQUAL(got_size, size, "MPI-5.0 §7.4.2");
    CHECK_EQUAL(got_rank, rank, "MPI-5.0 §7.4.2");
    MPI_Comm_free(&comm);
}

/* "mpi_shared_memory" is as MPI_COMM_TYPE_SHARED. */
static void shared_memory(void)
{
    int types[2] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED}, result;
    MPI_Comm shared;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank_of_world, MPI_INFO_NULL, &shared);
    for (int i = 0; i < 2; i++) {
        MPI_Comm part = split(MPI_COMM_WORLD, types[i], -rank_of_world, "mpi_hw_resource_type", "mpi_shared_memory");
        MPI_Comm_compare(shared, part, &result);
        CHECK_EQUAL(result, MPI_CONGRUENT, "MPI-5.0 §7.4.2");
        MPI_Comm_free(&part);
    }
    MPI_Comm_free(&shared);
}

static void nothing_to_go_by(void)
{
    expect_null(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL);
    expect_null(MPI_COMM_TYPE_RESOURCE_GUIDED, NULL, NULL);
    expect_null(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "nowhere://Thing");
    expect_null(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "nowhere://Thing");
    expect_null(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "nowhere://SET");
}

static void process_sets(void)
{
    expect_null(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD");
    expect_place(split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, -rank_of_world, "mpi_pset_name", "mpi://WORLD"),
                 size_of_world, size_of_world - 1 - rank_of_world);
    expect_place(split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, "mpi_pset_name", "mpi://SELF"), 1, 0);
    /* Of a part, and without rank 0 of the world. */
    MPI_Comm rest;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of_world > 0, 0, &rest);
    expect_place(split(rest, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, "mpi_pset_name", "mpi://WORLD"),
                 rank_of_world ? size_of_world - 1 : 1, rank_of_world ? rank_of_world - 1 : 0);
    MPI_Comm_free(&rest);
    int type = rank_of_world ? MPI_COMM_TYPE_RESOURCE_GUIDED : MPI_UNDEFINED;
    MPI_Comm part = split(MPI_COMM_WORLD, type, 0, "mpi_pset_name", "mpi://WORLD");
    if (rank_of_world == 0)
        CHECK(part == MPI_COMM_NULL, "MPI-5.0 §7.4.2");
    else
        expect_place(part, size_of_world - 1, rank_of_world - 1);
}

/* Every type of which a process says that it is restricted to one divides by that: processes on one CPU stay together. `first` is the
 * first rank on each one's host; a CPU's number and a core's name tell them from those of other hosts, too. */
static void guided(const int *first, const int *cpus, char (*cores)[CORE_NAME])
{
    MPI_Info info;
    int keys;
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[6];
        int length = sizeof value, flag, together = 0, same_core = 0, before = 0, before_here = 0, size;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &length, value, &flag);
        MPI_Comm part = split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, -rank_of_world, "mpi_hw_resource_type", key);
        CHECK((part != MPI_COMM_NULL) == (strcmp(value, "true") == 0), "MPI-5.0 §7.4.2, §9.1.2");
        if (part == MPI_COMM_NULL)
            continue;
        MPI_Comm_size(part, &size);
        for (int rank = 0; rank < size_of_world; rank++) {
            together += cpus[rank] == cpus[rank_of_world];
            same_core += strcmp(cores[rank], cores[rank_of_world]) == 0;
            before += rank > rank_of_world && strcmp(cores[rank], cores[rank_of_world]) == 0;
            before_here += rank > rank_of_world && first[rank] == first[rank_of_world];
        }
        CHECK(size >= together, "MPI-5.0 §7.4.2");
        if (strcmp(key, "weft://Machine") == 0)
            expect_place(part, ranks_beside(first), before_here);
        else if (strcmp(key, "weft://Core") == 0)
            expect_place(part, same_core, before);
        else
            MPI_Comm_free(&part);
    }
    MPI_Info_free(&info);
}

/* Each step down is a strict part, and says by what; there is none below the smallest. */
static void unguided(const int *cpus, char (*cores)[CORE_NAME])
{
    MPI_Comm comm, part;
    int size, part_size, steps = 0, alone = 1, all_one_core = 1;
    for (int rank = 0; rank < size_of_world; rank++) {
        alone &= cpus[rank] == cpus[0];
        all_one_core &= strcmp(cores[rank], cores[0]) == 0;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (;;) {
        char value[MPI_MAX_INFO_VAL];
        int length = sizeof value, flag = 0;
        MPI_Info info = one(NULL, NULL);
        MPI_Comm_size(comm, &size);
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
        MPI_Info_get_string(info, "mpi_hw_resource_type", &length, value, &flag);
        MPI_Info_free(&info);
        CHECK(flag == (part != MPI_COMM_NULL), "MPI-5.0 §7.4.2: the key is set with a communicator");
        MPI_Comm_free(&comm);
        if (part == MPI_COMM_NULL)
            break;
        MPI_Comm_size(part, &part_size);
        CHECK(part_size < size && ++steps < 32, "MPI-5.0 §7.4.2: a strict subset");
        comm = part;
    }
    if (alone)
        CHECK_EQUAL(steps, 0, "MPI-5.0 §7.4.2: all are on one CPU");
    if (cores[0][0] != 0 && !all_one_core)
        CHECK(steps > 0, "MPI-5.0 §7.4.2: two cores");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part);
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
}

/* Of an inter-communicator: both sides' processes on one core. */
static void between(const int *cpus)
{
    MPI_Comm half, inter, part;
    int first = rank_of_world < (size_of_world + 1) / 2, own = 0, other = 0, size;
    if (size_of_world < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, first, rank_of_world, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? (size_of_world + 1) / 2 : 0, 7, &inter);
    part = split(inter, MPI_COMM_TYPE_HW_GUIDED, 0, "mpi_hw_resource_type", "weft://Core");
    for (int rank = 0; rank < size_of_world; rank++)
        *((rank < (size_of_world + 1) / 2) == first ? &own : &other) += cpus[rank] == cpus[rank_of_world];
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &size);
        CHECK(size >= own, "MPI-5.0 §7.4.2");
        MPI_Comm_remote_size(part, &size);
        CHECK(size >= other && size > 0, "MPI-5.0 §7.4.2");
        MPI_Comm_free(&part);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* A core's name, with its host's number behind it. */
static void of_this_host(char core[CORE_NAME], int host)
{
    size_t length = strlen(core);
    snprintf(core + length, CORE_NAME - length, " %d", host);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "split_by_resource");
    shared_memory();
    nothing_to_go_by();
    process_sets();
    int *cpus = need((size_t)size_of_world * sizeof *cpus);
    char (*cores)[CORE_NAME] = need((size_t)size_of_world * sizeof *cores), core[CORE_NAME];
    int *first = first_on_host();
    /* On one CPU all of them, then on two. */
    for (int spread = 0; spread < 2; spread++) {
        int cpu = nth_cpu(spread * (rank_of_world % 2));
        bind_to(cpu);
        core_of(cpu, core);
        if (core[0] != 0)
            of_this_host(core, first[rank_of_world]);
        cpu += CPU_SETSIZE * first[rank_of_world];
        MPI_Allgather(&cpu, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Allgather(core, CORE_NAME, MPI_CHAR, cores, CORE_NAME, MPI_CHAR, MPI_COMM_WORLD);
        guided(first, cpus, cores);
        unguided(cpus, cores);
        between(cpus);
    }
    free(cpus);
    free(cores);
    free(first);
    return check_finish();
}
