/* Octets in both directions, and when segments leave. */
#include "kit.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

static void set(int fd, int level, int name, int value)
{
    EQUAL(pd.setsockopt(pd.userdata, fd, level, name, &value, sizeof value), 0);
}

/* What is written arrives with its bytes, in segments of the peer's size. */
static void writing(void)
{
    open_stack("profile=rfc,nagle=off");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    char bytes[2500];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    EQUAL(pd.write(pd.userdata, fd, bytes, sizeof bytes), 2500);
    size_t seen = 0;
    for (int i = 0; i < 3; i++) {
        struct segment segment = sniff();
        EQUAL(segment.len, i < 2 ? 1000 : 500);
        EQUAL(segment.seq, flow.rcv + seen);
        EQUAL(segment.at, 0);
        EQUAL(memcmp(segment.payload, bytes + seen, segment.len), 0);
        EQUAL(segment.flags, i < 2 ? ACK : ACK | PSH);
        seen += segment.len;
    }
    int waiting = -1;
    EQUAL(pd.ioctl(pd.userdata, fd, (unsigned long)TIOCOUTQ, &waiting), 0);
    EQUAL(waiting, 2500);
    flow.rcv += 1000;
    from_peer(&flow, ACK, 0, 30000);
    EQUAL(pd.ioctl(pd.userdata, fd, (unsigned long)TIOCOUTQ, &waiting), 0);
    EQUAL(waiting, 1500);
    struct iovec pieces[3] = {{"ab", 2}, {NULL, 0}, {"cde", 3}};
    EQUAL(pd.writev(pd.userdata, fd, pieces, 3), 5);
    EQUAL(memcmp(sniff().payload, "abcde", 5), 0);
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 3};
    EQUAL(pd.sendmsg(pd.userdata, fd, &message, 0), 5);
    EQUAL(memcmp(sniff().payload, "abcde", 5), 0);
    EQUAL(pd.sendto(pd.userdata, fd, "xyz", 3, MSG_NOSIGNAL, NULL, 0), 3);
    EQUAL(memcmp(sniff().payload, "xyz", 3), 0);
    FAILS(pd.write(pd.userdata, fd, NULL, 3), EFAULT);
    EQUAL(pd.write(pd.userdata, fd, bytes, 0), 0);
    close_stack();
}

/* Reading: peeked at, in pieces, thrown away, across a hole. */
static void reading(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.fcntl(pd.userdata, fd, 4, 04000), 0);
    uint8_t bytes[400], more[100];
    FAILS(pd.read(pd.userdata, fd, bytes, sizeof bytes), EAGAIN);
    uint32_t first = flow.snd;
    from_peer(&flow, ACK, 100, 30000);
    int waiting = -1;
    EQUAL(pd.ioctl(pd.userdata, fd, (unsigned long)FIONREAD, &waiting), 0);
    EQUAL(waiting, 100);
    EQUAL(pd.recv(pd.userdata, fd, bytes, 50, MSG_PEEK), 50);
    EQUAL(pd.recv(pd.userdata, fd, bytes, 50, 0), 50);
    for (int i = 0; i < 50; i++)
        EQUAL(bytes[i], (first + i) % 251);
    struct iovec pieces[2] = {{bytes, 20}, {more, 100}};
    EQUAL(pd.readv(pd.userdata, fd, pieces, 2), 50);
    EQUAL(bytes[19], (first + 69) % 251);
    EQUAL(more[29], (first + 99) % 251);
    FAILS(pd.recv(pd.userdata, fd, bytes, 1, MSG_DONTWAIT), EAGAIN);

    /* The second of two comes first, and is acknowledged at once with what is missing. */
    struct segment second = peers(&flow, ACK, 100, 30000);
    second.seq += 100;
    for (int i = 0; i < 100; i++)
        second.payload[i] = (uint8_t)((second.seq + i) % 251);
    inject(&second);
    while (sniff().ack != flow.snd)
        ;
    EQUAL(pd.ioctl(pd.userdata, fd, (unsigned long)FIONREAD, &waiting), 0);
    EQUAL(waiting, 0);
    from_peer(&flow, ACK, 100, 30000);
    EQUAL(sniff().ack, flow.snd + 100);
    socklen_t len = 77;
    EQUAL(pd.recvfrom(pd.userdata, fd, bytes, sizeof bytes, 0, NULL, &len), 200);
    EQUAL(len, 0);
    for (int i = 0; i < 200; i++)
        EQUAL(bytes[i], (first + 100 + i) % 251);
    flow.snd += 100;

    from_peer(&flow, ACK, 60, 30000);
    EQUAL(pd.recv(pd.userdata, fd, NULL, 40, MSG_TRUNC), 40);
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2, .msg_flags = -1};
    EQUAL(pd.recvmsg(pd.userdata, fd, &message, 0), 20);
    EQUAL(bytes[0], (first + 340) % 251);
    EQUAL(message.msg_flags, 0);
    close_stack();
}

/* RFC 5681 §4.2: every second full-sized segment at once, a lone one within the delay. */
static void delayed_acknowledgment(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    pd.usleep(pd.userdata, 1000000);
    from_peer(&flow, ACK, 1000, 30000);
    struct segment ack = sniff();
    EQUAL(ack.flags, ACK);
    EQUAL(ack.ack, flow.snd);
    EQUAL(ack.at, 1200000);
    EQUAL(now_usecs(), 1200000);
    from_peer(&flow, ACK, 1000, 30000);
    from_peer(&flow, ACK, 1000, 30000);
    ack = sniff();
    EQUAL(ack.at, 1200000);
    EQUAL(ack.ack, flow.snd);
    /* Time passes only where it is said to. */
    from_peer(&flow, ACK, 1000, 30000);
    pd.usleep(pd.userdata, 50000);
    EQUAL(now_usecs(), 1250000);
    /* Data of ours carries the acknowledgment. */
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    struct segment data = sniff();
    EQUAL(data.ack, flow.snd);
    EQUAL(data.at, 1250000);
    close_stack();
}

/* RFC 6298: after a second, then two more, then four; and the bytes are the same. */
static void retransmission(bool ipv6)
{
    open_stack("profile=rfc,nagle=off");
    struct flow flow = {.ipv6 = ipv6};
    int fd = accepted(&flow, listening_socket(ipv6, 5), 40000);
    EQUAL(pd.write(pd.userdata, fd, "lost", 4), 4);
    struct segment sent = sniff();
    EQUAL(sent.at, 0);
    static const long long times[] = {1000000, 3000000, 7000000};
    for (int i = 0; i < 3; i++) {
        struct segment again = sniff();
        EQUAL(again.at, times[i]);
        EQUAL(again.seq, sent.seq);
        EQUAL(again.len, 4);
        EQUAL(memcmp(again.payload, "lost", 4), 0);
    }
    struct tcp_info info;
    socklen_t len = sizeof info;
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    EQUAL(info.tcpi_retransmits, 3);
    EQUAL(info.tcpi_total_retrans, 3);
    EQUAL(info.tcpi_backoff, 3);
    EQUAL(info.tcpi_ca_state, 4);
    EQUAL(info.tcpi_rto, 8000000);
    EQUAL(info.tcpi_snd_cwnd, 1);
    flow.rcv += 4;
    from_peer(&flow, ACK, 0, 30000);
    CHECK(silence());
    close_stack();
}

/* Three duplicates: the oldest segment again, at once (RFC 5681 §3.2). */
static void fast_retransmission(void)
{
    open_stack("profile=rfc,cc=reno,nagle=off");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    static char bytes[10000];
    EQUAL(pd.write(pd.userdata, fd, bytes, sizeof bytes), 10000);
    uint32_t first = 0;
    for (int i = 0; i < 10; i++) {
        struct segment segment = sniff();
        first = i ? first : segment.seq;
    }
    pd.usleep(pd.userdata, 30000);
    for (int i = 0; i < 3; i++)
        from_peer(&flow, ACK, 0, 65535);
    struct segment again = sniff();
    EQUAL(again.seq, first);
    EQUAL(again.at, 30000);
    close_stack();
}

/* A closed window is probed after a timeout, and an opening lets the rest out. */
static void zero_window(void)
{
    open_stack("profile=rfc,nagle=off");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    from_peer(&flow, ACK, 0, 0);
    EQUAL(pd.write(pd.userdata, fd, "waits", 5), 5);
    struct segment probe = sniff();
    CHECK(probe.at >= 1000000 && probe.at <= 1100000);
    CHECK(probe.len <= 1);
    EQUAL(pd.fcntl(pd.userdata, fd, 4, 04000), 0);
    /* The probe is refused: the window is still closed. */
    from_peer(&flow, ACK, 0, 0);
    struct segment next = sniff();
    CHECK(next.at > probe.at + 1500000);
    CHECK(next.len <= 1);
    from_peer(&flow, ACK, 0, 1000);
    size_t got = 0;
    char bytes[5];
    while (got < 5) {
        struct segment data = sniff();
        size_t at = data.seq - flow.rcv;
        CHECK(at + data.len <= 5);
        memcpy(bytes + at, data.payload, data.len);
        got = at + data.len > got ? at + data.len : got;
    }
    EQUAL(memcmp(bytes, "waits", 5), 0);
    close_stack();
}

/* Our own window closes when nobody reads, and opens when somebody does. */
static void own_window(void)
{
    open_stack("profile=rfc");
    int listener = listening_socket(false, 5);
    set(listener, SOL_SOCKET, SO_RCVBUF, 4000);
    struct flow flow = {0};
    int fd = accepted(&flow, listener, 40000);
    struct segment ack = {0};
    for (int i = 0; i < 4; i++)
        from_peer(&flow, ACK, 1000, 30000);
    do
        ack = sniff();
    while (ack.ack != flow.snd);
    EQUAL(ack.window, 0);
    uint8_t bytes[4000];
    EQUAL(pd.read(pd.userdata, fd, bytes, sizeof bytes), 4000);
    struct segment update = sniff();
    EQUAL(update.window, 4000);
    EQUAL(update.ack, flow.snd);
    close_stack();
}

/* Nagle's algorithm, TCP_NODELAY, TCP_CORK and MSG_MORE. */
static void small_writes(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.write(pd.userdata, fd, "1", 1), 1);
    EQUAL(sniff().len, 1);
    EQUAL(pd.write(pd.userdata, fd, "2", 1), 1);
    EQUAL(pd.write(pd.userdata, fd, "3", 1), 1);
    pd.usleep(pd.userdata, 10000);
    flow.rcv++;
    from_peer(&flow, ACK, 0, 30000);
    struct segment both = sniff();
    EQUAL(both.len, 2);
    EQUAL(both.at, 10000);
    EQUAL(pd.write(pd.userdata, fd, "4", 1), 1);
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    struct segment at_once = sniff();
    EQUAL(at_once.len, 1);
    EQUAL(at_once.at, 10000);

    set(fd, IPPROTO_TCP, TCP_CORK, 1);
    char bytes[1200] = {0};
    EQUAL(pd.write(pd.userdata, fd, bytes, 600), 600);
    EQUAL(pd.write(pd.userdata, fd, bytes, 600), 600);
    EQUAL(sniff().len, 1000);
    set(fd, IPPROTO_TCP, TCP_CORK, 0);
    struct segment rest = sniff();
    EQUAL(rest.len, 200);
    EQUAL(rest.at, 10000);
    /* tcp(7): a cork holds for 200 ms. */
    EQUAL(pd.send(pd.userdata, fd, bytes, 10, MSG_MORE), 10);
    rest = sniff();
    EQUAL(rest.len, 10);
    EQUAL(rest.at, 210000);
    close_stack();
}

/* PSH where a kernel's large packets end: half of cwnd each, and no more than there is. */
static void pushes(const char *flags, const char *expected)
{
    open_stack(flags);
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    static char bytes[12000];
    EQUAL(pd.write(pd.userdata, fd, bytes, 12000), 12000);
    for (const char *sent = expected; *sent; sent++) {
        EQUAL(sniff().flags, *sent == 'P' ? PSH | ACK : ACK);
        if (sent - expected == 4) {
            flow.rcv += 1000;
            from_peer(&flow, ACK, 0, 30000);
        }
    }
    close_stack();
}

/* What MSG_MORE ends is not pushed, and does not wait for more once something arrives. */
static void more_follows(void)
{
    open_stack("nagle=off");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    static char bytes[2000];
    EQUAL(pd.send(pd.userdata, fd, bytes, 1100, MSG_MORE), 1100);
    EQUAL(sniff().flags, ACK);
    pd.usleep(pd.userdata, 5000);
    flow.rcv += 1000;
    from_peer(&flow, ACK, 0, 30000);
    struct segment rest = sniff();
    EQUAL(rest.len, 100);
    EQUAL(rest.at, 5000);
    EQUAL(rest.flags, ACK);
    EQUAL(pd.send(pd.userdata, fd, bytes, 10, 0), 10);
    EQUAL(sniff().flags, PSH | ACK);
    close_stack();
}

void data_tests(void)
{
    pushes("initial_window=5", ".P.P..P");
    pushes("initial_window=5,gso=off", ".......");
    pushes("profile=rfc,initial_window=5", ".......");
    pushes("profile=rfc,initial_window=5,gso=on", ".P.P..P");
    more_follows();
    writing();
    reading();
    delayed_acknowledgment();
    retransmission(false);
    retransmission(true);
    fast_retransmission();
    zero_window();
    own_window();
    small_writes();
}
