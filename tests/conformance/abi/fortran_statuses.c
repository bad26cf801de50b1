/* The conversions of statuses between C and both forms of Fortran: MPI-5.0 §19.3.5. What a status says is the same in each
 * form, and what C makes of it after a way through all. */
#include "check.h"

static void says(const MPI_Status *status, int tag, int count, int cancelled)
{
    int got = -1, flag = -1;
    MPI_Get_count(status, MPI_INT, &got);
    MPI_Test_cancelled(status, &flag);
    CHECK(status->MPI_SOURCE == rank_of_world && status->MPI_TAG == tag, "MPI-5.0 §19.3.5");
    CHECK_EQUAL(got, count, "MPI-5.0 §19.3.5");
    CHECK_EQUAL(!!flag, cancelled, "MPI-5.0 §19.3.5");
}

static void around(const MPI_Status *status, int tag, int count, int cancelled)
{
    MPI_Fint old[MPI_F_STATUS_SIZE], older[MPI_F_STATUS_SIZE];
    MPI_F08_status typed, again;
    MPI_Status back, other;
    CHECK_EQUAL(MPI_Status_c2f(status, old), MPI_SUCCESS, "MPI-5.0 §19.3.5");
    CHECK(old[MPI_F_SOURCE] == rank_of_world && old[MPI_F_TAG] == tag && old[MPI_F_ERROR] == status->MPI_ERROR,
          "MPI-5.0 §19.3.5");
    CHECK_EQUAL(MPI_Status_f2f08(old, &typed), MPI_SUCCESS, "MPI-5.0 §19.3.5");
    CHECK(typed.MPI_SOURCE == rank_of_world && typed.MPI_TAG == tag && typed.MPI_ERROR == status->MPI_ERROR,
          "MPI-5.0 §19.3.5");
    CHECK_EQUAL(MPI_Status_f082c(&typed, &back), MPI_SUCCESS, "MPI-5.0 §19.3.5");
    says(&back, tag, count, cancelled);
    CHECK_EQUAL(PMPI_Status_c2f08(&back, &again), MPI_SUCCESS, "MPI-5.0 §19.3.5");
    CHECK_EQUAL(PMPI_Status_f082f(&again, older), MPI_SUCCESS, "MPI-5.0 §19.3.5");
    CHECK_EQUAL(PMPI_Status_f2c(older, &other), MPI_SUCCESS, "MPI-5.0 §19.3.5");
    says(&other, tag, count, cancelled);
}

int main(int argc, char **argv)
{
    static const int sent[5] = { 1, 2, 3, 4, 5 };
    int received[5];
    MPI_Status status;
    MPI_Request request;
    check_start(&argc, &argv, "fortran_statuses");
    CHECK(sizeof(MPI_F08_status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "MPI-5.0 §19.3.5");
    for (int count = 0; count <= 5; count++) {
        status.MPI_ERROR = 40 + count;
        MPI_Sendrecv(sent, count, MPI_INT, 0, count, received, 5, MPI_INT, 0, count, MPI_COMM_SELF, &status);
        MPI_Status_set_source(&status, rank_of_world);
        around(&status, count, count, 0);
    }
    MPI_Irecv(received, 5, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Status_set_source(&status, rank_of_world);
    MPI_Status_set_tag(&status, 9);
    MPI_Status_set_elements(&status, MPI_INT, 2);
    around(&status, 9, 2, 1);
    /* A program without Fortran has no variables of Fortran's that a status could be. */
    MPI_Fint *ignored[] = { MPI_F_STATUS_IGNORE, MPI_F_STATUSES_IGNORE };
    MPI_F08_status *typed[] = { MPI_F08_STATUS_IGNORE, MPI_F08_STATUSES_IGNORE };
    CHECK((void *)ignored[0] == (void *)typed[0] && (void *)ignored[1] == (void *)typed[1], "MPI-5.0 §19.3.5");
    return check_finish();
}
