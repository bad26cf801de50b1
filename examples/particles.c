/* Particles that move from rank to rank. Nobody knows who will send to whom, or how many: a rank finds out by probing.
 *
 *     mpicc particles.c -o particles -lm && mpiexec -n 4 particles [PARTICLES]
 *
 * Each rank owns a slab of a periodic box. After a step it sends every particle that has left to its new owner, by a
 * synchronous send, which completes once it was received; and receives what comes meanwhile. When a rank's sends are
 * complete it enters a nonblocking barrier, and goes on receiving: once the barrier is complete, so are all sends, and
 * nothing more can come. No rank ever asks all others (Hoefler, Siebert and Lumsdaine 2010).
 */
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 40 };

struct particle {
    double position[3], velocity[3];
    long id;
};

struct list {
    struct particle *items;
    int count, room;
};

static void push(struct list *list, const struct particle *particle)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->items = realloc(list->items, sizeof *list->items * (size_t)list->room);
        if (!list->items)
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    list->items[list->count++] = *particle;
}

/* Of a particle's number alone, so that anyone can say where it started. */
static double draw(long id, int which)
{
    unsigned long x = (unsigned long)(id * 8 + which + 1) * 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return (double)(x >> 11) / (double)(1ul << 53);
}

static struct particle create(long id)
{
    struct particle particle = {.id = id};
    for (int axis = 0; axis < 3; axis++) {
        particle.position[axis] = draw(id, axis);
        particle.velocity[axis] = (draw(id, 3 + axis) - 0.5) * 0.2;
    }
    return particle;
}

static void move(struct particle *particle)
{
    for (int axis = 0; axis < 3; axis++) {
        particle->position[axis] += particle->velocity[axis];
        particle->position[axis] -= floor(particle->position[axis]);
    }
}

static int owner(const struct particle *particle, int ranks)
{
    int rank = (int)(particle->position[0] * ranks);
    return rank < ranks ? rank : ranks - 1;
}

/* A particle as a datatype: the machines may differ, and padding does not travel. */
static MPI_Datatype particle_type(void)
{
    int lengths[3] = {3, 3, 1};
    MPI_Aint places[3] = {offsetof(struct particle, position), offsetof(struct particle, velocity),
                          offsetof(struct particle, id)};
    MPI_Datatype types[3] = {MPI_DOUBLE, MPI_DOUBLE, MPI_LONG}, fields, type;
    MPI_Type_create_struct(3, lengths, places, types, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(struct particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);
    return type;
}

/* Takes one batch of particles, if one has come. A matched probe: no other thread could take it instead. */
static int receive_one(struct list *list, int tag, MPI_Datatype type)
{
    int found, count;
    MPI_Message message;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &message, &status);
    if (!found)
        return 0;
    MPI_Get_count(&status, type, &count);
    struct particle *batch = malloc(sizeof *batch * (size_t)count);
    if (!batch)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Mrecv(batch, count, type, &message, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        push(list, &batch[i]);
    free(batch);
    return 1;
}

/* Sends `leaving`, a list for each rank, and receives what the others send. Who sees the barrier complete first may send
 * for the next step while others still look for this step's batches: two tags in turn keep them apart. */
static void exchange(struct list *own, struct list *leaving, int ranks, int tag, MPI_Datatype type)
{
    MPI_Request *sends = malloc(sizeof *sends * (size_t)ranks), barrier = MPI_REQUEST_NULL;
    int count = 0, sent = 0, over = 0;
    for (int rank = 0; rank < ranks; rank++)
        if (leaving[rank].count > 0)
            MPI_Issend(leaving[rank].items, leaving[rank].count, type, rank, tag, MPI_COMM_WORLD, &sends[count++]);
    while (!over) {
        if (!receive_one(own, tag, type))
            sched_yield(); /* more ranks than cores: whoever has something to send may need this one */
        if (sent) {
            MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(count, sends, &sent, MPI_STATUSES_IGNORE);
            if (sent)
                MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        }
    }
    free(sends);
}

/* How far it is from where it must be, once around the box being nothing. */
static double distance(const struct particle *particle)
{
    struct particle start = create(particle->id);
    double worst = 0;
    for (int axis = 0; axis < 3; axis++) {
        double off = particle->position[axis] - start.position[axis] - STEPS * start.velocity[axis];
        worst = fmax(worst, fabs(off - round(off)));
    }
    return worst;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long particles = argc > 1 ? atol(argv[1]) : 20000, moved = 0;
    MPI_Datatype type = particle_type();
    struct list own = {0}, *leaving = calloc((size_t)ranks, sizeof *leaving);
    for (long id = 0; id < particles; id++) {
        struct particle particle = create(id);
        if (owner(&particle, ranks) == rank)
            push(&own, &particle);
    }

    double begin = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        int kept = 0;
        for (int i = 0; i < own.count; i++) {
            move(&own.items[i]);
            int to = owner(&own.items[i], ranks);
            if (to == rank)
                own.items[kept++] = own.items[i];
            else
                push(&leaving[to], &own.items[i]);
        }
        moved += own.count - kept;
        own.count = kept;
        exchange(&own, leaving, ranks, step % 2, type);
        for (int to = 0; to < ranks; to++)
            leaving[to].count = 0;
    }
    double seconds = MPI_Wtime() - begin;

    /* All are there, each once and where it belongs. */
    long sums[4] = {own.count, 0, moved, 0}, all[4];
    for (int i = 0; i < own.count; i++) {
        sums[1] += own.items[i].id;
        sums[3] += distance(&own.items[i]) > 1e-12 || owner(&own.items[i], ranks) != rank;
    }
    MPI_Allreduce(sums, all, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int wrong = all[0] != particles || all[1] != particles * (particles - 1) / 2 || all[3] != 0;
    if (rank == 0)
        printf("particles: %ld on %d ranks, %d steps, %ld moves between ranks, %.3f s, %s\n", particles, ranks, STEPS,
               all[2], seconds, wrong ? "wrong" : "right");
    for (int to = 0; to < ranks; to++)
        free(leaving[to].items);
    free(leaving), free(own.items);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong;
}
