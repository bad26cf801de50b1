/* What kernel sockets do between two hosts, for tests/softrdma/measure_wire.py: `wire_floor serve ROUNDS`, and on the other host
 * `wire_floor ADDRESS BLOCKS ROUNDS`. A TCP stream in blocks, and half a round trip of 2 bytes by UDP sockets that spin. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 18779, BLOCK = 65536 };

static char block[BLOCK];

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static long done(long result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(1);
    }
    return result;
}

static struct sockaddr_in at(const char *address)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    if (inet_pton(AF_INET, address, &name.sin_addr) != 1) {
        fprintf(stderr, "%s: not an address\n", address);
        exit(2);
    }
    return name;
}

static void serve(long rounds)
{
    struct sockaddr_in any = at("0.0.0.0"), from;
    const int on = 1;
    int udp = done(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), "socket");
    int listener = done(socket(AF_INET, SOCK_STREAM, 0), "socket");
    done(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "setsockopt");
    done(bind(udp, (void *)&any, sizeof any), "bind");
    done(bind(listener, (void *)&any, sizeof any), "bind");
    done(listen(listener, 1), "listen");
    int tcp = done(accept(listener, NULL, NULL), "accept");
    long bytes;
    while ((bytes = done(read(tcp, block, sizeof block), "read")) > 0) {
    }
    /* The client asks for the second part once all of the first is here. */
    done(write(tcp, "", 1), "write");
    for (long round = 0; round < rounds; round++) {
        socklen_t length = sizeof from;
        while (recvfrom(udp, block, 2, 0, (void *)&from, &length) != 2) {
        }
        done(sendto(udp, block, 2, 0, (void *)&from, length), "sendto");
    }
    close(tcp);
}

static void ask(const char *address, long blocks, long rounds)
{
    struct sockaddr_in server = at(address);
    int tcp = done(socket(AF_INET, SOCK_STREAM, 0), "socket");
    int udp = done(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), "socket");
    done(connect(tcp, (void *)&server, sizeof server), "connect");
    done(connect(udp, (void *)&server, sizeof server), "connect");
    double begin = now_us();
    for (long index = 0; index < blocks; index++)
        for (long sent = 0; sent < BLOCK;)
            sent += done(write(tcp, block + sent, BLOCK - sent), "write");
    done(shutdown(tcp, SHUT_WR), "shutdown");
    done(read(tcp, block, 1), "read");
    printf("tcp_mb_s %.0f\n", (double)BLOCK * blocks / (now_us() - begin));
    begin = now_us();
    for (long round = 0; round < rounds; round++) {
        done(send(udp, block, 2, 0), "send");
        while (recv(udp, block, 2, 0) != 2) {
        }
    }
    printf("udp_us %.3f\n", (now_us() - begin) / rounds / 2);
}

int main(int count, char **words)
{
    if (count == 3 && !strcmp(words[1], "serve")) {
        serve(atol(words[2]));
        return 0;
    }
    if (count != 4) {
        fprintf(stderr, "usage: wire_floor serve ROUNDS | wire_floor ADDRESS BLOCKS ROUNDS\n");
        return 2;
    }
    ask(words[1], atol(words[2]), atol(words[3]));
    return 0;
}
