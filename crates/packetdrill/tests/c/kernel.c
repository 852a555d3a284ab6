/* What scripts written for a kernel ask beyond the calls: listeners, records, corks, what TCP_INFO
 * counts, waits without end, and calls that go past the structure. */
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

static char bytes[20000];

static int set(int fd, int level, int name, int value)
{
    return pd.setsockopt(pd.userdata, fd, level, name, &value, sizeof value);
}

static struct tcp_info info_of(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    return info;
}

/* RFC 9293 3.10.7.2: who listens refuses an acknowledgment and drops what begins nothing. */
static void listeners(void)
{
    open_stack("");
    listening_socket(false, 5);
    static const uint8_t dropped[] = {FIN, 0, PSH, FIN | PSH | 32, RST, FIN | RST};
    for (size_t i = 0; i < sizeof dropped; i++) {
        struct flow flow = {.ours = 8080, .peers = 40000, .snd = 7};
        from_peer(&flow, dropped[i], dropped[i] & PSH ? 10 : 0, 1000);
        CHECK(silence());
    }
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 7, .rcv = 99};
    from_peer(&flow, FIN | ACK, 0, 1000);
    struct segment reset = sniff();
    EQUAL(reset.flags, RST);
    EQUAL(reset.seq, 99);
    /* Where nobody listens a bare FIN is refused (3.10.7.1). */
    flow = (struct flow){.ours = 8081, .peers = 40000, .snd = 7};
    from_peer(&flow, FIN, 0, 1000);
    reset = sniff();
    EQUAL(reset.flags, RST | ACK);
    EQUAL(reset.ack, 8);
    close_stack();
}

/* send(2), MSG_EOR: the end of a record ends a segment, also when there is room for more. */
static void records(void)
{
    open_stack("profile=rfc,initial_window=1");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.send(pd.userdata, fd, bytes, 1000, 0), 1000);
    EQUAL(pd.send(pd.userdata, fd, bytes, 300, MSG_EOR), 300);
    EQUAL(pd.send(pd.userdata, fd, bytes, 1400, 0), 1400);
    EQUAL(sniff().len, 1000);
    flow.rcv += 1000;
    from_peer(&flow, ACK, 0, 30000);
    struct segment record = sniff();
    EQUAL(record.len, 300);
    EQUAL(record.at, 0);
    EQUAL(sniff().len, 1000);
    flow.rcv += 1300;
    from_peer(&flow, ACK, 0, 30000);
    EQUAL(sniff().len, 400);
    flow.rcv += 400;
    from_peer(&flow, ACK, 0, 30000);
    /* Nothing follows: an ordinary end. */
    EQUAL(pd.send(pd.userdata, fd, bytes, 10, MSG_EOR), 10);
    EQUAL(sniff().len, 10);
    EQUAL(pd.shutdown(pd.userdata, fd, SHUT_WR), 0);
    EQUAL(sniff().flags & FIN, FIN);
    close_stack();
}

/* tcp(7): setting TCP_NODELAY flushes what a cork holds; the cork stays for what comes later. */
static void nodelay_flushes(void)
{
    open_stack("");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(set(fd, IPPROTO_TCP, TCP_CORK, 1), 0);
    EQUAL(pd.write(pd.userdata, fd, bytes, 400), 400);
    pd.usleep(pd.userdata, 10000);
    EQUAL(set(fd, IPPROTO_TCP, TCP_NODELAY, 1), 0);
    struct segment held = sniff();
    EQUAL(held.len, 400);
    EQUAL(held.at, 10000);
    flow.rcv += 400;
    from_peer(&flow, ACK, 0, 30000);
    EQUAL(pd.write(pd.userdata, fd, bytes, 300), 300);
    held = sniff();
    EQUAL(held.len, 300);
    EQUAL(held.at, 210000);
    close_stack();
}

/* Linux's tcp_reset: in LAST-ACK an error like any other. */
static void reset_in_last_ack(void)
{
    open_stack("");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000), error = -1;
    from_peer(&flow, FIN | ACK, 0, 30000);
    EQUAL(sniff().ack, flow.snd);
    EQUAL(pd.shutdown(pd.userdata, fd, SHUT_WR), 0);
    EQUAL(sniff().flags & FIN, FIN);
    from_peer(&flow, RST, 0, 0);
    socklen_t len = sizeof error;
    EQUAL(pd.getsockopt(pd.userdata, fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
    EQUAL(error, ECONNRESET);
    close_stack();
}

/* A lost segment is counted until it is acknowledged, retransmitted or not (lost_out). */
static void lost_segments(void)
{
    open_stack("cc=reno,loss=fixed");
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 1};
    int listener = listening_socket(false, 5);
    struct segment syn = peers(&flow, SYN, 0, 30000);
    syn.mss = 1000;
    syn.sack_ok = true;
    inject(&syn);
    flow.rcv = sniff().seq + 1;
    flow.snd++;
    from_peer(&flow, ACK, 0, 30000);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    EQUAL(pd.write(pd.userdata, fd, bytes, 6000), 6000);
    for (int i = 0; i < 6; i++)
        EQUAL(sniff().len, 1000);
    EQUAL(info_of(fd).tcpi_lost, 0);
    struct segment doubt = peers(&flow, ACK, 0, 30000);
    doubt.sacks = 1;
    doubt.sack[0][0] = flow.rcv + 1000;
    for (uint32_t end = 2000; end <= 4000; end += 1000) {
        doubt.sack[0][1] = flow.rcv + end;
        inject(&doubt);
    }
    EQUAL(sniff().seq, flow.rcv);
    EQUAL(info_of(fd).tcpi_ca_state, 3);
    EQUAL(info_of(fd).tcpi_retrans, 1);
    EQUAL(info_of(fd).tcpi_lost, 1);
    close_stack();
}

/* Since when no data has come or gone: since the connection stands, if none ever has. */
static void last_data(void)
{
    open_stack("");
    pd.usleep(pd.userdata, 50000);
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    pd.usleep(pd.userdata, 30000);
    EQUAL(info_of(fd).tcpi_last_data_recv, 30);
    EQUAL(info_of(fd).tcpi_last_data_sent, 30);
    from_peer(&flow, ACK, 100, 30000);
    sniff();
    pd.usleep(pd.userdata, 20000);
    EQUAL(info_of(fd).tcpi_last_data_recv, 20);
    EQUAL(info_of(fd).tcpi_last_data_sent, 50);
    close_stack();
}

/* Marks that come back reduce the window: ca_state is CWR until what was sent is acknowledged. */
static void notified(void)
{
    open_stack("ecn=on");
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 1};
    int listener = listening_socket(false, 5);
    struct segment syn = peers(&flow, SYN | ECE | CWR, 0, 30000);
    syn.mss = 1000;
    inject(&syn);
    flow.rcv = sniff().seq + 1;
    flow.snd++;
    from_peer(&flow, ACK, 0, 30000);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    EQUAL(pd.write(pd.userdata, fd, bytes, 20000), 20000);
    for (int i = 0; i < 10; i++)
        sniff();
    EQUAL(info_of(fd).tcpi_ca_state, 0);
    flow.rcv += 2000;
    from_peer(&flow, ACK | ECE, 0, 30000);
    EQUAL(info_of(fd).tcpi_ca_state, 2);
    flow.rcv += 7000;
    from_peer(&flow, ACK, 0, 30000);
    EQUAL(info_of(fd).tcpi_ca_state, 2);
    pd.usleep(pd.userdata, 1000);
    flow.rcv += 2000;
    from_peer(&flow, ACK, 0, 30000);
    EQUAL(info_of(fd).tcpi_ca_state, 0);
    close_stack();
}

/* Linux: no new buffer begins while as much waits unsent, and poll asks for less than half. */
static void notsent_lowat(void)
{
    open_stack("send_buffer=1 MiB,send_buffer_tuning=off");
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 1};
    int listener = listening_socket(false, 5);
    struct segment syn = peers(&flow, SYN, 0, 16000);
    syn.mss = 1000;
    inject(&syn);
    flow.rcv = sniff().seq + 1;
    flow.snd++;
    from_peer(&flow, ACK, 0, 16000);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    EQUAL(pd.fcntl(pd.userdata, fd, F_SETFL, (long)(O_RDWR | O_NONBLOCK)), 0);
    EQUAL(set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 2000), 0);
    /* Buffers hold 8 segments. One leaves; of the next 2 segments leave; what is left of it is
     * filled up to 8 again. */
    EQUAL(pd.write(pd.userdata, fd, bytes, 20000), 18000);
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 0);
    for (int i = 0; i < 10; i++)
        sniff();
    flow.rcv += 10000;
    from_peer(&flow, ACK, 0, 16000);
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    close_stack();
}

/* tcp(7) has no word of it: TCP_INQ lets recvmsg say what is left, one byte standing for an end. */
static void left_to_read(void)
{
    open_stack("");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    from_peer(&flow, ACK, 1000, 30000);
    from_peer(&flow, FIN | ACK, 0, 30000);
    char control[64];
    struct iovec piece = {.iov_base = bytes, .iov_len = 400};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    EQUAL(pd.recvmsg(pd.userdata, fd, &message, 0), 400);
    EQUAL(message.msg_controllen, 0);
    EQUAL(set(fd, IPPROTO_TCP, TCP_INQ, 1), 0);
    static const int lefts[] = {200, 1};
    for (int i = 0; i < 2; i++) {
        message.msg_controllen = sizeof control;
        piece.iov_len = i ? 200 : 400;
        EQUAL(pd.recvmsg(pd.userdata, fd, &message, 0), (ssize_t)piece.iov_len);
        struct cmsghdr *said = CMSG_FIRSTHDR(&message);
        CHECK(said && said->cmsg_level == IPPROTO_TCP && said->cmsg_type == TCP_CM_INQ);
        EQUAL(said ? *(int *)CMSG_DATA(said) : -1, lefts[i]);
    }
    message.msg_controllen = 8;
    EQUAL(pd.recvmsg(pd.userdata, fd, &message, 0), 0);
    EQUAL(message.msg_flags, MSG_CTRUNC);
    close_stack();
}

/* Options of IP may be a single byte. */
static void short_options(void)
{
    open_stack("");
    int fd = listening_socket(false, 5), value = 0;
    socklen_t len = sizeof value;
    uint8_t byte = 4;
    EQUAL(pd.setsockopt(pd.userdata, fd, IPPROTO_IP, IP_TOS, &byte, 1), 0);
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_IP, IP_TOS, &value, &len), 0);
    EQUAL(value, 4);
    FAILS(pd.setsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_NODELAY, &byte, 1), EINVAL);
    close_stack();
}

/* tcpi_rwnd_limited: how long nothing but the peer's window held data back. */
static void limited_by_the_window(void)
{
    open_stack("");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.write(pd.userdata, fd, bytes, 1000), 1000);
    sniff();
    pd.usleep(pd.userdata, 10000);
    flow.rcv += 1000;
    from_peer(&flow, ACK, 0, 500);
    EQUAL(info_of(fd).tcpi_rwnd_limited, 0);
    EQUAL(pd.write(pd.userdata, fd, bytes, 1000), 1000);
    pd.usleep(pd.userdata, 70000);
    EQUAL(info_of(fd).tcpi_rwnd_limited, 70000);
    from_peer(&flow, ACK, 0, 2000);
    pd.usleep(pd.userdata, 5000);
    EQUAL(info_of(fd).tcpi_rwnd_limited, 70000);
    EQUAL(info_of(fd).tcpi_busy_time, 85000);
    close_stack();
}

/* Nobody is left who could end the wait: it fails with a message instead of lasting for ever. */
static void waits_without_end(void)
{
    open_stack("");
    int listener = listening_socket(false, 5);
    int ends[2], before = dup(2);
    EQUAL(pipe(ends), 0);
    dup2(ends[1], 2);
    FAILS(pd.accept(pd.userdata, listener, NULL, NULL), EDEADLK);
    dup2(before, 2);
    close(ends[1]);
    char text[500] = {0};
    CHECK(read(ends[0], text, sizeof text - 1) > 0);
    CHECK(strstr(text, "EDEADLK") != NULL);
    close(ends[0]);
    close(before);
    EQUAL(now_usecs(), 0);
    struct pollfd entry = {.fd = listener, .events = POLLIN};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 1000), 0);
    EQUAL(now_usecs(), 1000000);
    close_stack();
}

/* Loaded before the system's library (LD_PRELOAD), the library answers the system's own calls for
 * its descriptors, and leaves all others to the kernel. */
static void calls_past_the_structure(void)
{
    if (!getenv("LD_PRELOAD"))
        return;
    open_stack("");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    EQUAL(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    EQUAL(info.tcpi_state, 1);
    EQUAL(info.tcpi_snd_mss, 1000);
    EQUAL(info.tcpi_snd_cwnd, 10);
    len = sizeof info;
    EQUAL(getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, &info, &len), 0);
    EQUAL(len, 0);
    int kernels = socket(AF_INET, SOCK_DGRAM, 0), kind = 0;
    len = sizeof kind;
    EQUAL(getsockopt(kernels, SOL_SOCKET, SO_TYPE, &kind, &len), 0);
    EQUAL(kind, SOCK_DGRAM);
    FAILS(getsockopt(9999, SOL_SOCKET, SO_TYPE, &kind, &len), EBADF);
    close(kernels);

    char path[] = "/tmp/ackord-sendfile-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    EQUAL(write(file, "0123456789", 10), 10);
    off_t offset = 4;
    EQUAL(sendfile(fd, file, &offset, 100), 6);
    EQUAL(offset, 10);
    struct segment sent = sniff();
    EQUAL(sent.len, 6);
    EQUAL(memcmp(sent.payload, "456789", 6), 0);
    EQUAL(sendfile(fd, file, &offset, 100), 0);
    close(file);
    close_stack();
}

void kernel_tests(void)
{
    listeners();
    records();
    nodelay_flushes();
    reset_in_last_ack();
    lost_segments();
    last_data();
    notified();
    notsent_lowat();
    left_to_read();
    short_options();
    limited_by_the_window();
    waits_without_end();
    calls_past_the_structure();
}
