/* wire HOSTS INTERFACES DELAY_NS NS_PER_KBYTE LOSS_PPM SEED PID...: the switches between virtual hosts, in user space, for kernels without netem.
 *
 * Each host (the network namespace of a PID) gets a tap device ethI for each interface I. Interface I of all hosts hangs on switch I. A frame
 * leaves for its destination when the frame before it has been serialised at the rate, and arrives DELAY later. Of a million frames LOSS_PPM
 * vanish, the same ones each time for one seed and one order of arrival. A queue holds 16 MiB of full frames; what does not fit is lost.
 * "up K I" and "down K I" on standard input plug the cable of host K's interface I in and out; its end ends the program. "ready" on standard output: all are plugged in. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PORTS = 512, FRAME_BYTES = 1518, QUEUE_FRAMES = (16 << 20) / FRAME_BYTES, BURST = 64 };

struct frame {
    int64_t due_ns;
    int bytes;
    unsigned char content[FRAME_BYTES];
};

/* A host's socket on a switch. */
struct port {
    int tap;
    int plugged;
    int64_t idle_from_ns; /* when the last frame queued will have been serialised */
    unsigned head, tail;  /* of the queue towards the host, counted without end */
    struct frame *queue;
};

static struct port ports[MOST_PORTS];
static int hosts, interfaces;
static int64_t delay_ns, ns_per_kbyte;
static unsigned loss_ppm;
static uint64_t random_state;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Marsaglia's xorshift64*. */
static int is_lost(void)
{
    if (loss_ppm == 0)
        return 0;
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(2685821657736338717) >> 32) % 1000000 < loss_ppm;
}

/* The process moves into the namespace and stays there: each tap is made in the namespace of its own host. */
static void enter_network(const char *pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    int namespace = open(path, O_RDONLY);
    if (namespace < 0 || setns(namespace, CLONE_NEWNET) != 0)
        die(path);
    close(namespace);
}

static int make_tap(int interface, int host)
{
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK), control = socket(AF_INET, SOCK_DGRAM, 0);
    if (tap < 0 || control < 0)
        die("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof request.ifr_name, "eth%d", interface);
    if (ioctl(tap, TUNSETIFF, &request) != 0)
        die("TUNSETIFF");
    const unsigned char address[6] = {2, 0, 0, 0, (unsigned char)interface, (unsigned char)host};
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    memcpy(request.ifr_hwaddr.sa_data, address, sizeof address);
    if (ioctl(control, SIOCSIFHWADDR, &request) != 0)
        die("SIOCSIFHWADDR");
    close(control);
    return tap;
}

static void enqueue(struct port *to, const unsigned char *content, int bytes)
{
    if (!to->plugged || to->tail - to->head == QUEUE_FRAMES || is_lost())
        return;
    int64_t now = now_ns();
    if (to->idle_from_ns < now)
        to->idle_from_ns = now;
    to->idle_from_ns += bytes * ns_per_kbyte / 1000;
    struct frame *frame = &to->queue[to->tail++ % QUEUE_FRAMES];
    frame->due_ns = to->idle_from_ns + delay_ns;
    frame->bytes = bytes;
    memcpy(frame->content, content, (size_t)bytes);
}

/* Frames to one address go to its port, those to groups to all others of the switch. */
static void forward(int interface, int from, const unsigned char *content, int bytes)
{
    struct port *of_switch = &ports[interface * hosts];
    if (content[0] & 1) {
        for (int host = 0; host < hosts; host++)
            if (host != from)
                enqueue(&of_switch[host], content, bytes);
    } else if (content[0] == 2 && content[4] == interface && content[5] < hosts && content[5] != from) {
        enqueue(&of_switch[content[5]], content, bytes);
    }
}

static void receive(int index)
{
    unsigned char content[FRAME_BYTES];
    for (int i = 0; i < BURST; i++) {
        ssize_t bytes = read(ports[index].tap, content, sizeof content);
        if (bytes < 14)
            return;
        if (ports[index].plugged)
            forward(index / hosts, index % hosts, content, (int)bytes);
    }
}

/* Hands over what is due; returns when the next frame will be. */
static int64_t deliver(void)
{
    int64_t next_ns = INT64_MAX;
    for (int i = 0; i < hosts * interfaces; i++) {
        struct port *port = &ports[i];
        int64_t now = now_ns();
        while (port->head != port->tail && port->queue[port->head % QUEUE_FRAMES].due_ns <= now) {
            struct frame *frame = &port->queue[port->head++ % QUEUE_FRAMES];
            /* What a host does not take, because it is full or going down, is lost, as on a cable. */
            if (write(port->tap, frame->content, (size_t)frame->bytes) < 0)
                continue;
        }
        if (port->head != port->tail && port->queue[port->head % QUEUE_FRAMES].due_ns < next_ns)
            next_ns = port->queue[port->head % QUEUE_FRAMES].due_ns;
    }
    return next_ns;
}

/* The host sees that its cable is out: the carrier goes. */
static void plug(int host, int interface, int in)
{
    struct port *port = &ports[interface * hosts + host];
    port->plugged = in;
    port->head = port->tail;
    ioctl(port->tap, TUNSETCARRIER, &in);
}

static int is_port(int host, int interface) { return host >= 0 && host < hosts && interface >= 0 && interface < interfaces; }

static void obey(void)
{
    static char line[64];
    static size_t length;
    ssize_t bytes = read(0, line + length, sizeof line - 1 - length);
    if (bytes <= 0)
        exit(0);
    length += (size_t)bytes;
    for (char *end; (end = memchr(line, '\n', length)) != NULL;) {
        int host, interface;
        *end = 0;
        if (sscanf(line, "up %d %d", &host, &interface) == 2 && is_port(host, interface))
            plug(host, interface, 1);
        else if (sscanf(line, "down %d %d", &host, &interface) == 2 && is_port(host, interface))
            plug(host, interface, 0);
        else
            fprintf(stderr, "wire: not understood: %s\n", line);
        puts("done");
        fflush(stdout);
        length -= (size_t)(end + 1 - line);
        memmove(line, end + 1, length);
    }
}

int main(int count, char **words)
{
    if (count < 8 || (hosts = atoi(words[1])) != count - 7 || (interfaces = atoi(words[2])) < 1 || hosts * interfaces > MOST_PORTS)
        return 2;
    delay_ns = atoll(words[3]), ns_per_kbyte = atoll(words[4]), loss_ppm = (unsigned)atoi(words[5]);
    random_state = strtoull(words[6], NULL, 10) | 1;
    /* The kernel may round a sleep up by the timer slack, 50 us unless asked. */
    prctl(PR_SET_TIMERSLACK, 1);
    struct pollfd *polled = calloc((size_t)(hosts * interfaces) + 1, sizeof *polled);
    if (!polled)
        die("calloc");
    for (int host = 0; host < hosts; host++) {
        enter_network(words[7 + host]);
        for (int interface = 0; interface < interfaces; interface++) {
            int index = interface * hosts + host;
            ports[index] = (struct port){.tap = make_tap(interface, host), .plugged = 1};
            if (!(ports[index].queue = malloc(QUEUE_FRAMES * sizeof(struct frame))))
                die("malloc");
            polled[index + 1] = (struct pollfd){.fd = ports[index].tap, .events = POLLIN};
        }
    }
    polled[0].events = POLLIN;
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t next_ns = deliver();
        int64_t wait_ns = next_ns == INT64_MAX ? 0 : next_ns - now_ns();
        struct timespec wait = {.tv_sec = wait_ns > 0 ? wait_ns / 1000000000 : 0, .tv_nsec = wait_ns > 0 ? wait_ns % 1000000000 : 0};
        int ready = ppoll(polled, (nfds_t)(hosts * interfaces) + 1, next_ns == INT64_MAX ? NULL : &wait, NULL);
        if (ready < 0 && errno != EINTR)
            die("ppoll");
        if (ready <= 0)
            continue;
        if (polled[0].revents)
            obey();
        for (int i = 0; i < hosts * interfaces; i++)
            if (polled[i + 1].revents & POLLIN)
                receive(i);
    }
}
