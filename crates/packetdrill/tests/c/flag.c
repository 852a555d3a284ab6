/* What the flags choose. */
#include "kit.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* Segments of a thousand bytes that leave at once when there is much to send. */
static int initial_window(const char *flags)
{
    open_stack(flags);
    struct flow flow = {0};
    int fd = accepted(&flow, listening_socket(false, 5), 40000), count = 0;
    static char bytes[15000];
    EQUAL(pd.write(pd.userdata, fd, bytes, sizeof bytes), 15000);
    while (sniff().at == 0)
        count++;
    close_stack();
    return count;
}

static struct segment answer_to_syn(const char *flags)
{
    open_stack(flags);
    listening_socket(false, 5);
    struct flow flow = {.ours = 8080, .peers = 40000};
    struct segment syn = peers(&flow, SYN, 0, 30000);
    syn.mss = 1460;
    syn.sack_ok = syn.has_ts = true;
    syn.wscale = 7;
    inject(&syn);
    struct segment answer = sniff();
    close_stack();
    return answer;
}

static void mechanisms(void)
{
    EQUAL(initial_window(NULL), 10);
    EQUAL(initial_window("profile=rfc,initial_window=3"), 3);
    EQUAL(initial_window("initial_window=1,profile=ns2"), 1);
    EQUAL(initial_window("profile=linux, loss=rack, cc=reno, initial_window=5"), 5);
    CHECK(answer_to_syn("").sack_ok);
    CHECK(!answer_to_syn("sack=off").sack_ok);
    CHECK(!answer_to_syn("timestamps=off").has_ts);
    EQUAL(answer_to_syn("window_scaling=off").wscale, -1);
    EQUAL(answer_to_syn("mtu=576").mss, 536);
    EQUAL(answer_to_syn("mss=900 B").mss, 900);
}

/* A stock Linux receiver acknowledges the first segments at once. */
static void profiles(void)
{
    open_stack("profile=linux");
    struct flow flow = {0};
    accepted(&flow, listening_socket(false, 5), 40000);
    pd.usleep(pd.userdata, 10000);
    from_peer(&flow, ACK, 1000, 30000);
    EQUAL(sniff().at, 10000);
    close_stack();
    open_stack("profile=linux,ack=delayed,loss=fixed,rto_min=300 ms,timer_tick=0 s,nagle=off");
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    pd.usleep(pd.userdata, 10000);
    from_peer(&flow, ACK, 1000, 30000);
    EQUAL(sniff().at, 210000);
    EQUAL(pd.write(pd.userdata, fd, "x", 1), 1);
    EQUAL(sniff().at, 210000);
    EQUAL(sniff().at, 510000);
    close_stack();
}

/* What stderr says while flags are read. */
static void refused_with(const char *flags, const char *expected)
{
    int ends[2], before = dup(2);
    CHECK(pipe(ends) == 0);
    dup2(ends[1], 2);
    struct packetdrill_interface refused;
    int result = initialise(flags, &refused), error = errno;
    dup2(before, 2);
    close(ends[1]);
    char text[2000] = {0};
    CHECK(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    close(before);
    EQUAL(result, -1);
    EQUAL(error, EINVAL);
    CHECK(strstr(text, expected) != NULL);
    /* packetdrill does not look at the result: every call says that it was in vain. */
    struct timeval time;
    FAILS(refused.gettimeofday(refused.userdata, &time, NULL), EINVAL);
    FAILS(refused.socket(refused.userdata, AF_INET, SOCK_STREAM, 0), EINVAL);
    refused.free(refused.userdata);
}

void flag_tests(void)
{
    mechanisms();
    profiles();
    refused_with("profile=linus", "linux");
    refused_with("cc=rneo", "reno");
    refused_with("sakc=off", "sack");
    refused_with("mtu=1", "128");
    refused_with("rto_min=never", "rto_min");
}
