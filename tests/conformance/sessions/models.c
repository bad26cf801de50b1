/* Sessions before, beside and after the world model, in every order: MPI-5.0 §11.1, §11.3. */
#include "session.h"

static void expect_world(int initialized, int finalized)
{
    int flag = -1;
    MPI_Initialized(&flag);
    CHECK_EQUAL(flag, initialized, "MPI-5.0 §11.2.1");
    MPI_Finalized(&flag);
    CHECK_EQUAL(flag, finalized, "MPI-5.0 §11.2.2");
}

/* Beyond the standard: the world's rank and size are told while it is not begun. */
static void ask_world(void)
{
    int rank = -1, size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(rank == rank_of_world && size == size_of_world, "MPICH", "%d of %d", rank, size);
}

/* A session that begins and ends where nothing else may be open. */
static void alone(const char *tag)
{
    MPI_Session session = open_session();
    MPI_Comm comm = comm_of_set(session, "mpi://WORLD", tag);
    use_comm(comm);
    MPI_Comm_free(&comm);
    close_session(&session);
}

int main(int argc, char **argv)
{
    alone("first");
    alone("second");
    expect_world(0, 0);
    MPI_Session across = open_session();
    MPI_Comm before = comm_of_set(across, "mpi://WORLD", "across"), within;
    adopt_comm(before, "models");
    use_comm(before);
    ask_world();
    MPI_Init(&argc, &argv);
    expect_world(1, 0);
    use_comm(MPI_COMM_WORLD);
    use_comm(before);
    alone("within");
    MPI_Session inner = open_session();
    within = comm_of_set(inner, "mpi://WORLD", "inner");
    MPI_Group mine, world;
    int result = -1;
    MPI_Comm_group(within, &mine);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(mine, world, &result);
    CHECK_EQUAL(result, MPI_IDENT, "MPI-5.0 §11.3.2");
    MPI_Group_free(&mine);
    MPI_Group_free(&world);
    MPI_Finalize();
    expect_world(1, 1);
    use_comm(within);
    use_comm(before);
    MPI_Comm_free(&within);
    close_session(&inner);
    use_comm(before);
    report_on(before);
    MPI_Comm_free(&before);
    close_session(&across);
    alone("last");
    return 0;
}
