/* MPI_Init_thread with another required level on every rank, which the standard allows, and with values between the
 * levels: what is required is provided, or the next level above it. */
#include "check.h"
#include <pthread.h>

static void *is_not_main(void *unused)
{
    int main_thread = -1, flag = -1;
    (void)unused;
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread == 0, "MPI-5.0 §11.6.2");
    MPI_Initialized(&flag);
    CHECK(flag == 1, "MPI-5.0 §11.2.3: callable by any thread");
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct {
        int required, provided;
    } levels[] = {
        { MPI_THREAD_FUNNELED, MPI_THREAD_FUNNELED },
        { MPI_THREAD_SINGLE, MPI_THREAD_SINGLE },
        { MPI_THREAD_SERIALIZED, MPI_THREAD_SERIALIZED },
        { MPI_THREAD_MULTIPLE, MPI_THREAD_MULTIPLE },
        { MPI_THREAD_SINGLE - 1, MPI_THREAD_SINGLE },
        { MPI_THREAD_SINGLE + 1, MPI_THREAD_FUNNELED },
        { MPI_THREAD_FUNNELED + 1, MPI_THREAD_SERIALIZED },
        { MPI_THREAD_MULTIPLE + 1, MPI_THREAD_MULTIPLE },
    };
    /* Neither is known before the start; launchers that speak PMI tell them by variables. */
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
    unsigned which = rank && size ? (unsigned)(atoi(rank) + atoi(size) - 1) % 8 : 0;
    int required = levels[which].required, provided = -1, queried = -1, main_thread = -1;
    MPI_Init_thread(&argc, &argv, required, &provided);
    check_adopt_world("init_thread");
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED
              && MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE,
          "MPI-5.0 §11.6.2: the levels are monotonic");
    CHECK_EQUAL(provided, levels[which].provided, "MPI-5.0 §11.6.2: this library supports every level");
    MPI_Query_thread(&queried);
    CHECK_EQUAL(queried, provided, "MPI-5.0 §11.6.2");
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread == 1, "MPI-5.0 §11.6.2");
    if (provided >= MPI_THREAD_FUNNELED) {
        pthread_t thread;
        pthread_create(&thread, NULL, is_not_main, NULL);
        pthread_join(thread, NULL);
    }
    return check_finish();
}
