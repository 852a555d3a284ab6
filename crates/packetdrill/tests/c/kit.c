#include "kit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct packetdrill_interface pd;
long long start_usecs;

static int (*init)(const char *, struct packetdrill_interface *);
static long checks, failures;
static const char *current;

static const uint8_t OURS4[4] = {192, 168, 0, 2}, PEERS4[4] = {192, 0, 2, 1};
static const uint8_t OURS6[16] = {0xfd, 0x3d, 0xfa, 0x7b, 0xd1, 0x7d, [15] = 2};
static const uint8_t PEERS6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

void check_(bool holds, const char *what, const char *file, int line)
{
    checks++;
    if (!holds) {
        failures++;
        fprintf(stderr, "%s:%d: %s: %s does not hold\n", file, line, current, what);
    }
}

void equal_(long long got, long long expected, const char *what, const char *file, int line)
{
    checks++;
    if (got != expected) {
        failures++;
        fprintf(stderr, "%s:%d: %s: %s is %lld, expected %lld\n", file, line, current, what, got,
                expected);
    }
}

void fails_(long long got, int error, const char *what, const char *file, int line)
{
    int actual = errno;
    checks++;
    if (got != -1 || actual != error) {
        failures++;
        fprintf(stderr, "%s:%d: %s: %s is %lld with %s, expected -1 with %s\n", file, line, current,
                what, got, got == -1 ? strerrorname_np(actual) : "no error",
                strerrorname_np(error));
    }
}

int initialise(const char *flags, struct packetdrill_interface *interface)
{
    return init(flags, interface);
}

static void give_up(const char *why)
{
    fprintf(stderr, "%s: %s; giving up after %ld checks\n", current, why, checks);
    exit(2);
}

void open_stack(const char *flags)
{
    if (init(flags, &pd) != 0)
        give_up("the stack does not open");
    start_usecs = 0;
    start_usecs = now_usecs();
}

void close_stack(void)
{
    pd.free(pd.userdata);
}

long long now_usecs(void)
{
    struct timeval time;
    if (pd.gettimeofday(pd.userdata, &time, NULL) != 0)
        give_up("gettimeofday fails");
    return time.tv_sec * 1000000LL + time.tv_usec - start_usecs;
}

/* Packets. */

static uint32_t sum(uint32_t before, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        before += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
    return before;
}

static uint16_t folded(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

static void put16(uint8_t *at, uint16_t value)
{
    at[0] = value >> 8;
    at[1] = value & 0xff;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static size_t options_of(const struct segment *segment, uint8_t *out)
{
    size_t len = 0;
    if (segment->mss) {
        memcpy(out + len, (uint8_t[]){2, 4}, 2);
        put16(out + len + 2, segment->mss);
        len += 4;
    }
    if (segment->sack_ok) {
        memcpy(out + len, (uint8_t[]){1, 1, 4, 2}, 4);
        len += 4;
    }
    if (segment->has_ts) {
        memcpy(out + len, (uint8_t[]){1, 1, 8, 10}, 4);
        put32(out + len + 4, segment->tsval);
        put32(out + len + 8, segment->tsecr);
        len += 12;
    }
    if (segment->wscale >= 0 && (segment->flags & SYN) && segment->wscale) {
        memcpy(out + len, (uint8_t[]){1, 3, 3, (uint8_t)segment->wscale}, 4);
        len += 4;
    }
    if (segment->sacks) {
        memcpy(out + len, (uint8_t[]){1, 1, 5, (uint8_t)(2 + 8 * segment->sacks)}, 4);
        len += 4;
        for (int i = 0; i < segment->sacks; i++, len += 8) {
            put32(out + len, segment->sack[i][0]);
            put32(out + len + 4, segment->sack[i][1]);
        }
    }
    return len;
}

void inject(const struct segment *segment)
{
    uint8_t packet[8192] = {0}, *tcp;
    size_t ip_len = segment->ipv6 ? 40 : 20;
    tcp = packet + ip_len;
    size_t options_len = options_of(segment, tcp + 20), tcp_len = 20 + options_len + segment->len;
    put16(tcp, segment->sport);
    put16(tcp + 2, segment->dport);
    put32(tcp + 4, segment->seq);
    put32(tcp + 8, segment->flags & ACK ? segment->ack : 0);
    tcp[12] = (uint8_t)((20 + options_len) / 4 << 4);
    tcp[13] = segment->flags;
    put16(tcp + 14, segment->window);
    memcpy(tcp + 20 + options_len, segment->payload, segment->len);
    uint32_t pseudo = 6 + (uint32_t)tcp_len;
    if (segment->ipv6) {
        packet[0] = 0x60;
        put16(packet + 4, (uint16_t)tcp_len);
        packet[6] = 6;
        packet[7] = 64;
        memcpy(packet + 8, PEERS6, 16);
        memcpy(packet + 24, OURS6, 16);
        pseudo = sum(pseudo, packet + 8, 32);
    } else {
        packet[0] = 0x45;
        put16(packet + 2, (uint16_t)(20 + tcp_len));
        packet[8] = 64;
        packet[9] = 6;
        memcpy(packet + 12, PEERS4, 4);
        memcpy(packet + 16, OURS4, 4);
        put16(packet + 10, folded(sum(0, packet, 20)));
        pseudo = sum(pseudo, packet + 12, 8);
    }
    put16(tcp + 16, folded(sum(pseudo, tcp, tcp_len)));
    EQUAL(pd.netdev_send(pd.userdata, packet, ip_len + tcp_len), 0);
}

static void read_options(struct segment *segment, const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at != 0) {
        if (*at == 1) {
            at++;
            continue;
        }
        switch (*at) {
        case 2:
            segment->mss = get16(at + 2);
            break;
        case 3:
            segment->wscale = at[2];
            break;
        case 4:
            segment->sack_ok = true;
            break;
        case 5:
            for (segment->sacks = 0; segment->sacks < (at[1] - 2) / 8; segment->sacks++) {
                segment->sack[segment->sacks][0] = get32(at + 2 + 8 * segment->sacks);
                segment->sack[segment->sacks][1] = get32(at + 6 + 8 * segment->sacks);
            }
            break;
        case 8:
            segment->has_ts = true;
            segment->tsval = get32(at + 2);
            segment->tsecr = get32(at + 6);
            break;
        }
        at += at[1];
    }
}

struct segment sniff(void)
{
    uint8_t packet[65536];
    size_t len = sizeof packet;
    long long at;
    if (pd.netdev_receive(pd.userdata, packet, &len, &at) != 0)
        give_up("no packet leaves");
    struct segment segment = {.wscale = -1, .at = at - start_usecs};
    segment.ipv6 = packet[0] >> 4 == 6;
    segment.ttl = packet[segment.ipv6 ? 7 : 8];
    size_t ip_len = segment.ipv6 ? 40 : 20;
    const uint8_t *tcp = packet + ip_len;
    size_t tcp_len = len - ip_len;
    uint32_t pseudo = 6 + (uint32_t)tcp_len;
    if (segment.ipv6) {
        EQUAL(get16(packet + 4), (long long)tcp_len);
        CHECK(memcmp(packet + 8, OURS6, 16) == 0 && memcmp(packet + 24, PEERS6, 16) == 0);
        pseudo = sum(pseudo, packet + 8, 32);
    } else {
        EQUAL(get16(packet + 2), (long long)len);
        EQUAL(folded(sum(0, packet, 20)), 0);
        CHECK(memcmp(packet + 12, OURS4, 4) == 0 && memcmp(packet + 16, PEERS4, 4) == 0);
        pseudo = sum(pseudo, packet + 12, 8);
    }
    EQUAL(folded(sum(pseudo, tcp, tcp_len)), 0);
    segment.sport = get16(tcp);
    segment.dport = get16(tcp + 2);
    segment.seq = get32(tcp + 4);
    segment.ack = get32(tcp + 8);
    segment.flags = tcp[13];
    segment.window = get16(tcp + 14);
    size_t header = (size_t)(tcp[12] >> 4) * 4;
    read_options(&segment, tcp + 20, tcp + header);
    segment.len = tcp_len - header;
    memcpy(segment.payload, tcp + header,
           segment.len < sizeof segment.payload ? segment.len : sizeof segment.payload);
    return segment;
}

bool silence(void)
{
    uint8_t packet[65536];
    size_t len = sizeof packet;
    long long at;
    return pd.netdev_receive(pd.userdata, packet, &len, &at) == -1 && errno == ETIMEDOUT && len == 0;
}

/* Sockets. */

static socklen_t address_of(struct sockaddr_storage *address, bool ipv6, uint16_t port,
                            const void *four, const void *six)
{
    memset(address, 0, sizeof *address);
    if (ipv6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(port);
        memcpy(&in6->sin6_addr, six, 16);
        return sizeof *in6;
    }
    struct sockaddr_in *in = (struct sockaddr_in *)address;
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    memcpy(&in->sin_addr, four, 4);
    return sizeof *in;
}

socklen_t local_address(struct sockaddr_storage *address, bool ipv6, uint16_t port)
{
    return address_of(address, ipv6, port, OURS4, OURS6);
}

socklen_t peer_address(struct sockaddr_storage *address, bool ipv6, uint16_t port)
{
    return address_of(address, ipv6, port, PEERS4, PEERS6);
}

int listening_socket(bool ipv6, int backlog)
{
    struct sockaddr_storage address;
    socklen_t len = local_address(&address, ipv6, 8080);
    int fd = pd.socket(pd.userdata, ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, IPPROTO_TCP);
    CHECK(fd >= 0);
    int on = 1;
    EQUAL(pd.setsockopt(pd.userdata, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    EQUAL(pd.bind(pd.userdata, fd, (struct sockaddr *)&address, len), 0);
    EQUAL(pd.listen(pd.userdata, fd, backlog), 0);
    return fd;
}

struct segment peers(const struct flow *flow, uint8_t flags, size_t len, uint16_t window)
{
    struct segment segment = {.seq = flow->snd, .ack = flow->rcv, .flags = flags, .len = len};
    segment.window = window;
    segment.sport = flow->peers;
    segment.dport = flow->ours;
    segment.ipv6 = flow->ipv6;
    for (size_t i = 0; i < len; i++)
        segment.payload[i] = (uint8_t)((flow->snd + i) % 251);
    return segment;
}

void from_peer(struct flow *flow, uint8_t flags, size_t len, uint16_t window)
{
    struct segment segment = peers(flow, flags, len, window);
    inject(&segment);
    flow->snd += (uint32_t)len + !!(flags & SYN) + !!(flags & FIN);
}

void passive_handshake(struct flow *flow, uint16_t peers_port)
{
    flow->ours = 8080;
    flow->peers = peers_port;
    flow->snd = 1000;
    flow->rcv = 0;
    struct segment syn = peers(flow, SYN, 0, 65535);
    syn.mss = 1000;
    inject(&syn);
    flow->snd++;
    struct segment answer = sniff();
    EQUAL(answer.flags, SYN | ACK);
    EQUAL(answer.ack, flow->snd);
    EQUAL(answer.dport, peers_port);
    flow->rcv = answer.seq + 1;
    from_peer(flow, ACK, 0, 65535);
}

int accepted(struct flow *flow, int listener, uint16_t peers_port)
{
    passive_handshake(flow, peers_port);
    int fd = pd.accept(pd.userdata, listener, NULL, NULL);
    CHECK(fd >= 0);
    return fd;
}

/* Threads. */

struct background {
    pthread_t thread;
    long long (*call)(void *);
    void *argument;
    long long result, returned_at;
    int error;
    pid_t task;
    bool done;
};

static void *run(void *argument)
{
    struct background *self = argument;
    __atomic_store_n(&self->task, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    errno = 0;
    self->result = self->call(self->argument);
    self->error = errno;
    /* The stack may be gone by now. */
    struct timeval time;
    bool known = pd.gettimeofday(pd.userdata, &time, NULL) == 0;
    self->returned_at = known ? time.tv_sec * 1000000LL + time.tv_usec - start_usecs : -1;
    __atomic_store_n(&self->done, true, __ATOMIC_SEQ_CST);
    return NULL;
}

static char state_of(pid_t task)
{
    char path[64], stat[512] = {0}, *end;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", task);
    FILE *file = fopen(path, "r");
    if (!file)
        return 'X';
    size_t len = fread(stat, 1, sizeof stat - 1, file);
    fclose(file);
    end = len ? strrchr(stat, ')') : NULL;
    return end ? end[2] : 'X';
}

struct background *in_background(long long (*call)(void *), void *argument)
{
    struct background *self = calloc(1, sizeof *self);
    self->call = call;
    self->argument = argument;
    if (pthread_create(&self->thread, NULL, run, self) != 0)
        give_up("no thread");
    until_it_sleeps(self);
    return self;
}

void until_it_sleeps(struct background *self)
{
    for (;;) {
        pid_t task = __atomic_load_n(&self->task, __ATOMIC_SEQ_CST);
        if (has_returned(self) || (task && state_of(task) == 'S'))
            return;
        sched_yield();
    }
}

bool has_returned(struct background *self)
{
    return __atomic_load_n(&self->done, __ATOMIC_SEQ_CST);
}

long long result_of(struct background *self, int *error, long long *returned_at)
{
    pthread_join(self->thread, NULL);
    long long result = self->result;
    if (error)
        *error = self->error;
    if (returned_at)
        *returned_at = self->returned_at;
    free(self);
    return result;
}

/* Everything. */

struct group {
    const char *name;
    void (*run)(void);
};

int main(int argc, char **argv)
{
    static const struct group groups[] = {
        {"handshake", handshake_tests}, {"data", data_tests},         {"errors", error_tests},
        {"options", option_tests},      {"blocking", blocking_tests}, {"events", event_tests},
        {"pipes", pipe_tests},          {"time", time_tests},         {"flags", flag_tests},
        {"kernel", kernel_tests},
    };
    current = "loading";
    if (argc < 2) {
        fprintf(stderr, "usage: %s LIBRARY [GROUP]\n", argv[0]);
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_DEEPBIND);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    *(void **)&init = dlsym(library, "packetdrill_interface_init");
    if (!init)
        give_up("the library does not export packetdrill_interface_init");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (argc > 2 && strcmp(argv[2], groups[i].name) != 0)
            continue;
        long before = checks, failed = failures;
        current = groups[i].name;
        groups[i].run();
        printf("%-10s %4ld checks, %ld failed\n", groups[i].name, checks - before,
               failures - failed);
    }
    printf("%ld checks, %ld failed\n", checks, failures);
    return failures ? 1 : 0;
}
