/* One emulated link between two TUN devices, each in a network namespace of its own: rate, delay, drop-tail queue,
 * random loss and fades. Nothing of Ackord is used, so that measurements over it are independent of its models.
 *
 *   link NAMESPACE DEVICE NAMESPACE DEVICE DELAY_US RATE_BIT_S QUEUE_BYTES LOSS FADE_S EVERY_S SEED [TRACE]
 *
 * With TRACE the direction from the first namespace to the second transmits at the opportunities of this file
 * (mahimahi's format: a line with a whole number is 1504 bytes at this millisecond, 4 of them before each packet), which
 * begins anew at its end; the first packet starts it.
 *
 * Both directions are alike and independent, except for fades, which strike both: what is transmitted meanwhile is
 * lost. A fade lasts FADE_S and begins EVERY_S times 0.5 to 1.5 after the one before (uniform); EVERY_S 0: none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 1 << 14, LONGEST = 1600 };

struct direction {
    int in, out;
    uint64_t free_at;
    unsigned head, tail;
    uint64_t due[SLOTS];
    /* With a trace: ends of transmissions, the first that is to come, and the bytes that wait for theirs. */
    uint64_t out_at[SLOTS];
    unsigned waits;
    double waiting;
    int lengths[SLOTS];
    unsigned char packets[SLOTS][LONGEST];
};

static struct direction directions[2];
static double delay_ns, rate, queue, loss, fade_ns, every_ns;
static double fade_begins = -1, fade_ends = -1;

enum { OPPORTUNITY = 1504, BEFORE = 4 };
static uint64_t *trace, trace_length, trace_zero;
static size_t opportunities, opportunity;
static int room = OPPORTUNITY;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int open_tun(const char *space, const char *device)
{
    char path[128];
    snprintf(path, sizeof path, "/run/netns/%s", space);
    int netns = open(path, O_RDONLY);
    if (netns < 0 || setns(netns, CLONE_NEWNET) < 0) { perror(path); exit(1); }
    close(netns);
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
    strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    if (tun < 0 || ioctl(tun, TUNSETIFF, &request) < 0) { perror(device); exit(1); }
    return tun;
}

static int fades(double at)
{
    while (every_ns > 0 && at >= fade_ends) {
        fade_begins = (fade_ends < 0 ? at : fade_ends) + every_ns * (0.5 + drand48());
        fade_ends = fade_begins + fade_ns;
    }
    return every_ns > 0 && at >= fade_begins;
}

static void read_trace(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) { perror(path); exit(1); }
    size_t size = 0;
    unsigned long long millis;
    while (fscanf(file, "%llu", &millis) == 1) {
        if (opportunities == size) trace = realloc(trace, (size = size ? 2 * size : 1024) * sizeof *trace);
        trace[opportunities++] = (uint64_t)millis * 1000000;
    }
    fclose(file);
    trace_length = opportunities ? trace[opportunities - 1] : 0;
    if (!trace_length) { fprintf(stderr, "%s: no trace\n", path); exit(1); }
}

static void next_opportunity(void)
{
    room = OPPORTUNITY;
    if (++opportunity == opportunities) opportunity = 0, trace_zero += trace_length;
}

/* When the trace has carried a packet that arrives now; the rest of its opportunity is for the next one that waits. */
static uint64_t carried_at(uint64_t at, int length)
{
    if (!trace_zero) trace_zero = at;
    while (trace_zero + trace[opportunity] < at) next_opportunity();
    int need = length + BEFORE;
    while (need > room) need -= room, next_opportunity();
    room -= need;
    uint64_t out_at = trace_zero + trace[opportunity];
    if (!room) next_opportunity();
    return out_at;
}

static void take(struct direction *way)
{
    for (;;) {
        unsigned slot = way->tail % SLOTS;
        ssize_t length = read(way->in, way->packets[slot], LONGEST);
        if (length <= 0) return;
        uint64_t at = now();
        int traced = trace && way == directions;
        for (; way->waits != way->tail && way->out_at[way->waits % SLOTS] <= at; way->waits++)
            way->waiting -= way->lengths[way->waits % SLOTS];
        if (way->free_at < at) way->free_at = at;
        double waiting = traced ? way->waiting : (double)(way->free_at - at) * rate / 8e9;
        if (waiting + (double)length > queue || way->tail - way->head >= SLOTS - 1) continue;
        if (traced) way->free_at = carried_at(at, (int)length);
        else way->free_at += (uint64_t)((double)length * 8e9 / rate);
        /* The order of the two draws does not depend on the fades. */
        int lost = drand48() < loss;
        if (lost || fades((double)way->free_at)) continue;
        way->waiting += (double)length;
        way->lengths[slot] = (int)length;
        way->out_at[slot] = way->free_at;
        way->due[slot] = way->free_at + (uint64_t)delay_ns;
        way->tail++;
    }
}

int main(int argc, char **argv)
{
    if (argc != 12 && argc != 13) { fprintf(stderr, "see the head of link.c\n"); return 2; }
    directions[0].in = directions[1].out = open_tun(argv[1], argv[2]);
    directions[1].in = directions[0].out = open_tun(argv[3], argv[4]);
    delay_ns = atof(argv[5]) * 1e3, rate = atof(argv[6]), queue = atof(argv[7]), loss = atof(argv[8]);
    fade_ns = atof(argv[9]) * 1e9, every_ns = atof(argv[10]) * 1e9;
    srand48(atol(argv[11]));
    if (argc == 13) read_trace(argv[12]);
    struct sched_param priority = { .sched_priority = 10 };
    sched_setscheduler(0, SCHED_FIFO, &priority);
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct pollfd polled[2] = { { directions[0].in, POLLIN, 0 }, { directions[1].in, POLLIN, 0 } };
        uint64_t next = UINT64_MAX, at = now();
        for (int which = 0; which < 2; which++) {
            struct direction *way = &directions[which];
            if (way->head != way->tail && way->due[way->head % SLOTS] < next) next = way->due[way->head % SLOTS];
        }
        uint64_t wait = next == UINT64_MAX ? 1000000000 : next > at ? next - at : 0;
        struct timespec timeout = { (time_t)(wait / 1000000000), (long)(wait % 1000000000) };
        ppoll(polled, 2, &timeout, NULL);
        at = now();
        for (int which = 0; which < 2; which++) {
            struct direction *way = &directions[which];
            while (way->head != way->tail && way->due[way->head % SLOTS] <= at) {
                unsigned slot = way->head++ % SLOTS;
                if (write(way->out, way->packets[slot], (size_t)way->lengths[slot]) < 0) { /* as a full radio does */ }
            }
            take(way);
        }
    }
}
