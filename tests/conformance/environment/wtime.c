/* MPI_Wtime and MPI_Wtick; a global clock agrees between ranks. */
#include "check.h"
#include <time.h>

static void advances(void)
{
    double tick = MPI_Wtick(), start = MPI_Wtime(), last = start;
    CHECK(tick > 0.0 && tick < 1.0, "MPI-5.0 §9.6");
    for (int i = 0; i < 10000; i++) {
        double now = MPI_Wtime();
        CHECK(now >= last, "MPI-5.0 §9.6: time does not run backwards");
        last = now;
    }
    struct timespec nap = { 0, 20000000 };
    nanosleep(&nap, NULL);
    double slept = MPI_Wtime() - start;
    CHECK(slept >= 0.019 && slept < 60.0, "MPI-5.0 §9.6: seconds", "20 ms measured as %g", slept);
}

/* What happened before a message was sent happened before it was received, on one clock. */
static void agrees_if_global(void)
{
    int *global = NULL, flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
    if (!flag || !*global)
        return;
    double sent = MPI_Wtime(), received = -1.0;
    MPI_Sendrecv(&sent, 1, MPI_DOUBLE, right_neighbour(), 0, &received, 1, MPI_DOUBLE, left_neighbour(),
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(received <= MPI_Wtime() + 1e-3, "MPI-5.0 §9.1.2: WTIME_IS_GLOBAL");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "wtime");
    advances();
    agrees_if_global();
    return check_finish();
}
