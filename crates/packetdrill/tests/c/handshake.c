/* Connections come about and end, as RFC 9293 says, over IPv4 and IPv6. */
#include "kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <netinet/tcp.h>
#include <string.h>

/* Every option of a SYN is answered, and the stack's own MSS fits its MTU. */
static void syn_is_answered(bool ipv6)
{
    open_stack("profile=rfc,mtu=1500");
    int listener = listening_socket(ipv6, 5);
    struct flow flow = {.ipv6 = ipv6, .ours = 8080, .peers = 40000, .snd = 7};
    struct segment syn = peers(&flow, SYN, 0, 30000);
    syn.mss = 1400;
    syn.sack_ok = syn.has_ts = true;
    syn.tsval = 100;
    syn.wscale = 7;
    inject(&syn);
    struct segment answer = sniff();
    EQUAL(answer.flags, SYN | ACK);
    EQUAL(answer.ack, 8);
    EQUAL(answer.mss, ipv6 ? 1440 : 1460);
    CHECK(answer.sack_ok && answer.has_ts && answer.wscale >= 0);
    EQUAL(answer.tsecr, 100);
    EQUAL(answer.sport, 8080);
    EQUAL(answer.dport, 40000);
    EQUAL(answer.at, 0);
    CHECK(answer.ipv6 == ipv6);

    struct pollfd entry = {.fd = listener, .events = POLLIN};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 0);
    flow.snd = 8;
    flow.rcv = answer.seq + 1;
    struct segment ack = peers(&flow, ACK, 0, 30000);
    ack.has_ts = true;
    ack.tsval = 101;
    ack.tsecr = answer.tsval;
    inject(&ack);
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    EQUAL(entry.revents, POLLIN);

    struct sockaddr_storage peer, expected;
    socklen_t len = sizeof peer, expected_len = peer_address(&expected, ipv6, 40000);
    int fd = pd.accept(pd.userdata, listener, (struct sockaddr *)&peer, &len);
    CHECK(fd >= 0 && fd != listener);
    EQUAL(len, expected_len);
    EQUAL(memcmp(&peer, &expected, len), 0);
    EQUAL(now_usecs(), 0);
    EQUAL(pd.close(pd.userdata, fd), 0);
    struct segment fin = sniff();
    EQUAL(fin.flags, FIN | ACK);
    FAILS(pd.close(pd.userdata, fd), EBADF);
    close_stack();
}

/* An unanswered SYN-ACK is retransmitted after a second (RFC 6298 §2.1). */
static void syn_ack_is_sent_again(void)
{
    open_stack("profile=rfc");
    listening_socket(false, 5);
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 7};
    struct segment syn = peers(&flow, SYN, 0, 30000);
    inject(&syn);
    EQUAL(sniff().at, 0);
    struct segment again = sniff();
    EQUAL(again.flags, SYN | ACK);
    EQUAL(again.at, 1000000);
    EQUAL(now_usecs(), 1000000);
    EQUAL(sniff().at, 3000000);
    close_stack();
}

/* An active open that does not wait, and what connect says on the way. */
static void active_open(bool ipv6)
{
    open_stack("profile=rfc");
    struct sockaddr_storage to;
    socklen_t len = peer_address(&to, ipv6, 8080);
    int fd = pd.socket(pd.userdata, ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), EINPROGRESS);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), EALREADY);
    char byte = 1;
    FAILS(pd.write(pd.userdata, fd, &byte, 1), EAGAIN);
    FAILS(pd.read(pd.userdata, fd, &byte, 1), EAGAIN);
    struct segment syn = sniff();
    EQUAL(syn.flags, SYN);
    EQUAL(syn.dport, 8080);
    CHECK(syn.mss && syn.sack_ok && syn.has_ts && syn.wscale >= 0);
    CHECK(syn.sport >= 32768);

    struct pollfd entry = {.fd = fd, .events = POLLOUT | POLLIN};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 0);
    pd.usleep(pd.userdata, 20000);
    struct flow flow = {.ipv6 = ipv6, .ours = syn.sport, .peers = 8080, .snd = 50, .rcv = syn.seq + 1};
    struct segment answer = peers(&flow, SYN | ACK, 0, 30000);
    answer.mss = 1460;
    inject(&answer);
    struct segment ack = sniff();
    EQUAL(ack.flags, ACK);
    EQUAL(ack.ack, 51);
    EQUAL(ack.seq, syn.seq + 1);
    EQUAL(ack.at, 20000);
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    EQUAL(entry.revents, POLLOUT);
    int error = -1;
    socklen_t error_len = sizeof error;
    EQUAL(pd.getsockopt(pd.userdata, fd, SOL_SOCKET, SO_ERROR, &error, &error_len), 0);
    EQUAL(error, 0);
    EQUAL(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), 0);
    FAILS(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, len), EISCONN);
    close_stack();
}

/* A SYN to where nobody listens is reset (RFC 9293 §3.10.7.1). */
static void nobody_listens(void)
{
    open_stack("");
    struct flow flow = {.ours = 9999, .peers = 40000, .snd = 7};
    struct segment syn = peers(&flow, SYN, 0, 30000);
    inject(&syn);
    struct segment reset = sniff();
    EQUAL(reset.flags, RST | ACK);
    EQUAL(reset.ack, 8);
    EQUAL(reset.seq, 0);
    struct segment stray = peers(&flow, ACK, 10, 30000);
    stray.ack = 4711;
    inject(&stray);
    reset = sniff();
    EQUAL(reset.flags, RST);
    EQUAL(reset.seq, 4711);
    struct segment rst = peers(&flow, RST, 0, 0);
    inject(&rst);
    CHECK(silence());
    close_stack();
}

/* The application closes first: FIN-WAIT-1, -2, TIME-WAIT, all answered. */
static void orderly_close(bool ipv6)
{
    open_stack("profile=rfc");
    struct flow flow = {.ipv6 = ipv6};
    int listener = listening_socket(ipv6, 5), fd = accepted(&flow, listener, 40000);
    EQUAL(pd.shutdown(pd.userdata, fd, SHUT_WR), 0);
    struct segment fin = sniff();
    EQUAL(fin.flags, FIN | ACK);
    EQUAL(fin.seq, flow.rcv);
    int waiting = -1;
    EQUAL(pd.ioctl(pd.userdata, fd, (unsigned long)SIOCOUTQ, &waiting), 0);
    EQUAL(waiting, 1);
    flow.rcv++;
    from_peer(&flow, ACK, 0, 30000);
    EQUAL(pd.ioctl(pd.userdata, fd, (unsigned long)SIOCOUTQ, &waiting), 0);
    EQUAL(waiting, 0);
    char bytes[100];
    FAILS(pd.write(pd.userdata, fd, bytes, 1), EPIPE);
    /* The other direction still works. */
    from_peer(&flow, ACK | PSH, 100, 30000);
    EQUAL(pd.read(pd.userdata, fd, bytes, sizeof bytes), 100);
    from_peer(&flow, FIN | ACK, 0, 30000);
    struct segment last = sniff();
    EQUAL(last.ack, flow.snd);
    EQUAL(last.flags, ACK);
    EQUAL(pd.read(pd.userdata, fd, bytes, sizeof bytes), 0);
    struct pollfd entry = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    EQUAL(entry.revents, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
    EQUAL(pd.close(pd.userdata, fd), 0);
    /* TIME-WAIT answers a FIN that comes again, and lasts a minute. */
    flow.snd--;
    from_peer(&flow, FIN | ACK, 0, 30000);
    EQUAL(sniff().flags, ACK);
    CHECK(silence());
    EQUAL(now_usecs(), 60000000);
    close_stack();
}

/* A SYN that cannot be an old one takes the place of a connection in TIME-WAIT (RFC 6191). */
static void time_wait_gives_way(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int listener = listening_socket(false, 5), fd = accepted(&flow, listener, 40000);
    EQUAL(pd.close(pd.userdata, fd), 0);
    EQUAL(sniff().flags, FIN | ACK);
    flow.rcv++;
    from_peer(&flow, FIN | ACK, 0, 30000);
    EQUAL(sniff().ack, flow.snd);
    struct segment old = peers(&flow, SYN, 0, 30000);
    old.seq -= 100;
    inject(&old);
    EQUAL(sniff().flags, ACK);
    struct segment syn = peers(&flow, SYN, 0, 30000);
    syn.seq += 5000;
    inject(&syn);
    struct segment answer = sniff();
    EQUAL(answer.flags, SYN | ACK);
    EQUAL(answer.ack, syn.seq + 1);
    CHECK((int32_t)(answer.seq - flow.rcv) > 0);
    close_stack();
}

/* A descriptor of ours is one of the process: closing it with close(2), as packetdrill does with
 * what a script leaves open, harms nobody. */
static void closed_behind_our_back(void)
{
    open_stack("profile=rfc");
    int fd = listening_socket(false, 5), strangers[2];
    EQUAL(close(fd), 0);
    EQUAL(pipe(strangers), 0);
    CHECK(strangers[0] == fd || strangers[1] == fd);
    EQUAL(pd.close(pd.userdata, fd), 0);
    EQUAL(write(strangers[1], "x", 1), 1);
    int other = listening_socket(false, 5);
    CHECK(other != strangers[0] && other != strangers[1]);
    close_stack();
    char byte;
    EQUAL(read(strangers[0], &byte, 1), 1);
    EQUAL(close(strangers[0]), 0);
    EQUAL(close(strangers[1]), 0);
    FAILS(close(other), EBADF);
}

/* The peer closes first. */
static void peer_closes(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int listener = listening_socket(false, 5), fd = accepted(&flow, listener, 40000);
    from_peer(&flow, FIN | ACK, 0, 30000);
    EQUAL(sniff().ack, flow.snd);
    char bytes[10];
    EQUAL(pd.read(pd.userdata, fd, bytes, sizeof bytes), 0);
    EQUAL(pd.write(pd.userdata, fd, "late", 4), 4);
    struct segment late = sniff();
    EQUAL(late.len, 4);
    EQUAL(memcmp(late.payload, "late", 4), 0);
    flow.rcv += 4;
    EQUAL(pd.close(pd.userdata, fd), 0);
    struct segment fin = sniff();
    EQUAL(fin.flags & FIN, FIN);
    flow.rcv++;
    from_peer(&flow, ACK, 0, 30000);
    CHECK(silence());
    /* Nothing is left of it. */
    from_peer(&flow, ACK, 1, 30000);
    EQUAL(sniff().flags, RST);
    close_stack();
}

/* One more than the backlog waits; the next SYN is left unanswered, and the last acknowledgment of
 * a handshake means nothing while the queue is full. */
static void backlog_is_kept(void)
{
    open_stack("profile=rfc");
    int listener = listening_socket(false, 1);
    struct flow flows[3] = {0};
    passive_handshake(&flows[0], 40000);
    passive_handshake(&flows[1], 40001);
    struct flow late = {.ours = 8080, .peers = 40002, .snd = 7};
    struct segment syn = peers(&late, SYN, 0, 30000);
    inject(&syn);
    CHECK(silence());
    CHECK(pd.accept(pd.userdata, listener, NULL, NULL) >= 0);
    passive_handshake(&flows[2], 40003);
    CHECK(pd.accept(pd.userdata, listener, NULL, NULL) >= 0);
    CHECK(pd.accept(pd.userdata, listener, NULL, NULL) >= 0);
    EQUAL(pd.fcntl(pd.userdata, listener, F_SETFL, O_NONBLOCK), 0);
    FAILS(pd.accept(pd.userdata, listener, NULL, NULL), EAGAIN);
    close_stack();
}

/* Closing a listener resets what waits to be accepted. */
static void closing_a_listener_resets(void)
{
    open_stack("profile=rfc");
    int listener = listening_socket(false, 5);
    struct flow flow = {0};
    passive_handshake(&flow, 40000);
    EQUAL(pd.close(pd.userdata, listener), 0);
    EQUAL(sniff().flags & RST, RST);
    close_stack();
}

/* An IPv6 socket takes IPv4 too, and shows the address mapped. */
static void mapped_addresses(void)
{
    open_stack("profile=rfc");
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(8080)};
    int listener = pd.socket(pd.userdata, AF_INET6, SOCK_STREAM, 0);
    EQUAL(pd.bind(pd.userdata, listener, (struct sockaddr *)&any, sizeof any), 0);
    EQUAL(pd.listen(pd.userdata, listener, 5), 0);
    struct flow flow = {0};
    passive_handshake(&flow, 40000);
    struct sockaddr_in6 peer;
    socklen_t len = sizeof peer;
    CHECK(pd.accept(pd.userdata, listener, (struct sockaddr *)&peer, &len) >= 0);
    static const uint8_t mapped[16] = {[10] = 0xff, 0xff, 192, 0, 2, 1};
    EQUAL(len, sizeof peer);
    EQUAL(peer.sin6_family, AF_INET6);
    EQUAL(memcmp(&peer.sin6_addr, mapped, 16), 0);
    close_stack();
}

void handshake_tests(void)
{
    syn_is_answered(false);
    syn_is_answered(true);
    syn_ack_is_sent_again();
    active_open(false);
    active_open(true);
    nobody_listens();
    orderly_close(false);
    orderly_close(true);
    time_wait_gives_way();
    closed_behind_our_back();
    peer_closes();
    backlog_is_kept();
    closing_a_listener_resets();
    mapped_addresses();
}
