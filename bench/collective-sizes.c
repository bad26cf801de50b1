/* collective-sizes: time of each data-moving collective by bytes a rank, as osu_bcast and its like measure it, with the
 * contents checked. The time is that of rank 0 for a whole batch: roots rotate, so that no rank runs ahead of the others. */
#include "calls.h"

int main(int argc, char **argv)
{
    static struct sampler s;
    struct options o = read_options(argc, argv, "sizes", "8,64,512,4K,32K,256K,1M", 0.05);
    start(&argc, &argv, "collective-sizes", MPI_THREAD_SINGLE, 0);
    for (int p = 0; p < o.count; p++) {
        int bytes = (int)o.points[p];
        unsigned char *send = call_input(bytes), *receive = pages(call_room(bytes));
        for (int i = 0; i < CALLS; i++) {
            measure_call(&calls[i], send, receive, bytes, o.seconds, &s);
            if (my_rank == 0)
                print_time("collective-sizes", calls[i].name, bytes, "us", &s, 1e6);
        }
        free(send);
        free(receive);
    }
    MPI_Finalize();
    return 0;
}
