/* Virtual time: where it passes, and where it does not. */
#include "kit.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

static void where_it_passes(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    for (int i = 0; i < 500; i++)
        now_usecs();
    from_peer(&flow, ACK, 10, 30000);
    char bytes[10];
    EQUAL(pd.read(pd.userdata, fd, bytes, 10), 10);
    EQUAL(pd.write(pd.userdata, fd, bytes, 10), 10);
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    EQUAL(pd.poll(pd.userdata, &entry, 1, 0), 0);
    usleep(20000); /* the system's: real time means nothing */
    EQUAL(now_usecs(), 0);
    EQUAL(pd.usleep(pd.userdata, 0), 0);
    EQUAL(now_usecs(), 0);
    EQUAL(pd.usleep(pd.userdata, 1), 0);
    EQUAL(now_usecs(), 1);
    EQUAL(pd.usleep(pd.userdata, 3600000000U), 0);
    EQUAL(now_usecs(), 3600000001LL);
    close_stack();
}

/* Packets carry the time at which they left, however late they are asked for. */
static void packets_keep_their_times(void)
{
    open_stack("profile=rfc,nagle=off");
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    pd.usleep(pd.userdata, 10000000);
    EQUAL(sniff().at, 0);
    EQUAL(sniff().at, 1000000);
    EQUAL(sniff().at, 3000000);
    EQUAL(sniff().at, 7000000);
    EQUAL(now_usecs(), 10000000);
    EQUAL(sniff().at, 15000000);
    EQUAL(now_usecs(), 15000000);
    close_stack();
}

/* When nothing will ever leave: an error, then an empty packet, then an error. */
static void nothing_leaves(void)
{
    open_stack("");
    uint8_t packet[100];
    size_t len = sizeof packet;
    long long at;
    FAILS(pd.netdev_receive(pd.userdata, packet, &len, &at), ETIMEDOUT);
    EQUAL(len, 0);
    len = sizeof packet;
    EQUAL(pd.netdev_receive(pd.userdata, packet, &len, &at), 0);
    EQUAL(len, 0);
    len = sizeof packet;
    FAILS(pd.netdev_receive(pd.userdata, packet, &len, &at), ETIMEDOUT);
    EQUAL(pd.usleep(pd.userdata, 1), 0);
    FAILS(pd.netdev_receive(pd.userdata, packet, &len, &at), ETIMEDOUT);
    EQUAL(now_usecs(), 1);
    /* Too little room: the packet waits for more. */
    struct flow flow = {.ours = 1, .peers = 2};
    from_peer(&flow, SYN, 0, 1);
    len = 10;
    FAILS(pd.netdev_receive(pd.userdata, packet, &len, &at), EMSGSIZE);
    len = sizeof packet;
    EQUAL(pd.netdev_receive(pd.userdata, packet, &len, &at), 0);
    EQUAL(len, 40);
    close_stack();
}

/* packetdrill sleeps until shortly before an event, and watches the clock for the rest. */
static void watching_the_clock(void)
{
    open_stack("profile=rfc");
    for (long long event = 250; event < 1000000; event = event * 3 + 7) {
        for (int reading = 0;; reading++) {
            long long left = event - now_usecs();
            if (left <= 0)
                break;
            if (event > 250 && left > 20)
                pd.usleep(pd.userdata, (useconds_t)(left - 20));
            if (reading > 100000) {
                CHECK(!"the clock stands still");
                break;
            }
        }
        EQUAL(now_usecs(), event);
    }
    close_stack();
}

/* Two stacks in one program have nothing to do with each other. */
static void two_stacks(void)
{
    open_stack("profile=rfc");
    struct packetdrill_interface first = pd;
    long long first_start = start_usecs;
    int fd = listening_socket(false, 5);
    pd.usleep(pd.userdata, 5000);
    open_stack("profile=linux");
    EQUAL(now_usecs(), 0);
    struct flow flow = {.ours = 8080, .peers = 40000};
    from_peer(&flow, SYN, 0, 1000);
    EQUAL(sniff().flags, RST | ACK);
    FAILS(pd.listen(pd.userdata, fd, 1), EBADF);
    close_stack();
    pd = first;
    start_usecs = first_start;
    EQUAL(now_usecs(), 5000);
    flow.snd = 0;
    from_peer(&flow, SYN, 0, 1000);
    EQUAL(sniff().flags, SYN | ACK);
    close_stack();
}

void time_tests(void)
{
    where_it_passes();
    packets_keep_their_times();
    nothing_leaves();
    watching_the_clock();
    two_stacks();
}
