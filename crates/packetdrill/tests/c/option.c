/* Socket options, and the kernel's struct tcp_info. */
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

/* The kernel's numbers of states; linux/tcp.h has the whole structure, but not these. */
enum {
    TCP_ESTABLISHED = 1,
    TCP_SYN_SENT,
    TCP_SYN_RECV,
    TCP_FIN_WAIT1,
    TCP_FIN_WAIT2,
    TCP_TIME_WAIT,
    TCP_CLOSE,
    TCP_CLOSE_WAIT,
    TCP_LAST_ACK,
    TCP_LISTEN,
    TCP_CLOSING
};

static int get(int fd, int level, int name)
{
    int value = -77;
    socklen_t len = sizeof value;
    EQUAL(pd.getsockopt(pd.userdata, fd, level, name, &value, &len), 0);
    EQUAL(len, sizeof value);
    return value;
}

static int set(int fd, int level, int name, int value)
{
    return pd.setsockopt(pd.userdata, fd, level, name, &value, sizeof value);
}

static struct tcp_info info_of(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    memset(&info, 0xee, sizeof info);
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    EQUAL(len, sizeof info);
    return info;
}

static void tcp_info(void)
{
    open_stack("profile=rfc,cc=reno,nagle=off,initial_window=4,recovery=sack,loss=fixed");
    int listener = listening_socket(false, 7);
    struct tcp_info info = info_of(listener);
    EQUAL(info.tcpi_state, TCP_LISTEN);
    EQUAL(info.tcpi_sacked, 7);
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 10};
    struct segment syn = peers(&flow, SYN, 0, 40000);
    syn.mss = 1012;
    syn.sack_ok = syn.has_ts = true;
    syn.wscale = 3;
    syn.tsval = 1;
    inject(&syn);
    struct segment answer = sniff();
    pd.usleep(pd.userdata, 100000);
    flow.snd++;
    flow.rcv = answer.seq + 1;
    struct segment ack = peers(&flow, ACK, 0, 5000);
    ack.has_ts = true;
    ack.tsval = 2;
    ack.tsecr = answer.tsval;
    inject(&ack);
    info = info_of(listener);
    EQUAL(info.tcpi_unacked, 1);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    info = info_of(fd);
    EQUAL(info.tcpi_state, TCP_ESTABLISHED);
    EQUAL(info.tcpi_ca_state, TCP_CA_Open);
    EQUAL(info.tcpi_options, TCPI_OPT_TIMESTAMPS | TCPI_OPT_SACK | TCPI_OPT_WSCALE);
    EQUAL(info.tcpi_snd_wscale, 3);
    EQUAL(info.tcpi_rcv_wscale, answer.wscale);
    EQUAL(info.tcpi_rtt, 100000);
    EQUAL(info.tcpi_rttvar, 50000);
    EQUAL(info.tcpi_rto, 1000000);
    EQUAL(info.tcpi_min_rtt, 100000);
    EQUAL(info.tcpi_snd_mss, 1000);
    EQUAL(info.tcpi_advmss, 1448);
    EQUAL(info.tcpi_pmtu, 1500);
    EQUAL(info.tcpi_snd_cwnd, 4);
    EQUAL(info.tcpi_snd_ssthresh, 0x7fffffff);
    EQUAL(info.tcpi_reordering, 3);
    EQUAL(info.tcpi_unacked, 0);
    EQUAL(info.tcpi_snd_wnd, 40000);
    EQUAL(info.tcpi_bytes_acked, 0);
    EQUAL(info.tcpi_segs_in, 2);
    EQUAL(info.tcpi_segs_out, 1);

    static char bytes[6000];
    EQUAL(pd.write(pd.userdata, fd, bytes, sizeof bytes), 6000);
    for (int i = 0; i < 4; i++)
        EQUAL(sniff().len, 1000);
    info = info_of(fd);
    EQUAL(info.tcpi_unacked, 4);
    EQUAL(info.tcpi_notsent_bytes, 2000);
    EQUAL(info.tcpi_data_segs_out, 4);
    EQUAL(info.tcpi_bytes_sent, 4000);
    EQUAL(info.tcpi_bytes_retrans, 0);
    EQUAL(info.tcpi_last_data_sent, 0);
    pd.usleep(pd.userdata, 100000);
    EQUAL(info_of(fd).tcpi_last_data_sent, 100);
    EQUAL(info_of(fd).tcpi_busy_time, 100000);

    /* The first is missing: one later one is reported, then three. */
    ack = peers(&flow, ACK, 0, 5000);
    ack.has_ts = true;
    ack.tsval = 3;
    ack.tsecr = answer.tsval;
    ack.sacks = 1;
    ack.sack[0][0] = flow.rcv + 1000;
    ack.sack[0][1] = flow.rcv + 2000;
    inject(&ack);
    info = info_of(fd);
    EQUAL(info.tcpi_ca_state, TCP_CA_Disorder);
    EQUAL(info.tcpi_sacked, 1);
    ack.sack[0][1] = flow.rcv + 4000;
    inject(&ack);
    inject(&ack);
    info = info_of(fd);
    EQUAL(info.tcpi_ca_state, TCP_CA_Recovery);
    CHECK(info.tcpi_sacked >= 3);
    EQUAL(info.tcpi_total_retrans, 1);
    EQUAL(info.tcpi_retrans, 1);
    EQUAL(info.tcpi_snd_ssthresh, 2);
    EQUAL(info.tcpi_bytes_retrans, 1000);

    struct segment data = peers(&flow, ACK, 500, 5000);
    data.has_ts = true;
    data.tsval = 4;
    data.tsecr = answer.tsval;
    inject(&data);
    info = info_of(fd);
    EQUAL(info.tcpi_bytes_received, 500);
    EQUAL(info.tcpi_data_segs_in, 1);

    /* The kernel gives as much as there is room for. */
    uint8_t some[20];
    memset(some, 0xee, sizeof some);
    socklen_t len = 9;
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_INFO, some, &len), 0);
    EQUAL(len, 9);
    EQUAL(some[0], TCP_ESTABLISHED);
    EQUAL(some[9], 0xee);
    uint8_t many[600];
    len = sizeof many;
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_INFO, many, &len), 0);
    EQUAL(len, 280);
    EQUAL(info_of(pd.socket(pd.userdata, AF_INET, SOCK_STREAM, 0)).tcpi_state, TCP_CLOSE);
    close_stack();
}

/* What a program has not set is what the sysctls say. */
static void initial_values(void)
{
    open_stack("net.ipv4.tcp_keepalive_time=15,net.ipv4.tcp_keepalive_intvl=16,"
               "net.ipv4.tcp_keepalive_probes=8,net.ipv4.tcp_syn_retries=3,net.ipv4.tcp_fin_timeout=17");
    int fd = pd.socket(pd.userdata, AF_INET, SOCK_STREAM, IPPROTO_TCP);
    EQUAL(get(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
    EQUAL(get(fd, IPPROTO_TCP, TCP_KEEPINTVL), 16);
    EQUAL(get(fd, IPPROTO_TCP, TCP_KEEPCNT), 8);
    EQUAL(get(fd, IPPROTO_TCP, TCP_SYNCNT), 3);
    EQUAL(get(fd, IPPROTO_TCP, TCP_LINGER2), 17);
    EQUAL(set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30), 0);
    EQUAL(get(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
    close_stack();
}

/* The states of a connection as the kernel numbers them. */
static void states(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.shutdown(pd.userdata, fd, SHUT_WR), 0);
    sniff();
    EQUAL(info_of(fd).tcpi_state, TCP_FIN_WAIT1);
    flow.rcv++;
    from_peer(&flow, ACK, 0, 30000);
    EQUAL(info_of(fd).tcpi_state, TCP_FIN_WAIT2);
    from_peer(&flow, FIN | ACK, 0, 30000);
    EQUAL(info_of(fd).tcpi_state, TCP_CLOSE);
    int active = pd.socket(pd.userdata, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_storage to;
    socklen_t len = peer_address(&to, false, 8080);
    FAILS(pd.connect(pd.userdata, active, (struct sockaddr *)&to, len), EINPROGRESS);
    EQUAL(info_of(active).tcpi_state, TCP_SYN_SENT);
    close_stack();
}

static void integers(void)
{
    open_stack("profile=linux,cc=cubic");
    int fd = pd.socket(pd.userdata, AF_INET, SOCK_STREAM, 0);
    EQUAL(get(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
    EQUAL(get(fd, SOL_SOCKET, SO_DOMAIN), AF_INET);
    EQUAL(get(fd, SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
    EQUAL(get(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
    EQUAL(get(fd, SOL_SOCKET, SO_REUSEADDR), 0);
    EQUAL(set(fd, SOL_SOCKET, SO_REUSEADDR, 17), 0);
    EQUAL(get(fd, SOL_SOCKET, SO_REUSEADDR), 1);
    EQUAL(set(fd, SOL_SOCKET, SO_RCVBUF, 10000), 0);
    EQUAL(get(fd, SOL_SOCKET, SO_RCVBUF), 20000);
    EQUAL(set(fd, SOL_SOCKET, SO_SNDBUF, 1), 0);
    EQUAL(get(fd, SOL_SOCKET, SO_SNDBUF), 4608);
    EQUAL(get(fd, IPPROTO_TCP, TCP_MAXSEG), 536);
    EQUAL(set(fd, IPPROTO_TCP, TCP_MAXSEG, 600), 0);
    EQUAL(get(fd, IPPROTO_TCP, TCP_MAXSEG), 600);
    FAILS(set(fd, IPPROTO_TCP, TCP_MAXSEG, 87), EINVAL);
    static const int named[][3] = {
        {TCP_NODELAY, 0, 1},      {TCP_CORK, 0, 1},          {TCP_KEEPIDLE, 7200, 30},
        {TCP_KEEPINTVL, 75, 5},   {TCP_KEEPCNT, 9, 3},       {TCP_SYNCNT, 6, 2},
        {TCP_LINGER2, 60, 10},    {TCP_USER_TIMEOUT, 0, 700}, {TCP_QUICKACK, 1, 0},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        EQUAL(get(fd, IPPROTO_TCP, named[i][0]), named[i][1]);
        EQUAL(set(fd, IPPROTO_TCP, named[i][0], named[i][2]), 0);
        EQUAL(get(fd, IPPROTO_TCP, named[i][0]), named[i][2]);
    }
    FAILS(set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 0), EINVAL);
    FAILS(set(fd, IPPROTO_TCP, TCP_KEEPCNT, 128), EINVAL);
    FAILS(set(fd, IPPROTO_TCP, 9999, 1), ENOPROTOOPT);
    FAILS(set(fd, 12345, 1, 1), ENOPROTOOPT);
    int value = 1;
    FAILS(pd.setsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_NODELAY, &value, 3), EINVAL);
    socklen_t len = sizeof value;
    FAILS(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, 9999, &value, &len), ENOPROTOOPT);
    FAILS(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_NODELAY, &value, NULL), EFAULT);
    EQUAL(get(fd, IPPROTO_IP, IP_TTL), 64);
    EQUAL(get(pd.socket(pd.userdata, AF_INET6, SOCK_STREAM, 0), SOL_SOCKET, SO_DOMAIN), AF_INET6);
    EQUAL(pd.fcntl(pd.userdata, fd, F_GETFL), O_RDWR);
    EQUAL(pd.fcntl(pd.userdata, fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
    EQUAL(pd.fcntl(pd.userdata, fd, F_GETFL), O_RDWR | O_NONBLOCK);
    EQUAL(pd.ioctl(pd.userdata, fd, (unsigned long)FIONBIO, &(int){0}), 0);
    EQUAL(pd.fcntl(pd.userdata, fd, F_GETFL), O_RDWR);
    FAILS(pd.fcntl(pd.userdata, fd, 4711, 0), EINVAL);
    close_stack();
}

static void structures(void)
{
    open_stack("profile=linux,cc=reno");
    int fd = pd.socket(pd.userdata, AF_INET, SOCK_STREAM, 0);
    char name[32];
    memset(name, 'x', sizeof name);
    socklen_t len = sizeof name;
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
    EQUAL(len, 16);
    EQUAL(strcmp(name, "reno"), 0);
    EQUAL(pd.setsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5), 0);
    len = sizeof name;
    EQUAL(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
    EQUAL(strcmp(name, "cubic"), 0);
    FAILS(pd.setsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_CONGESTION, "nosuch", 6), ENOENT);
    struct linger linger = {.l_onoff = 1, .l_linger = 4}, back = {0};
    EQUAL(pd.setsockopt(pd.userdata, fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    len = sizeof back;
    EQUAL(pd.getsockopt(pd.userdata, fd, SOL_SOCKET, SO_LINGER, &back, &len), 0);
    EQUAL(back.l_onoff, 1);
    EQUAL(back.l_linger, 4);
    struct timeval timeout = {.tv_sec = 3, .tv_usec = 5}, read_back = {0};
    EQUAL(pd.setsockopt(pd.userdata, fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout), 0);
    len = sizeof read_back;
    EQUAL(pd.getsockopt(pd.userdata, fd, SOL_SOCKET, SO_SNDTIMEO, &read_back, &len), 0);
    EQUAL(read_back.tv_sec, 3);
    EQUAL(read_back.tv_usec, 5);
    timeout.tv_usec = 1000000;
    FAILS(pd.setsockopt(pd.userdata, fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout), EDOM);
    close_stack();
}

/* Options that act on a connection: the announced segment size, an acknowledgment that waits, how
 * much has to be there for poll. */
static void effects(void)
{
    open_stack("profile=rfc");
    int listener = listening_socket(false, 5);
    EQUAL(set(listener, IPPROTO_TCP, TCP_MAXSEG, 700), 0);
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 5};
    struct segment syn = peers(&flow, SYN, 0, 30000);
    syn.mss = 1460;
    inject(&syn);
    struct segment answer = sniff();
    EQUAL(answer.mss, 700);
    flow.snd++;
    flow.rcv = answer.seq + 1;
    from_peer(&flow, ACK, 0, 30000);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    EQUAL(get(fd, IPPROTO_TCP, TCP_MAXSEG), 700);
    pd.usleep(pd.userdata, 10000);
    EQUAL(set(fd, SOL_SOCKET, SO_RCVLOWAT, 200), 0);
    from_peer(&flow, ACK, 100, 30000);
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 0);
    EQUAL(set(fd, IPPROTO_TCP, TCP_QUICKACK, 1), 0);
    struct segment ack = sniff();
    EQUAL(ack.ack, flow.snd);
    EQUAL(ack.at, 10000);
    from_peer(&flow, ACK, 100, 30000);
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 1);
    close_stack();
}

/* A silent peer is asked, and given up when it stays silent. */
static void keepalive(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    pd.usleep(pd.userdata, 5000000);
    EQUAL(set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 20), 0);
    EQUAL(set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 3), 0);
    EQUAL(set(fd, IPPROTO_TCP, TCP_KEEPCNT, 2), 0);
    EQUAL(set(fd, SOL_SOCKET, SO_KEEPALIVE, 1), 0);
    struct segment probe = sniff();
    EQUAL(probe.at, 20000000);
    EQUAL(probe.seq, flow.rcv - 1);
    EQUAL(probe.len, 0);
    EQUAL(sniff().at, 23000000);
    EQUAL(sniff().flags & RST, RST);
    EQUAL(now_usecs(), 26000000);
    char byte;
    FAILS(pd.read(pd.userdata, fd, &byte, 1), ETIMEDOUT);
    close_stack();
}

/* What is not acknowledged for so long ends the connection. */
static void user_timeout(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 4000), 0);
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    char byte;
    FAILS(pd.read(pd.userdata, fd, &byte, 1), ETIMEDOUT);
    EQUAL(now_usecs(), 4000000);
    close_stack();
}

/* Buffers that tune themselves take in everything that they offer room for. */
static void tuned_buffers(void)
{
    open_stack("profile=linux");
    struct flow flow = {.ours = 8080, .peers = 40000, .snd = 1};
    int listener = listening_socket(false, 5);
    struct segment syn = peers(&flow, SYN, 0, 65535);
    syn.mss = 1460;
    syn.wscale = 7;
    inject(&syn);
    struct segment answer = sniff();
    flow.snd++;
    flow.rcv = answer.seq + 1;
    from_peer(&flow, ACK, 0, 65535);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    uint32_t first = flow.snd, got = 0;
    static uint8_t bytes[1 << 20];
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 20; i++)
            from_peer(&flow, ACK, 1460, 65535);
        pd.usleep(pd.userdata, 20000);
        ssize_t count = pd.read(pd.userdata, fd, bytes, sizeof bytes);
        EQUAL(count, 20 * 1460);
        long wrong = 0;
        for (ssize_t i = 0; i < count; i++)
            wrong += bytes[i] != (first + got + (uint32_t)i) % 251;
        EQUAL(wrong, 0);
        got += (uint32_t)count;
    }
    close_stack();
}

static void time_to_live(bool ipv6)
{
    open_stack("profile=rfc,nagle=off");
    struct flow flow = {.ipv6 = ipv6};
    int listener = listening_socket(ipv6, 5);
    int level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, name = ipv6 ? IPV6_UNICAST_HOPS : IP_TTL;
    EQUAL(set(listener, level, name, 33), 0);
    int fd = accepted(&flow, listener, 40000);
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    EQUAL(sniff().ttl, 33);
    EQUAL(set(fd, level, name, 7), 0);
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    EQUAL(sniff().ttl, 7);
    FAILS(set(fd, level, name, 0), EINVAL);
    close_stack();
}

void option_tests(void)
{
    tcp_info();
    states();
    initial_values();
    integers();
    structures();
    effects();
    keepalive();
    user_timeout();
    tuned_buffers();
    time_to_live(false);
    time_to_live(true);
}
