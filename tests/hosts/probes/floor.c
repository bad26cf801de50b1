/* floor serve | floor HOST spin|block | floor empty: what TCP alone can do between two hosts, as lines "NAME BYTES VALUE" like those of probe.c. The server answers
 * one client and ends; both spin on a socket that does not block, or sleep in recv, as the client asks in its first byte. `empty` says what memory a program has that does nothing. */
#include "resident.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 7001, BATCHES = 15, LARGEST = 4 << 20, STREAM = 8 };

static int wire, serving;
static char *buffer;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* All of it, one way or the other; a socket that does not block is tried again and again. */
static void move(int out, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = out ? send(wire, buffer + done, bytes - done, MSG_NOSIGNAL) : recv(wire, buffer + done, bytes - done, 0);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            exit(serving ? 0 : 1);
    }
}

static void round_trip(int bytes)
{
    move(!serving, (size_t)bytes);
    move(serving, (size_t)bytes);
}

static void stream(int bytes)
{
    for (int i = 0; i < STREAM; i++)
        move(!serving, (size_t)bytes);
    move(serving, 1);
}

/* The fastest of batches of about 10 ms; the client tells the server how many steps there will be. */
static double seconds_of(void (*step)(int bytes), int bytes)
{
    double least = 1e9;
    int times = 1;
    for (int warm = 0; warm < 2; warm++) {
        double begin = now();
        step(bytes);
        times = (int)(0.01 / (now() - begin + 1e-9));
    }
    times = times < 1 ? 1 : times > 200 ? 200 : times;
    memcpy(buffer, &times, sizeof times);
    move(!serving, sizeof times);
    if (serving)
        memcpy(&times, buffer, sizeof times);
    for (int i = 0; i < BATCHES; i++) {
        double begin = now();
        for (int j = 0; j < times; j++)
            step(bytes);
        double each = (now() - begin) / times;
        least = each < least ? each : least;
    }
    return least;
}

static void run(int spin)
{
    const int sizes[] = {4, 1 << 10, 64 << 10, 1 << 20, 4 << 20};
    int one = 1;
    setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (spin)
        fcntl(wire, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 5; i++) {
        double half_us = seconds_of(round_trip, sizes[i]) * 5e5;
        if (!serving)
            printf("half %d %.6g\n", sizes[i], half_us);
    }
    double mb_per_s = STREAM * 1.048576 / seconds_of(stream, 1 << 20);
    if (!serving)
        printf("stream %d %.6g\nok floor\n", 1 << 20, mb_per_s);
}

static void serve(void)
{
    struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_port = htons(PORT), .sin6_addr = IN6ADDR_ANY_INIT};
    int listener = socket(AF_INET6, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (listener < 0 || bind(listener, (struct sockaddr *)&here, sizeof here) != 0 || listen(listener, 1) != 0)
        die("listen");
    puts("listening");
    fflush(stdout);
    if ((wire = accept(listener, NULL, NULL)) < 0)
        die("accept");
    move(0, 1);
    run(buffer[0] == 's');
}

static void ask(const char *host, const char *mode)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found;
    char port[16];
    snprintf(port, sizeof port, "%d", PORT);
    if (getaddrinfo(host, port, &wanted, &found) != 0 || (wire = socket(found->ai_family, SOCK_STREAM, 0)) < 0 ||
        connect(wire, found->ai_addr, found->ai_addrlen) != 0)
        die(host);
    freeaddrinfo(found);
    buffer[0] = mode[0];
    move(1, 1);
    run(mode[0] == 's');
}

int main(int count, char **words)
{
    cpu_set_t cores;
    if (count == 2 && strcmp(words[1], "empty") == 0)
        return printf("empty 0 %.6g\nok empty\n", resident_mib()) < 0;
    if (!(buffer = calloc(1, LARGEST)) || (count != 2 && count != 3))
        return 2;
    serving = count == 2;
    CPU_ZERO(&cores);
    CPU_SET(serving % (int)sysconf(_SC_NPROCESSORS_ONLN), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    if (serving)
        serve();
    else
        ask(words[1], words[2]);
    return 0;
}
