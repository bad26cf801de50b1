/* Wrong arguments of calls on error handlers: MPI-5.0 §9.3. */
#include "expect.h"

static void nothing(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void nothing_on_file(MPI_File *file, int *code, ...) { (void)file, (void)code; }
static void nothing_on_window(MPI_Win *win, int *code, ...) { (void)win, (void)code; }
static void nothing_on_session(MPI_Session *session, int *code, ...) { (void)session, (void)code; }

int main(int argc, char **argv)
{
    MPI_Errhandler of_comm, of_file, of_window, of_session, stale, got, none = MPI_ERRHANDLER_NULL;
    MPI_Win window;
    MPI_File file = (MPI_File)(uintptr_t)0x5000;
    expect_start(&argc, &argv, "handler_arguments");
    EXPECT(MPI_ERR_ARG, MPI_Comm_create_errhandler(NULL, &got));
    EXPECT(MPI_ERR_ARG, MPI_Comm_create_errhandler(nothing, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_create_errhandler(NULL, &got));
    EXPECT(MPI_ERR_ARG, MPI_Win_create_errhandler(NULL, &got));
    EXPECT(MPI_ERR_ARG, MPI_Session_create_errhandler(NULL, &got));
    MPI_Comm_create_errhandler(nothing, &of_comm);
    MPI_File_create_errhandler(nothing_on_file, &of_file);
    MPI_Win_create_errhandler(nothing_on_window, &of_window);
    MPI_Session_create_errhandler(nothing_on_session, &of_session);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_file));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_window));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_session));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_File_set_errhandler(MPI_FILE_NULL, of_comm));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL));
    EXPECT(MPI_ERR_FILE, MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    EXPECT(MPI_ERR_FILE, MPI_File_get_errhandler(file, &got));
    EXPECT(MPI_ERR_FILE, MPI_File_call_errhandler(file, MPI_ERR_IO));
    EXPECT(MPI_ERR_COMM, MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_IO));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Win_set_errhandler(window, of_comm));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Win_set_errhandler(window, MPI_ERRHANDLER_NULL));
    EXPECT(MPI_ERR_WIN, MPI_Win_set_errhandler(MPI_WIN_NULL, MPI_ERRORS_RETURN));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL));
    EXPECT(MPI_ERR_COMM, MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN));
    EXPECT(MPI_ERR_COMM, MPI_Comm_get_errhandler(MPI_COMM_NULL, &got));
    EXPECT(MPI_ERR_ARG, MPI_Comm_get_errhandler(MPI_COMM_WORLD, NULL));
    EXPECT(MPI_ERR_ARG, MPI_File_create_errhandler(nothing_on_file, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Win_create_errhandler(nothing_on_window, NULL));
    EXPECT(MPI_ERR_ARG, MPI_Session_create_errhandler(nothing_on_session, NULL));
    MPI_Win_free(&window);
    stale = of_comm;
    MPI_Errhandler_free(&of_comm);
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, stale));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&stale));
    EXPECT(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&none));
    EXPECT(MPI_ERR_ARG, MPI_Errhandler_free(NULL));
    MPI_Errhandler_free(&of_file);
    MPI_Errhandler_free(&of_window);
    MPI_Errhandler_free(&of_session);
    return expect_finish();
}
