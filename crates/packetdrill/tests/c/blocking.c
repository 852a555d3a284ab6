/* Calls that block, made from a second thread: what they return, and at which virtual time. */
#include "kit.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

struct call {
    int fd, result, timeout_ms;
    size_t len;
    char bytes[20000];
    struct pollfd entry;
    long long accepted_at, read_at;
};

static long long do_accept(void *argument)
{
    struct call *call = argument;
    return pd.accept(pd.userdata, call->fd, NULL, NULL);
}

static long long do_connect(void *argument)
{
    struct call *call = argument;
    struct sockaddr_storage to;
    socklen_t len = peer_address(&to, false, 8080);
    return pd.connect(pd.userdata, call->fd, (struct sockaddr *)&to, len);
}

static long long do_read(void *argument)
{
    struct call *call = argument;
    return pd.read(pd.userdata, call->fd, call->bytes, call->len);
}

static long long do_read_all(void *argument)
{
    struct call *call = argument;
    return pd.recv(pd.userdata, call->fd, call->bytes, call->len, MSG_WAITALL);
}

static long long do_write(void *argument)
{
    struct call *call = argument;
    return pd.write(pd.userdata, call->fd, call->bytes, call->len);
}

static long long do_close(void *argument)
{
    struct call *call = argument;
    return pd.close(pd.userdata, call->fd);
}

static long long do_poll(void *argument)
{
    struct call *call = argument;
    return pd.poll(pd.userdata, &call->entry, 1, call->timeout_ms);
}

static long long do_serve(void *argument)
{
    struct call *call = argument;
    int fd = pd.accept(pd.userdata, call->fd, NULL, NULL);
    call->accepted_at = now_usecs();
    ssize_t count = pd.read(pd.userdata, fd, call->bytes, call->len);
    call->read_at = now_usecs();
    return pd.write(pd.userdata, fd, call->bytes, (size_t)count);
}

static void accept_waits(void)
{
    open_stack("profile=rfc");
    struct call call = {.fd = listening_socket(false, 5)};
    struct background *thread = in_background(do_accept, &call);
    pd.usleep(pd.userdata, 300000);
    CHECK(!has_returned(thread));
    EQUAL(now_usecs(), 300000);
    struct flow flow = {0};
    passive_handshake(&flow, 40000);
    int error;
    long long at;
    CHECK(result_of(thread, &error, &at) >= 0);
    EQUAL(at, 300000);
    close_stack();
}

static void connect_waits(void)
{
    open_stack("profile=rfc");
    struct call call = {.fd = pd.socket(pd.userdata, AF_INET, SOCK_STREAM, 0)};
    struct background *thread = in_background(do_connect, &call);
    struct segment syn = sniff();
    EQUAL(syn.at, 0);
    CHECK(!has_returned(thread));
    pd.usleep(pd.userdata, 70000);
    struct flow flow = {.ours = syn.sport, .peers = 8080, .snd = 9, .rcv = syn.seq + 1};
    from_peer(&flow, SYN | ACK, 0, 30000);
    EQUAL(sniff().flags, ACK);
    long long at;
    int error;
    EQUAL(result_of(thread, &error, &at), 0);
    EQUAL(at, 70000);

    call.fd = pd.socket(pd.userdata, AF_INET, SOCK_STREAM, 0);
    thread = in_background(do_connect, &call);
    syn = sniff();
    flow = (struct flow){.ours = syn.sport, .peers = 8080, .rcv = syn.seq + 1};
    from_peer(&flow, RST | ACK, 0, 0);
    EQUAL(result_of(thread, &error, &at), -1);
    EQUAL(error, ECONNREFUSED);
    close_stack();
}

/* A read gets what came first, however late its thread is given a processor. */
static void read_waits(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    struct call call = {.fd = accepted(&flow, listening_socket(false, 5), 40000), .len = 5000};
    struct background *thread = in_background(do_read, &call);
    pd.usleep(pd.userdata, 40000);
    uint32_t first = flow.snd;
    from_peer(&flow, ACK, 300, 30000);
    from_peer(&flow, ACK, 300, 30000);
    long long at;
    EQUAL(result_of(thread, NULL, &at), 300);
    EQUAL(at, 40000);
    EQUAL((uint8_t)call.bytes[299], (first + 299) % 251);
    EQUAL(pd.read(pd.userdata, call.fd, call.bytes, call.len), 300);

    call.len = 500;
    thread = in_background(do_read_all, &call);
    from_peer(&flow, ACK, 300, 30000);
    until_it_sleeps(thread);
    CHECK(!has_returned(thread));
    pd.usleep(pd.userdata, 10000);
    from_peer(&flow, ACK, 300, 30000);
    EQUAL(result_of(thread, NULL, &at), 500);
    EQUAL(at, 50000);
    EQUAL(pd.read(pd.userdata, call.fd, call.bytes, call.len), 100);
    thread = in_background(do_read_all, &call);
    from_peer(&flow, FIN | ACK, 7, 30000);
    EQUAL(result_of(thread, NULL, &at), 7);
    close_stack();
}

/* A write waits for room, and returns when its last byte is in the buffer. */
static void write_waits(void)
{
    open_stack("profile=rfc,nagle=off,cc=reno");
    int listener = listening_socket(false, 5), size = 4000;
    EQUAL(pd.setsockopt(pd.userdata, listener, SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
    struct flow flow = {0};
    struct call call = {.fd = accepted(&flow, listener, 40000), .len = 6000};
    struct background *thread = in_background(do_write, &call);
    CHECK(!has_returned(thread));
    for (int i = 0; i < 4; i++)
        EQUAL(sniff().len, 1000);
    pd.usleep(pd.userdata, 25000);
    flow.rcv += 1000;
    from_peer(&flow, ACK, 0, 65535);
    EQUAL(sniff().len, 1000);
    until_it_sleeps(thread);
    CHECK(!has_returned(thread));
    pd.usleep(pd.userdata, 25000);
    flow.rcv += 1000;
    from_peer(&flow, ACK, 0, 65535);
    long long at;
    EQUAL(result_of(thread, NULL, &at), 6000);
    EQUAL(at, 50000);
    /* A reset in the middle: what was written counts, the error is the next call's. */
    call.len = 9000;
    thread = in_background(do_write, &call);
    struct segment reset = peers(&flow, RST, 0, 0);
    inject(&reset);
    int error;
    long long count = result_of(thread, &error, NULL);
    CHECK(count == -1 ? error == ECONNRESET : count < 9000);
    close_stack();
}

/* Limits of calls, which the main thread runs into while it sleeps past them. */
static void limits(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int listener = listening_socket(false, 5), fd = accepted(&flow, listener, 40000);
    struct call call = {.entry = {.fd = fd, .events = POLLIN}, .timeout_ms = 300};
    struct background *thread = in_background(do_poll, &call);
    pd.usleep(pd.userdata, 1000000);
    long long at;
    int error;
    EQUAL(result_of(thread, &error, &at), 0);
    EQUAL(at, 300000);
    EQUAL(now_usecs(), 1000000);

    struct timeval timeout = {.tv_usec = 250000};
    EQUAL(pd.setsockopt(pd.userdata, fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
    call.fd = fd;
    call.len = 10;
    thread = in_background(do_read, &call);
    pd.usleep(pd.userdata, 1000000);
    EQUAL(result_of(thread, &error, &at), -1);
    EQUAL(error, EAGAIN);
    EQUAL(at, 1250000);

    /* In the only thread that is at work, a call passes the time itself. */
    long long before = now_usecs();
    EQUAL(pd.poll(pd.userdata, &call.entry, 1, 123), 0);
    EQUAL(now_usecs(), before + 123000);
    FAILS(pd.read(pd.userdata, fd, call.bytes, 1), EAGAIN);
    EQUAL(now_usecs(), before + 373000);
    /* And where the main thread waits for the other one. */
    call.timeout_ms = 40;
    thread = in_background(do_poll, &call);
    EQUAL(result_of(thread, NULL, &at), 0);
    EQUAL(at, before + 413000);
    close_stack();
}

/* close with SO_LINGER waits until everything is acknowledged, or for so long. */
static void lingering(bool answered)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    struct call call = {.fd = accepted(&flow, listening_socket(false, 5), 40000)};
    struct linger linger = {.l_onoff = 1, .l_linger = 2};
    EQUAL(pd.setsockopt(pd.userdata, call.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    EQUAL(pd.write(pd.userdata, call.fd, "bye", 3), 3);
    struct background *thread = in_background(do_close, &call);
    CHECK(!has_returned(thread));
    struct segment data = sniff();
    EQUAL(data.len, 3);
    if (!(data.flags & FIN))
        EQUAL(sniff().flags & FIN, FIN);
    pd.usleep(pd.userdata, 100000);
    if (answered) {
        flow.rcv += 4;
        from_peer(&flow, ACK, 0, 30000);
    } else {
        pd.usleep(pd.userdata, 3000000);
    }
    long long at;
    EQUAL(result_of(thread, NULL, &at), 0);
    EQUAL(at, answered ? 100000 : 2000000);
    close_stack();
}

/* A thread that is woken does what it does before time passes: the same in every run. */
static void a_thread_at_work_holds_time(void)
{
    for (int round = 0; round < 20; round++) {
        open_stack("profile=rfc,nagle=off");
        struct call call = {.fd = listening_socket(false, 5), .len = 100};
        struct background *thread = in_background(do_serve, &call);
        struct flow flow = {0};
        pd.usleep(pd.userdata, 5000);
        passive_handshake(&flow, 40000);
        pd.usleep(pd.userdata, 100000);
        from_peer(&flow, ACK, 50, 30000);
        pd.usleep(pd.userdata, 500000);
        struct segment answer = sniff();
        EQUAL(answer.len, 50);
        EQUAL(answer.at, 105000);
        EQUAL(result_of(thread, NULL, NULL), 50);
        EQUAL(call.accepted_at, 5000);
        EQUAL(call.read_at, 105000);
        close_stack();
    }
}

/* free wakes whoever still waits. */
static void freeing(void)
{
    open_stack("");
    struct call call = {.fd = listening_socket(false, 5)};
    struct background *thread = in_background(do_accept, &call);
    struct packetdrill_interface gone = pd;
    pd.free(pd.userdata);
    int error;
    open_stack("");
    EQUAL(result_of(thread, &error, NULL), -1);
    EQUAL(error, ECANCELED);
    FAILS(gone.usleep(gone.userdata, 1), EINVAL);
    gone.free(gone.userdata);
    close_stack();
}

void blocking_tests(void)
{
    accept_waits();
    connect_waits();
    read_waits();
    write_waits();
    limits();
    lingering(true);
    lingering(false);
    a_thread_at_work_holds_time();
    freeing();
}
