/* A caller that passes MPI_Count where the function takes int, as callers of MPI_Psend_init do whose header is older
 * than the erratum: values below 2^31 arrive whole, whatever the upper half of the register holds. */
#include <stdint.h>

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_Status;

int MPI_Status_set_tag(MPI_Status *status, int64_t tag);
int MPI_Status_set_source(MPI_Status *status, int64_t source);

int main(void) {
    MPI_Status status;
    MPI_Status_set_tag(&status, (int64_t)7);
    MPI_Status_set_source(&status, (int64_t)0x100000005);
    return !(status.MPI_TAG == 7 && status.MPI_SOURCE == 5);
}
