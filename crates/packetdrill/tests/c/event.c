/* epoll(7): by level, by edge, once, and from a second thread. */
#include "kit.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static int watch(int epoll, int operation, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = 0x123456789abcdef0ULL + (uint64_t)fd};
    return pd.epoll_ctl(pd.userdata, epoll, operation, fd, &event);
}

/* The events of one descriptor, or zero. */
static uint32_t events_now(int epoll, int fd)
{
    struct epoll_event found[4] = {0};
    int count = pd.epoll_wait(pd.userdata, epoll, found, 4, 0);
    CHECK(count == 0 || count == 1);
    if (count != 1)
        return 0;
    EQUAL((long long)found[0].data.u64, 0x123456789abcdef0LL + fd);
    return found[0].events;
}

static void by_level(void)
{
    open_stack("profile=rfc");
    int epoll = pd.epoll_create(pd.userdata, 1), listener = listening_socket(false, 5);
    CHECK(epoll >= 0);
    EQUAL(watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN), 0);
    EQUAL(events_now(epoll, listener), 0);
    struct flow flow = {0};
    passive_handshake(&flow, 40000);
    EQUAL(events_now(epoll, listener), EPOLLIN);
    EQUAL(events_now(epoll, listener), EPOLLIN);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    EQUAL(events_now(epoll, listener), 0);
    EQUAL(watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP), 0);
    EQUAL(events_now(epoll, fd), EPOLLOUT);
    from_peer(&flow, ACK, 10, 30000);
    EQUAL(events_now(epoll, fd), EPOLLIN | EPOLLOUT);
    char bytes[10];
    EQUAL(pd.read(pd.userdata, fd, bytes, 10), 10);
    EQUAL(events_now(epoll, fd), EPOLLOUT);
    EQUAL(watch(epoll, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLRDHUP), 0);
    EQUAL(events_now(epoll, fd), 0);
    from_peer(&flow, FIN | ACK, 0, 30000);
    EQUAL(events_now(epoll, fd), EPOLLIN | EPOLLRDHUP);
    struct segment reset = peers(&flow, RST, 0, 0);
    inject(&reset);
    EQUAL(events_now(epoll, fd), EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP);
    EQUAL(watch(epoll, EPOLL_CTL_DEL, fd, 0), 0);
    EQUAL(events_now(epoll, fd), 0);
    close_stack();
}

static void by_edge_and_once(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int epoll = pd.epoll_create(pd.userdata, 1);
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET), 0);
    from_peer(&flow, ACK, 10, 30000);
    EQUAL(events_now(epoll, fd), EPOLLIN);
    EQUAL(events_now(epoll, fd), 0);
    from_peer(&flow, ACK, 10, 30000);
    EQUAL(events_now(epoll, fd), EPOLLIN);
    EQUAL(events_now(epoll, fd), 0);
    EQUAL(watch(epoll, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT), 0);
    EQUAL(events_now(epoll, fd), EPOLLIN);
    EQUAL(events_now(epoll, fd), 0);
    from_peer(&flow, ACK, 10, 30000);
    EQUAL(events_now(epoll, fd), 0);
    EQUAL(watch(epoll, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT), 0);
    EQUAL(events_now(epoll, fd), EPOLLIN);
    close_stack();
}

static void wrong_calls(void)
{
    open_stack("");
    int epoll = pd.epoll_create(pd.userdata, 5), fd = listening_socket(false, 5);
    struct epoll_event event = {.events = EPOLLIN};
    FAILS(pd.epoll_create(pd.userdata, 0), EINVAL);
    FAILS(pd.epoll_ctl(pd.userdata, epoll, EPOLL_CTL_MOD, fd, &event), ENOENT);
    FAILS(pd.epoll_ctl(pd.userdata, epoll, EPOLL_CTL_DEL, fd, &event), ENOENT);
    EQUAL(pd.epoll_ctl(pd.userdata, epoll, EPOLL_CTL_ADD, fd, &event), 0);
    FAILS(pd.epoll_ctl(pd.userdata, epoll, EPOLL_CTL_ADD, fd, &event), EEXIST);
    FAILS(pd.epoll_ctl(pd.userdata, epoll, EPOLL_CTL_ADD, epoll, &event), EINVAL);
    FAILS(pd.epoll_ctl(pd.userdata, epoll, EPOLL_CTL_ADD, 9999, &event), EBADF);
    FAILS(pd.epoll_ctl(pd.userdata, fd, EPOLL_CTL_ADD, epoll, &event), EINVAL);
    FAILS(pd.epoll_ctl(pd.userdata, epoll, 77, fd, &event), EINVAL);
    FAILS(pd.epoll_wait(pd.userdata, epoll, &event, 0, 0), EINVAL);
    FAILS(pd.epoll_wait(pd.userdata, fd, &event, 1, 0), EINVAL);
    FAILS(pd.epoll_wait(pd.userdata, 9999, &event, 1, 0), EBADF);
    close_stack();
}

static long long wait_for_events(void *argument)
{
    struct epoll_event event;
    return pd.epoll_wait(pd.userdata, *(int *)argument, &event, 1, -1) == 1 ? (long long)event.events : -1;
}

static void from_a_second_thread(void)
{
    open_stack("profile=rfc");
    struct flow flow = {0};
    int epoll = pd.epoll_create(pd.userdata, 1);
    int fd = accepted(&flow, listening_socket(false, 5), 40000);
    EQUAL(watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN), 0);
    struct background *thread = in_background(wait_for_events, &epoll);
    pd.usleep(pd.userdata, 60000);
    CHECK(!has_returned(thread));
    from_peer(&flow, ACK, 10, 30000);
    pd.usleep(pd.userdata, 60000);
    long long at;
    EQUAL(result_of(thread, NULL, &at), EPOLLIN);
    EQUAL(at, 60000);
    struct epoll_event event;
    char bytes[10];
    EQUAL(pd.read(pd.userdata, fd, bytes, 10), 10);
    EQUAL(pd.epoll_wait(pd.userdata, epoll, &event, 1, 35), 0);
    EQUAL(now_usecs(), 155000);
    close_stack();
}

void event_tests(void)
{
    by_level();
    by_edge_and_once();
    wrong_calls();
    from_a_second_thread();
}
