/* A hostile peer for little money, to be preloaded: lie_at(n, value) has the n-th word that this process sends from
 * then on, in the payload of a message of at most 16 KiB over TCP, become `value` on its way. What the process itself
 * knows stays true. The frames are those of transports/tcp/src/frame.rs: a head of 24 bytes, whose first word is the length of the payload and,
 * behind it, 1 for a packet; the packet's kind is the first byte of the second word, 1 for a message. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HEAD = 24, PACKET = 1, MESSAGE = 1 };

static long wanted = -1, seen, lie, told;

void lie_at(long word, long value)
{
    wanted = word;
    lie = value;
    seen = told = 0;
}

/* Whether the lie was told. */
int lie_told(void)
{
    return told != 0;
}

static void change(unsigned char *bytes, size_t length)
{
    for (size_t at = 0; at + HEAD <= length;) {
        uint32_t payload;
        memcpy(&payload, bytes + at, 4);
        if (bytes[at + 4] == 0 || bytes[at + 4] > 11 || payload > length - at - HEAD)
            return;
        if (bytes[at + 4] == PACKET && bytes[at + 8] == MESSAGE)
            for (size_t word = at + HEAD; word + 8 <= at + HEAD + payload; word += 8)
                if (seen++ == wanted) {
                    memcpy(bytes + word, &lie, 8);
                    told = 1;
                }
        at += HEAD + payload;
    }
}

static ssize_t changed(int file, const struct iovec *parts, size_t count, int flags, const struct msghdr *header)
{
    static ssize_t (*real)(int, const struct msghdr *, int);
    if (!real)
        real = dlsym(RTLD_NEXT, "sendmsg");
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
    if (header)
        message = *header;
    size_t length = 0;
    for (size_t part = 0; part < count; part++)
        length += parts[part].iov_len;
    unsigned char *copy = wanted >= 0 && length <= 1 << 20 ? malloc(length) : NULL;
    if (!copy)
        return real(file, &message, flags);
    size_t at = 0;
    for (size_t part = 0; part < count; at += parts[part++].iov_len)
        memcpy(copy + at, parts[part].iov_base, parts[part].iov_len);
    change(copy, length);
    struct iovec whole = {copy, length};
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    ssize_t sent = real(file, &message, flags);
    free(copy);
    return sent;
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
    return changed(file, message->msg_iov, message->msg_iovlen, flags, message);
}

ssize_t send(int file, const void *bytes, size_t length, int flags)
{
    struct iovec part = {(void *)bytes, length};
    return changed(file, &part, 1, flags, NULL);
}
