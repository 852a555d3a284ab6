/*
 * A peer in C: it makes packets, takes packets apart, and says what was expected.
 * Local (ours, under test): 192.168.0.2 or fd3d::2, port 8080. Peer: 192.0.2.1 or 2001:db8::1.
 */
#ifndef KIT_H
#define KIT_H

#include "ackord_packetdrill.h"
#include <stdbool.h>
#include <stdint.h>

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, ECE = 64, CWR = 128 };

/* A segment as a test speaks of it. */
struct segment {
    uint32_t seq, ack;
    uint8_t flags;
    uint16_t window;
    uint16_t sport, dport;
    size_t len;
    uint8_t payload[4096];
    /* Options: zero or absent unless said. */
    uint16_t mss;
    int wscale;
    bool sack_ok, has_ts;
    uint32_t tsval, tsecr;
    int sacks;
    uint32_t sack[4][2];
    bool ipv6;
    uint8_t ttl;
    /* When it left, in microseconds since the stack was opened. */
    long long at;
};

/* A connection under test, as the peer sees it. */
struct flow {
    bool ipv6;
    uint16_t ours, peers;
    /* Next sequence number of each side. */
    uint32_t snd, rcv;
};

extern struct packetdrill_interface pd;
extern long long start_usecs;

/* packetdrill_interface_init of the library. */
int initialise(const char *flags, struct packetdrill_interface *interface);
/* Opens and closes a stack. */
void open_stack(const char *flags);
void close_stack(void);
/* Microseconds of virtual time since the stack was opened. */
long long now_usecs(void);

/* Makes the packet and hands it to the stack. */
void inject(const struct segment *segment);
/* The next packet that leaves; the test ends if none does. */
struct segment sniff(void);
/* Whether nothing leaves any more, ever. */
bool silence(void);

/* Sockets. */
int listening_socket(bool ipv6, int backlog);
socklen_t local_address(struct sockaddr_storage *address, bool ipv6, uint16_t port);
socklen_t peer_address(struct sockaddr_storage *address, bool ipv6, uint16_t port);
/* A connection that the peer has opened without options but the maximum segment size. */
int accepted(struct flow *flow, int listener, uint16_t peers_port);
/* A connection that the peer opens towards a listener, not accepted yet. */
void passive_handshake(struct flow *flow, uint16_t peers_port);
/* From the peer: a segment at its next sequence number. */
void from_peer(struct flow *flow, uint8_t flags, size_t len, uint16_t window);
struct segment peers(const struct flow *flow, uint8_t flags, size_t len, uint16_t window);

/* Says what was expected, and counts. */
void check_(bool holds, const char *what, const char *file, int line);
void equal_(long long got, long long expected, const char *what, const char *file, int line);
void fails_(long long got, int error, const char *what, const char *file, int line);
#define CHECK(condition) check_((condition), #condition, __FILE__, __LINE__)
#define EQUAL(got, expected) equal_((got), (expected), #got, __FILE__, __LINE__)
/* -1 with this errno. */
#define FAILS(call, error) fails_((call), (error), #call, __FILE__, __LINE__)

/* A call in a second thread. */
struct background;
struct background *in_background(long long (*call)(void *), void *argument);
/* Waits, in real time, until the thread sleeps in the call or has returned. */
void until_it_sleeps(struct background *thread);
/* Whether the call has returned; then its result, errno and the virtual time of its return. */
bool has_returned(struct background *thread);
long long result_of(struct background *thread, int *error, long long *returned_at);

void handshake_tests(void);
void data_tests(void);
void error_tests(void);
void option_tests(void);
void blocking_tests(void);
void event_tests(void);
void pipe_tests(void);
void time_tests(void);
void flag_tests(void);
void kernel_tests(void);

#endif
