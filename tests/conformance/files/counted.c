/* What the performance variables tell of files: accesses, those by two phases, bytes moved for others and the system calls: MPI-5.0 §15.3.7. */
#include "../check_tools.h"
#include "files.h"

enum { PIECES = 1000 };

int main(int argc, char **argv)
{
    int provided;
    check_start(&argc, &argv, "counted");
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    static const char *const names[] = {
        "weft_file_accesses", "weft_file_two_phase_accesses", "weft_file_bytes_aggregated", "weft_file_bytes_written",
        "weft_file_calls_written", "weft_file_bytes_read",
    };
    enum { ACCESSES, TWO_PHASES, AGGREGATED, WRITTEN, WRITES, READ, VARIABLES };
    MPI_T_pvar_handle handles[VARIABLES];
    number before[VARIABLES], grown[VARIABLES];
    for (int i = 0; i < VARIABLES; i++) {
        handles[i] = variable(session, names[i]);
        MPI_T_pvar_start(session, handles[i]);
        before[i] = value_of(session, handles[i]);
    }
    MPI_File file = open_scratch();
    MPI_Datatype every;
    MPI_Type_create_resized(MPI_INT, 0, size_of_world * sizeof(int), &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(file, rank_of_world * sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
    int data[PIECES] = {0};
    MPI_File_write_at_all(file, 0, data, PIECES, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 0, data, 2, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < VARIABLES; i++)
        grown[i] = value_of(session, handles[i]) - before[i];
    int alone = size_of_world == 1;
    CHECK_EQUAL(grown[ACCESSES], 2, "§15.3.7");
    CHECK_EQUAL(grown[TWO_PHASES], !alone, "§15.3.7");
    CHECK_EQUAL(grown[READ], 0, "§15.3.7: nothing is read to write");
    /* All that the processes gave was written once; an aggregator's own bytes it moved for nobody else. */
    number all[VARIABLES];
    MPI_Allreduce(grown, all, VARIABLES, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all[WRITTEN], (PIECES + 2) * sizeof data[0] * size_of_world, "§15.3.7");
    CHECK(alone ? all[AGGREGATED] == 0 : all[AGGREGATED] > 0 && all[AGGREGATED] < PIECES * sizeof data[0] * size_of_world, "§15.3.7",
          "%llu bytes for others", all[AGGREGATED]);
    CHECK(grown[WRITES] >= (alone ? 2 : 1), "§15.3.7");
    for (int i = 0; i < VARIABLES; i++)
        MPI_T_pvar_handle_free(session, &handles[i]);
    MPI_T_pvar_session_free(&session);
    MPI_Type_free(&every);
    close_file(file);
    MPI_T_finalize();
    return check_finish();
}
