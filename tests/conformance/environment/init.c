/* MPI_Init without arguments, and what may be asked before it and after MPI_Finalize. */
#include "check.h"

static void before_init(void)
{
    int flag = -1, version = -1, subversion = -1, class = -1, length = -1;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    CHECK(flag == 0, "MPI-5.0 §11.2.3");
    MPI_Finalized(&flag);
    CHECK(flag == 0, "MPI-5.0 §11.2.3");
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION, "MPI-5.0 §9.1.1");
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING, "MPI-5.0 §9.1.1");
    MPI_Error_class(MPI_ERR_TRUNCATE, &class);
    CHECK_EQUAL(class, MPI_ERR_TRUNCATE, "MPI-5.0 §11.4.1");
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    CHECK(length > 0 && (size_t)length == strlen(text), "MPI-5.0 §11.4.1");
}

static void between(void)
{
    int flag = -1, provided = -1, main_thread = -1, size = -1;
    MPI_Initialized(&flag);
    CHECK(flag == 1, "MPI-5.0 §11.2.3");
    MPI_Finalized(&flag);
    CHECK(flag == 0, "MPI-5.0 §11.2.3");
    MPI_Query_thread(&provided);
    CHECK_EQUAL(provided, MPI_THREAD_SINGLE, "MPI-5.0 §11.2.1: as with MPI_Init_thread of that level");
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread == 1, "MPI-5.0 §11.6.2");
    MPI_Comm_size(MPI_COMM_SELF, &size);
    CHECK_EQUAL(size, 1, "MPI-5.0 §7.2.4");
    CHECK(rank_of_world >= 0 && rank_of_world < size_of_world, "MPI-5.0 §7.4.1");
}

static void after_finalize(void)
{
    int flag = -1, version = -1, subversion = -1, class = -1, length = -1;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Initialized(&flag);
    CHECK(flag == 1, "MPI-5.0 §11.2.3");
    MPI_Finalized(&flag);
    CHECK(flag == 1, "MPI-5.0 §11.2.3");
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION, "MPI-5.0 §11.4.1");
    MPI_Error_class(MPI_ERR_COMM, &class);
    CHECK_EQUAL(class, MPI_ERR_COMM, "MPI-5.0 §11.4.1");
    MPI_Error_string(MPI_ERR_COMM, text, &length);
    CHECK(length > 0, "MPI-5.0 §11.4.1");
}

int main(void)
{
    before_init();
    MPI_Init(NULL, NULL);
    check_adopt_world("init");
    between();
    int report = rank_of_world == 0;
    MPI_Finalize();
    after_finalize();
    if (report)
        printf("ok init checks=%ld\n", (long)checks_done);
    return 0;
}
