/* Pipes, and splice between them and sockets. */
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

static void pipes(void)
{
    open_stack("");
    int ends[2], waiting = -1;
    EQUAL(pd.pipe(pd.userdata, ends), 0);
    CHECK(ends[0] >= 0 && ends[1] >= 0 && ends[0] != ends[1]);
    struct pollfd entries[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = ends[1], .events = POLLOUT}};
    EQUAL(pd.poll(pd.userdata, entries, 2, 0), 1);
    EQUAL(entries[0].revents, 0);
    EQUAL(entries[1].revents, POLLOUT);
    EQUAL(pd.write(pd.userdata, ends[1], "through", 7), 7);
    EQUAL(pd.ioctl(pd.userdata, ends[0], (unsigned long)FIONREAD, &waiting), 0);
    EQUAL(waiting, 7);
    EQUAL(pd.poll(pd.userdata, entries, 2, 0), 2);
    char bytes[70000] = {0};
    EQUAL(pd.read(pd.userdata, ends[0], bytes, 4), 4);
    EQUAL(pd.read(pd.userdata, ends[0], bytes + 4, 100), 3);
    EQUAL(memcmp(bytes, "through", 7), 0);
    FAILS(pd.read(pd.userdata, ends[1], bytes, 1), EBADF);
    FAILS(pd.write(pd.userdata, ends[0], bytes, 1), EBADF);
    EQUAL(pd.fcntl(pd.userdata, ends[0], F_GETFL), O_RDONLY);
    EQUAL(pd.fcntl(pd.userdata, ends[0], F_SETFL, O_NONBLOCK), 0);
    FAILS(pd.read(pd.userdata, ends[0], bytes, 1), EAGAIN);
    EQUAL(pd.fcntl(pd.userdata, ends[1], F_SETFL, O_NONBLOCK), 0);
    EQUAL(pd.write(pd.userdata, ends[1], bytes, sizeof bytes), 65536);
    FAILS(pd.write(pd.userdata, ends[1], bytes, 1), EAGAIN);
    EQUAL(pd.close(pd.userdata, ends[0]), 0);
    FAILS(pd.write(pd.userdata, ends[1], bytes, 1), EPIPE);
    entries[1].revents = 0;
    EQUAL(pd.poll(pd.userdata, entries + 1, 1, 0), 1);
    EQUAL(entries[1].revents & POLLERR, POLLERR);
    EQUAL(pd.close(pd.userdata, ends[1]), 0);

    EQUAL(pd.pipe(pd.userdata, ends), 0);
    EQUAL(pd.write(pd.userdata, ends[1], "x", 1), 1);
    EQUAL(pd.close(pd.userdata, ends[1]), 0);
    EQUAL(pd.read(pd.userdata, ends[0], bytes, 10), 1);
    EQUAL(pd.read(pd.userdata, ends[0], bytes, 10), 0);
    close_stack();
}

static void splicing(bool ipv6)
{
    open_stack("profile=rfc,nagle=off");
    struct flow flow = {.ipv6 = ipv6};
    int fd = accepted(&flow, listening_socket(ipv6, 5), 40000), ends[2];
    EQUAL(pd.pipe(pd.userdata, ends), 0);
    FAILS(pd.splice(pd.userdata, fd, NULL, ends[1], NULL, 100, SPLICE_F_NONBLOCK), EAGAIN);
    uint32_t first = flow.snd;
    from_peer(&flow, ACK, 600, 30000);
    EQUAL(pd.splice(pd.userdata, fd, NULL, ends[1], NULL, 1000, 0), 600);
    uint8_t bytes[600];
    EQUAL(pd.read(pd.userdata, ends[0], bytes, sizeof bytes), 600);
    EQUAL(bytes[599], (first + 599) % 251);
    EQUAL(bytes[0], first % 251);

    EQUAL(pd.write(pd.userdata, ends[1], "to the peer", 11), 11);
    /* packetdrill hands over the address of an offset of zero. */
    loff_t zero = 0, seven = 7;
    EQUAL(pd.splice(pd.userdata, ends[0], &zero, fd, &zero, 6, 0), 6);
    struct segment sent;
    do
        sent = sniff();
    while (sent.len == 0);
    EQUAL(sent.len, 6);
    EQUAL(memcmp(sent.payload, "to the", 6), 0);
    FAILS(pd.splice(pd.userdata, ends[0], &seven, fd, NULL, 6, 0), ESPIPE);
    FAILS(pd.splice(pd.userdata, fd, NULL, fd, NULL, 6, 0), EINVAL);
    FAILS(pd.splice(pd.userdata, ends[1], NULL, fd, NULL, 6, 0), EBADF);
    FAILS(pd.splice(pd.userdata, 9999, NULL, fd, NULL, 6, 0), EBADF);
    EQUAL(pd.splice(pd.userdata, ends[0], NULL, fd, NULL, 100, 0), 5);
    EQUAL(pd.splice(pd.userdata, ends[0], NULL, fd, NULL, 0, 0), 0);

    /* From a pipe into a pipe, and the end of a stream. */
    int other[2];
    EQUAL(pd.pipe(pd.userdata, other), 0);
    EQUAL(pd.write(pd.userdata, ends[1], "abc", 3), 3);
    EQUAL(pd.splice(pd.userdata, ends[0], NULL, other[1], NULL, 100, 0), 3);
    EQUAL(pd.read(pd.userdata, other[0], bytes, 100), 3);
    from_peer(&flow, FIN | ACK, 0, 30000);
    EQUAL(pd.splice(pd.userdata, fd, NULL, ends[1], NULL, 100, 0), 0);
    EQUAL(pd.shutdown(pd.userdata, fd, SHUT_WR), 0);
    EQUAL(pd.write(pd.userdata, ends[1], "late", 4), 4);
    FAILS(pd.splice(pd.userdata, ends[0], NULL, fd, NULL, 100, 0), EPIPE);
    close_stack();
}

static int splice_from, splice_to;

static long long do_splice(void *argument)
{
    (void)argument;
    return pd.splice(pd.userdata, splice_from, NULL, splice_to, NULL, 1000, 0);
}

static void splicing_waits(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int ends[2];
    splice_from = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.pipe(pd.userdata, ends), 0);
    splice_to = ends[1];
    struct background *thread = in_background(do_splice, NULL);
    pd.usleep(pd.userdata, 15000);
    CHECK(!has_returned(thread));
    from_peer(&flow, ACK, 200, 30000);
    long long at;
    EQUAL(result_of(thread, NULL, &at), 200);
    EQUAL(at, 15000);
    close_stack();
}

void pipe_tests(void)
{
    pipes();
    splicing(false);
    splicing(true);
    splicing_waits();
}
