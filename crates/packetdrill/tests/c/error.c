/* What goes wrong, and the errno that Linux gives it. */
#include "kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

static int socket_error(int fd)
{
    int error = -1;
    socklen_t len = sizeof error;
    EQUAL(pd.getsockopt(pd.userdata, fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
    return error;
}

static int fresh(int flags)
{
    return pd.socket(pd.userdata, AF_INET, SOCK_STREAM | flags, IPPROTO_TCP);
}

static void refused(void)
{
    open_stack("profile=rfc");
    struct sockaddr_storage to;
    socklen_t len = peer_address(&to, false, 8080);
    int fd = fresh(SOCK_NONBLOCK);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), EINPROGRESS);
    struct segment syn = sniff();
    struct flow flow = {.ours = syn.sport, .peers = 8080, .rcv = syn.seq + 1};
    from_peer(&flow, RST | ACK, 0, 0);
    struct pollfd entry = {.fd = fd, .events = POLLIN | POLLOUT};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    EQUAL(entry.revents, POLLIN | POLLOUT | POLLERR | POLLHUP);
    EQUAL(socket_error(fd), ECONNREFUSED);
    EQUAL(socket_error(fd), 0);

    /* Asked by connect itself, the socket is new again and may try elsewhere. */
    fd = fresh(SOCK_NONBLOCK);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), EINPROGRESS);
    syn = sniff();
    flow = (struct flow){.ours = syn.sport, .peers = 8080, .rcv = syn.seq + 1};
    from_peer(&flow, RST | ACK, 0, 0);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), ECONNREFUSED);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), EINPROGRESS);
    EQUAL(sniff().flags, SYN);
    close_stack();
}

static void reset_by_peer(bool ipv6)
{
    open_stack("profile=rfc");
    struct flow flow = {.ipv6 = ipv6};
    int fd = accepted(&flow, listening_socket(ipv6, 5), 40000);
    from_peer(&flow, ACK, 10, 30000);
    struct segment reset = peers(&flow, RST, 0, 0);
    inject(&reset);
    char bytes[100];
    /* What had arrived is still there. */
    EQUAL(pd.read(pd.userdata, fd, bytes, sizeof bytes), 10);
    FAILS(pd.read(pd.userdata, fd, bytes, sizeof bytes), ECONNRESET);
    EQUAL(pd.read(pd.userdata, fd, bytes, sizeof bytes), 0);
    FAILS(pd.write(pd.userdata, fd, bytes, 1), EPIPE);
    struct pollfd entry = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    EQUAL(entry.revents, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
    EQUAL(pd.close(pd.userdata, fd), 0);
    close_stack();
}

/* A reset after the peer's FIN is EPIPE, and a writer is told it first. */
static void reset_after_fin(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    from_peer(&flow, FIN | ACK, 0, 30000);
    sniff();
    struct segment reset = peers(&flow, RST, 0, 0);
    inject(&reset);
    EQUAL(socket_error(fd), EPIPE);
    FAILS(pd.write(pd.userdata, fd, "x", 1), EPIPE);
    close_stack();
}

/* RFC 5961 §3: only a reset at the very next byte is believed at once. */
static void doubtful_resets(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    struct segment reset = peers(&flow, RST, 0, 0);
    reset.seq += 100;
    inject(&reset);
    struct segment challenge = sniff();
    EQUAL(challenge.flags, ACK);
    EQUAL(challenge.ack, flow.snd);
    reset.seq = flow.snd - 1;
    inject(&reset);
    CHECK(silence());
    EQUAL(socket_error(fd), 0);
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    EQUAL(sniff().len, 1);
    close_stack();
}

/* Nobody answers: the SYN, and later the data, are given up. */
static void timed_out(void)
{
    open_stack("profile=rfc,syn_retransmissions=2,max_retransmissions=3");
    struct sockaddr_storage to;
    socklen_t len = peer_address(&to, false, 8080);
    int fd = fresh(SOCK_NONBLOCK);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), EINPROGRESS);
    EQUAL(sniff().at, 0);
    EQUAL(sniff().at, 1000000);
    EQUAL(sniff().at, 3000000);
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    /* poll of the only thread passes the time itself. */
    EQUAL(pd.poll(pd.userdata, &entry, 1, 10000), 1);
    EQUAL(now_usecs(), 7000000);
    EQUAL(entry.revents & POLLERR, POLLERR);
    EQUAL(socket_error(fd), ETIMEDOUT);
    close_stack();

    open_stack("profile=rfc,max_retransmissions=3");
    struct flow flow = {0};
    fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    char byte;
    FAILS(pd.read(pd.userdata, fd, &byte, 1), ETIMEDOUT);
    EQUAL(now_usecs(), 15000000);
    EQUAL(pd.read(pd.userdata, fd, &byte, 1), 0);
    close_stack();
}

/* RFC 2525 §2.17 and SO_LINGER: close that resets. */
static void closing_by_reset(void)
{
    open_stack("profile=rfc");
    int listener = listening_socket(false, 5);
    struct flow flow = {0};
    int fd = accepted(&flow, listener, 40000);
    from_peer(&flow, ACK, 10, 30000);
    EQUAL(pd.close(pd.userdata, fd), 0);
    struct segment reset = sniff();
    EQUAL(reset.flags, RST | ACK);
    EQUAL(reset.seq, flow.rcv);

    fd = accepted(&flow, listener, 40001);
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    EQUAL(pd.setsockopt(pd.userdata, fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    EQUAL(pd.close(pd.userdata, fd), 0);
    EQUAL(sniff().flags, RST | ACK);

    /* Data for a connection that was closed and is no longer read is refused. */
    fd = accepted(&flow, listener, 40002);
    EQUAL(pd.close(pd.userdata, fd), 0);
    EQUAL(sniff().flags, FIN | ACK);
    flow.rcv++;
    from_peer(&flow, ACK, 10, 30000);
    EQUAL(sniff().flags & RST, RST);

    /* connect to no family at all ends a connection too. */
    fd = accepted(&flow, listener, 40003);
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    EQUAL(pd.connect(pd.userdata, fd, &none, sizeof none), 0);
    EQUAL(sniff().flags & RST, RST);
    char byte;
    FAILS(pd.read(pd.userdata, fd, &byte, 1), ENOTCONN);
    close_stack();
}

static void wrong_calls(void)
{
    open_stack(NULL);
    char byte = 0;
    struct sockaddr_storage here, there;
    socklen_t len = local_address(&here, false, 8080);
    peer_address(&there, false, 8080);
    FAILS(pd.read(pd.userdata, 9999, &byte, 1), EBADF);
    FAILS(pd.write(pd.userdata, -1, &byte, 1), EBADF);
    FAILS(pd.close(pd.userdata, 9999), EBADF);
    FAILS(pd.listen(pd.userdata, 9999, 1), EBADF);
    FAILS(pd.fcntl(pd.userdata, 9999, F_GETFL), EBADF);
    FAILS(pd.socket(pd.userdata, AF_UNIX, SOCK_STREAM, 0), EAFNOSUPPORT);
    FAILS(pd.socket(pd.userdata, AF_INET, SOCK_DGRAM, 0), ESOCKTNOSUPPORT);
    FAILS(pd.socket(pd.userdata, AF_INET, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);

    int fd = fresh(0);
    FAILS(pd.read(pd.userdata, fd, &byte, 1), ENOTCONN);
    FAILS(pd.write(pd.userdata, fd, &byte, 1), EPIPE);
    FAILS(pd.accept(pd.userdata, fd, NULL, NULL), EINVAL);
    FAILS(pd.shutdown(pd.userdata, fd, SHUT_RDWR), ENOTCONN);
    FAILS(pd.shutdown(pd.userdata, fd, 7), EINVAL);
    FAILS(pd.send(pd.userdata, fd, &byte, 1, MSG_OOB), EOPNOTSUPP);
    FAILS(pd.recv(pd.userdata, fd, &byte, 1, MSG_OOB), EINVAL);
    struct pollfd entry = {.fd = fd, .events = POLLIN | POLLOUT};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    EQUAL(entry.revents, POLLOUT | POLLHUP);
    entry.fd = 9999;
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    EQUAL(entry.revents, POLLNVAL);

    FAILS(pd.bind(pd.userdata, fd, (struct sockaddr *)&here, 3), EINVAL);
    EQUAL(pd.bind(pd.userdata, fd, (struct sockaddr *)&here, len), 0);
    FAILS(pd.bind(pd.userdata, fd, (struct sockaddr *)&here, len), EINVAL);
    int other = fresh(0);
    FAILS(pd.bind(pd.userdata, other, (struct sockaddr *)&here, len), EADDRINUSE);
    socklen_t len6 = local_address(&here, true, 8081);
    FAILS(pd.bind(pd.userdata, other, (struct sockaddr *)&here, len6), EAFNOSUPPORT);
    FAILS(pd.connect(pd.userdata, other, (struct sockaddr *)&here, len6), EAFNOSUPPORT);
    EQUAL(pd.listen(pd.userdata, fd, 5), 0);
    FAILS(pd.read(pd.userdata, fd, &byte, 1), ENOTCONN);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&there, len), EISCONN);
    entry.fd = fd;
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 0);
    int ends[2];
    EQUAL(pd.pipe(pd.userdata, ends), 0);
    FAILS(pd.listen(pd.userdata, ends[0], 5), ENOTSOCK);
    FAILS(pd.setsockopt(pd.userdata, ends[0], SOL_SOCKET, SO_REUSEADDR, &byte, 4), ENOTSOCK);
    FAILS(pd.ioctl(pd.userdata, fd, 0xabcdUL, &byte), ENOTTY);
    FAILS(pd.netdev_send(pd.userdata, &byte, 0), EINVAL);
    /* Nonsense from the network is dropped. */
    EQUAL(pd.netdev_send(pd.userdata, &byte, 1), 0);
    close_stack();
}

/* Pointers to nothing where something has to be: EFAULT, and nothing is lost or left behind. */
static void null_pointers(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    int listener = listening_socket(false, 5);
    FAILS(pd.bind(pd.userdata, fresh(0), NULL, sizeof(struct sockaddr_in)), EFAULT);
    FAILS(pd.connect(pd.userdata, fresh(0), NULL, sizeof(struct sockaddr_in)), EFAULT);
    int fd = accepted(&flow, listener, 40000);
    struct flow second = {0};
    passive_handshake(&second, 40001);
    FAILS(pd.accept(pd.userdata, listener, (struct sockaddr *)&peer, NULL), EFAULT);
    EQUAL(sniff().flags & (FIN | RST), FIN);

    from_peer(&flow, ACK, 100, 30000);
    uint8_t bytes[200];
    FAILS(pd.read(pd.userdata, fd, NULL, 50), EFAULT);
    FAILS(pd.recvfrom(pd.userdata, fd, NULL, 50, 0, NULL, NULL), EFAULT);
    FAILS(pd.recv(pd.userdata, fd, NULL, 50, MSG_PEEK), EFAULT);
    FAILS(pd.readv(pd.userdata, fd, NULL, 1), EFAULT);
    FAILS(pd.recvmsg(pd.userdata, fd, NULL, 0), EFAULT);
    FAILS(pd.writev(pd.userdata, fd, NULL, 1), EFAULT);
    FAILS(pd.sendmsg(pd.userdata, fd, NULL, 0), EFAULT);
    FAILS(pd.ioctl(pd.userdata, fd, (unsigned long)FIONREAD, NULL), EFAULT);
    FAILS(pd.setsockopt(pd.userdata, fd, SOL_SOCKET, SO_KEEPALIVE, NULL, 4), EFAULT);
    FAILS(pd.getsockopt(pd.userdata, fd, SOL_SOCKET, SO_KEEPALIVE, NULL, &len), EFAULT);
    /* What comes before the gap is filled, and the rest stays; thrown away it needs no room. */
    struct iovec pieces[2] = {{bytes, 20}, {NULL, 20}};
    EQUAL(pd.readv(pd.userdata, fd, pieces, 2), 20);
    EQUAL(pd.recv(pd.userdata, fd, NULL, 30, MSG_TRUNC), 30);
    EQUAL(pd.read(pd.userdata, fd, bytes, sizeof bytes), 50);

    FAILS(pd.poll(pd.userdata, NULL, 1, 0), EFAULT);
    FAILS(pd.pipe(pd.userdata, NULL), EFAULT);
    int epoll = pd.epoll_create(pd.userdata, 1);
    FAILS(pd.epoll_ctl(pd.userdata, epoll, EPOLL_CTL_ADD, fd, NULL), EFAULT);
    FAILS(pd.netdev_send(pd.userdata, NULL, 40), EFAULT);
    EQUAL(pd.gettimeofday(pd.userdata, NULL, NULL), 0);
    close_stack();
}

void error_tests(void)
{
    null_pointers();
    refused();
    reset_by_peer(false);
    reset_by_peer(true);
    reset_after_fin();
    doubtful_resets();
    timed_out();
    closing_by_reset();
    wrong_calls();
}
