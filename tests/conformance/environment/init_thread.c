/* MPI_Init_thread with another required level on every rank, which the standard allows. */
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
    static const int levels[] = { MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_FUNNELED,
                                  MPI_THREAD_SINGLE };
    /* The rank is not known before the start; launchers that speak PMI tell it by a variable. */
    int required = MPI_THREAD_MULTIPLE, provided = -1, queried = -1, main_thread = -1;
    const char *hint = getenv("PMI_RANK");
    if (hint)
        required = levels[(unsigned)atoi(hint) % 4];
    MPI_Init_thread(&argc, &argv, required, &provided);
    check_adopt_world("init_thread");
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED
              && MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE,
          "MPI-5.0 §11.6.2: the levels are monotonic");
    CHECK(provided == MPI_THREAD_SINGLE || provided == MPI_THREAD_FUNNELED
              || provided == MPI_THREAD_SERIALIZED || provided == MPI_THREAD_MULTIPLE,
          "MPI-5.0 §11.6.2");
    CHECK(provided >= required, "MPI-5.0 §11.6.2: this library supports every level");
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
