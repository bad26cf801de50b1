/* wire: what the network between two ranks allows, by bare TCP sockets, and what the library makes of it, in one run: half round trips of
 * ranks that spin and of ranks that sleep while they wait, and a stream one way. The sockets go by the addresses of rank 1 that rank 0
 * reaches first, those on a network of its own before others; WEFT_INTERFACE names interfaces for them as for the library. */
#include "ranks.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ADDRESSES_MAX = 32, CONNECT_MS = 2000, SPINS = 256, WINDOW = 16, TAG = 1 };

/* What rank 1 tells: where it listens, and what proves that it is it. */
struct card {
    struct sockaddr_storage addresses[ADDRESSES_MAX];
    int count;
    uint64_t token;
};

struct side {
    int socket;
    unsigned char *buffer;
    size_t size;
};

/* ---- the connection ---- */

static bool is_named(const char *interface)
{
    const char *names = getenv("WEFT_INTERFACE");
    if (!names || !*names)
        return true;
    size_t length = strlen(interface);
    for (const char *at = names; (at = strstr(at, interface)); at += length)
        if ((at == names || strchr(", ", at[-1])) && (!at[length] || strchr(", ", at[length])))
            return true;
    return false;
}

static bool is_usable(const struct ifaddrs *a)
{
    if (!a->ifa_addr || !(a->ifa_flags & IFF_UP) || !(a->ifa_flags & IFF_RUNNING) || !is_named(a->ifa_name))
        return false;
    if (a->ifa_addr->sa_family == AF_INET6)
        return !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr);
    return a->ifa_addr->sa_family == AF_INET;
}

static size_t length_of(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* The bytes of an address or of a mask, of which IPv4 has 4 and IPv6 16. */
static const unsigned char *bytes_of(const struct sockaddr *address, size_t *count)
{
    *count = address->sa_family == AF_INET ? 4 : 16;
    if (address->sa_family == AF_INET)
        return (const unsigned char *)&((const struct sockaddr_in *)address)->sin_addr;
    return (const unsigned char *)&((const struct sockaddr_in6 *)address)->sin6_addr;
}

static bool on_one_network(const struct ifaddrs *own, const struct sockaddr *other)
{
    size_t count;
    if (own->ifa_addr->sa_family != other->sa_family || !own->ifa_netmask)
        return false;
    const unsigned char *a = bytes_of(own->ifa_addr, &count), *b = bytes_of(other, &count), *mask = bytes_of(own->ifa_netmask, &count);
    for (size_t i = 0; i < count; i++)
        if ((a[i] ^ b[i]) & mask[i])
            return false;
    return true;
}

/* This rank's addresses; those of the loopback interface only where there is nothing else, or where it is named. */
static void list_addresses(struct card *card, in_port_t port)
{
    struct ifaddrs *all;
    if (getifaddrs(&all))
        fail("wire: the interfaces cannot be listed: %s", strerror(errno));
    for (int loopback = 0; loopback < 2 && !card->count; loopback++)
        for (struct ifaddrs *a = all; a && card->count < ADDRESSES_MAX; a = a->ifa_next)
            if (is_usable(a) && !(a->ifa_flags & IFF_LOOPBACK) == !loopback) {
                struct sockaddr_storage *to = &card->addresses[card->count++];
                size_t count = a->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
                memcpy(to, a->ifa_addr, count);
                /* The port stands at one place in both families. */
                ((struct sockaddr_in *)to)->sin_port = port;
            }
    freeifaddrs(all);
    if (!card->count)
        fail("wire: no interface is up with an address");
}

static int listener(in_port_t *port)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int no = 0, made = socket(AF_INET6, SOCK_STREAM, 0);
    if (made < 0 || setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) || bind(made, (void *)&any, sizeof any)) {
        if (made >= 0)
            close(made);
        made = socket(AF_INET, SOCK_STREAM, 0);
        if (made < 0 || bind(made, (void *)&any4, sizeof any4))
            fail("wire: no port to listen on: %s", strerror(errno));
    }
    if (listen(made, ADDRESSES_MAX) || getsockname(made, (void *)&bound, &length))
        fail("wire: cannot listen: %s", strerror(errno));
    *port = ((struct sockaddr_in *)&bound)->sin_port;
    return made;
}

static bool is_ready(int descriptor, short what)
{
    struct pollfd one = {.fd = descriptor, .events = what};
    return poll(&one, 1, CONNECT_MS) == 1;
}

/* A blocking socket to the process that has the token, or -1. */
static int try_address(const struct sockaddr_storage *address, uint64_t token)
{
    int made = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
    socklen_t length = sizeof error;
    uint64_t answer = 0;
    if (made < 0)
        return -1;
    bool stands = !connect(made, (const void *)address, (socklen_t)length_of(address)) || errno == EINPROGRESS;
    stands = stands && is_ready(made, POLLOUT) && !getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &length) && !error;
    stands = stands && write(made, &token, sizeof token) == (ssize_t)sizeof token && is_ready(made, POLLIN);
    stands = stands && read(made, &answer, sizeof answer) == (ssize_t)sizeof answer && answer == ~token;
    if (!stands) {
        close(made);
        return -1;
    }
    return made;
}

static int connect_to(const struct card *card)
{
    struct ifaddrs *all;
    if (getifaddrs(&all))
        fail("wire: the interfaces cannot be listed: %s", strerror(errno));
    int found = -1;
    for (int near = 1; near >= 0 && found < 0; near--)
        for (int i = 0; i < card->count && found < 0; i++) {
            bool is_near = false;
            for (struct ifaddrs *a = all; a; a = a->ifa_next)
                is_near = is_near || (is_usable(a) && on_one_network(a, (const void *)&card->addresses[i]));
            if (is_near == near)
                found = try_address(&card->addresses[i], card->token);
        }
    freeifaddrs(all);
    if (found < 0)
        fail("wire: rank 1 is not reached by any of its %d addresses", card->count);
    return found;
}

/* Whoever has connected to this port is the other rank if it knows the token. */
static int accept_from(int listening, uint64_t token)
{
    for (;;) {
        uint64_t said = 0, answer = ~token;
        int made = accept(listening, NULL, NULL);
        if (made < 0)
            fail("wire: nobody can be accepted: %s", strerror(errno));
        if (is_ready(made, POLLIN) && recv(made, &said, sizeof said, MSG_WAITALL) == (ssize_t)sizeof said && said == token &&
            write(made, &answer, sizeof answer) == (ssize_t)sizeof answer)
            return made;
        close(made);
    }
}

static int meet(void)
{
    struct card card = {.count = 0};
    int made, yes = 1;
    if (my_rank == 1) {
        in_port_t port;
        int listening = listener(&port);
        uint64_t seed = (uint64_t)(seconds_now() * 1e9) ^ (uint64_t)getpid() << 40;
        list_addresses(&card, port);
        card.token = random_next(&seed);
        MPI_Send(&card, sizeof card, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        made = accept_from(listening, card.token);
        close(listening);
    } else {
        MPI_Recv(&card, sizeof card, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        made = connect_to(&card);
    }
    if (setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes))
        fail("wire: %s", strerror(errno));
    return made;
}

static void set_blocking(int socket, bool blocks)
{
    int flags = fcntl(socket, F_GETFL);
    if (fcntl(socket, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK))
        fail("wire: %s", strerror(errno));
}

/* ---- bare sockets ---- */

/* Where the socket does not block the process spins; on a busy machine the other may need its core. */
static void wait_a_little(int *spins)
{
    if (errno != EAGAIN && errno != EINTR)
        fail("wire: %s", strerror(errno));
    if (++*spins > SPINS)
        sched_yield();
}

static void send_all(int socket, const unsigned char *from, size_t size)
{
    int spins = 0;
    while (size) {
        ssize_t sent = send(socket, from, size, MSG_NOSIGNAL);
        if (sent < 0) {
            wait_a_little(&spins);
            continue;
        }
        from += sent, size -= (size_t)sent;
    }
}

static void receive_all(int socket, unsigned char *to, size_t size)
{
    int spins = 0;
    while (size) {
        ssize_t came = recv(socket, to, size, 0);
        if (came == 0)
            fail("wire: the other rank has closed the connection");
        if (came < 0) {
            wait_a_little(&spins);
            continue;
        }
        to += came, size -= (size_t)came;
    }
}

static void bare_trips(void *state, long repetitions)
{
    struct side *s = state;
    for (long i = 0; i < repetitions; i++) {
        if (my_rank == 0)
            send_all(s->socket, s->buffer, s->size);
        receive_all(s->socket, s->buffer, s->size);
        if (my_rank == 1)
            send_all(s->socket, s->buffer, s->size);
    }
}

static void bare_stream(void *state, long repetitions)
{
    struct side *s = state;
    unsigned char end = 0;
    for (long i = 0; i < repetitions; i++)
        my_rank == 0 ? send_all(s->socket, s->buffer, s->size) : receive_all(s->socket, s->buffer, s->size);
    my_rank == 0 ? receive_all(s->socket, &end, 1) : send_all(s->socket, &end, 1);
}

/* ---- the library ---- */

static void trips(void *state, long repetitions)
{
    struct side *s = state;
    for (long i = 0; i < repetitions; i++) {
        if (my_rank == 0)
            MPI_Send(s->buffer, (int)s->size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(s->buffer, (int)s->size, MPI_BYTE, !my_rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (my_rank == 1)
            MPI_Send(s->buffer, (int)s->size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

/* A window of messages is under way; the receives are to the same place, as a stream's are. */
static void stream(void *state, long repetitions)
{
    struct side *s = state;
    MPI_Request requests[WINDOW];
    unsigned char end = 0;
    for (long left = repetitions; left > 0; left -= WINDOW) {
        int count = left < WINDOW ? (int)left : WINDOW;
        for (int i = 0; i < count; i++)
            if (my_rank == 0)
                MPI_Isend(s->buffer, (int)s->size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(s->buffer + (size_t)i * s->size, (int)s->size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    if (my_rank == 0)
        MPI_Recv(&end, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&end, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}

/* Has threads that wait sleep at once; `kept` has how long they stay awake otherwise. */
static void set_awake(bool awake, unsigned long long kept[2])
{
    static const char *const names[2] = {"weft_spin_turns", "weft_yield_turns"};
    for (int i = 0; i < 2; i++) {
        unsigned long long none = 0;
        MPI_T_cvar_handle handle;
        int index, count;
        if (MPI_T_cvar_get_index(names[i], &index) || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count))
            fail("wire: the library has no setting %s", names[i]);
        if (!awake)
            MPI_T_cvar_read(handle, &kept[i]);
        if (MPI_T_cvar_write(handle, awake ? &kept[i] : &none))
            fail("wire: %s cannot be set", names[i]);
        MPI_T_cvar_handle_free(&handle);
    }
}

/* ---- a point ---- */

static void time_trips(work *run, struct side *s, double budget, const char *series)
{
    static struct sampler sampler;
    measure(run, s, budget, &sampler);
    if (my_rank == 0)
        print_time("wire", series, (long long)s->size, "us", &sampler, 1e6 / 2);
}

static void time_stream(work *run, struct side *s, double budget, const char *series)
{
    static struct sampler sampler;
    measure(run, s, budget, &sampler);
    if (my_rank == 0)
        print_rate("wire", series, (long long)s->size, "MB/s", &sampler, 1e-6 * (double)s->size);
}

static void check(const struct side *s, const unsigned char *expected, const char *what)
{
    if (memcmp(s->buffer, expected, s->size))
        fail("wire: wrong data at %zu bytes, %s", s->size, what);
}

static void point(struct options *o, int socket, size_t size)
{
    struct side s = {socket, pages(size * WINDOW), size};
    unsigned char *expected = pages(size);
    unsigned long long kept[2];
    random_fill(expected, size, (uint64_t)size);
    if (my_rank == 0)
        memcpy(s.buffer, expected, size);
    set_blocking(socket, false);
    time_trips(bare_trips, &s, o->seconds, "tcp-spin");
    check(&s, expected, "by sockets that are polled");
    time_trips(trips, &s, o->seconds, "spin");
    check(&s, expected, "by the library");
    set_blocking(socket, true);
    time_trips(bare_trips, &s, o->seconds, "tcp-block");
    check(&s, expected, "by sockets that block");
    set_awake(false, kept);
    time_trips(trips, &s, o->seconds, "block");
    check(&s, expected, "by the library, asleep");
    set_awake(true, kept);
    time_stream(bare_stream, &s, o->seconds, "tcp-stream");
    check(&s, expected, "in a stream by sockets");
    time_stream(stream, &s, o->seconds, "stream");
    check(&s, expected, "in a stream by the library");
    free(expected);
    free(s.buffer);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv, "sizes", "8,1K,16K,64K,1M,4M", 0.1);
    int provided;
    start(&argc, &argv, "wire", MPI_THREAD_SINGLE, 2);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    int socket = meet();
    for (int i = 0; i < o.count; i++) {
        if (o.points[i] < 1 || o.points[i] > INT32_MAX / WINDOW)
            fail("wire: a size is from 1 byte to 128 MiB");
        point(&o, socket, (size_t)o.points[i]);
    }
    close(socket);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
