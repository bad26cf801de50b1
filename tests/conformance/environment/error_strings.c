/* Error classes are error codes of themselves, and each has a text of its own.
 *
 * MPICH 5.0.2 fails: it has one text, "Unknown error class", for several classes, which is no explanation
 * of an error (MPI-5.0 §9.3.4). */
#include "check.h"

static void class_and_text(int class)
{
    char text[MPI_MAX_ERROR_STRING];
    int got = -1, length = -1;
    memset(text, 'x', sizeof text);
    CHECK_EQUAL(MPI_Error_class(class, &got), MPI_SUCCESS, "MPI-5.0 §9.4");
    CHECK_EQUAL(got, class, "MPI-5.0 §9.4: the class of a class is itself");
    CHECK_EQUAL(MPI_Error_string(class, text, &length), MPI_SUCCESS, "MPI-5.0 §9.4");
    CHECK(length >= 1 && length < MPI_MAX_ERROR_STRING, "MPI-5.0 §9.4");
    CHECK_EQUAL(strlen(text), length, "MPI-5.0 §9.4: the length without the terminating null");
}

int main(int argc, char **argv)
{
    char first[MPI_MAX_ERROR_STRING], second[MPI_MAX_ERROR_STRING];
    int length = -1;
    check_start(&argc, &argv, "error_strings");
    for (int class = MPI_SUCCESS; class <= MPI_ERR_ABI; class++)
        class_and_text(class);
    CHECK(MPI_SUCCESS == 0 && MPI_ERR_ABI < MPI_ERR_LASTCODE, "MPI-5.0 §9.4");
    for (int class = MPI_ERR_BUFFER; class < MPI_ERR_ABI; class++) {
        MPI_Error_string(class, first, &length);
        MPI_Error_string(class + 1, second, &length);
        CHECK(strcmp(first, second) != 0, "MPI-5.0 §9.4: a text says which error", "%s", first);
    }
    return check_finish();
}
