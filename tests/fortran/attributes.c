/* C's half of attributes.f90. */
#include <mpi.h>
#include <stddef.h>

static void *get(int comm, int key)
{
    void *value = NULL;
    int flag = 0;
    MPI_Comm_get_attr(MPI_Comm_fromint(comm), key, &value, &flag);
    return flag ? value : NULL;
}

long c_reads(int comm, int key);
long c_reads(int comm, int key)
{
    MPI_Aint *value = get(comm, key);
    return value ? (long)*value : -1000;
}

int c_reads_int(int comm, int key);
int c_reads_int(int comm, int key)
{
    int *value = get(comm, key);
    return value ? *value : -1000;
}

void c_sets(int comm, int key, intptr_t word);
void c_sets(int comm, int key, intptr_t word)
{
    MPI_Comm_set_attr(MPI_Comm_fromint(comm), key, (void *)word);
}

static int hand_on(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)state;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

int c_key(void);
int c_key(void)
{
    int key;
    MPI_Comm_create_keyval(hand_on, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    return key;
}
