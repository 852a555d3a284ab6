/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs in the kernel and the agent tell each other. `layout.rs` has the same, and both sides
 * check sizes and places.
 */
#ifndef ACKORD_AGENT_H
#define ACKORD_AGENT_H

/* Gaps between data segments that are remembered until the next report. */
#define ARRIVALS 8

/* Why a report is made. */
enum { REPORT_OPENED = 1, REPORT_SAMPLE = 2, REPORT_CLOSED = 3 };

/* Which group a connection belongs to. */
enum { ARM_OBSERVED = 0, ARM_TREATED = 1, ARM_CONTROL = 2 };

/* Options that the application has set itself: none of them is touched. */
enum { OWN_NODELAY = 1, OWN_QUICKACK = 2, OWN_DELACK = 4, OWN_MARK = 8 };

/* Levers at work on a connection. */
enum { LEVER_NODELAY = 1, LEVER_DELACK = 2, LEVER_QUICK = 4 };

/* How a connection came to be known, and which end it is. */
enum { WAY_ACTIVE = 1, WAY_PASSIVE = 2, WAY_ADOPTED = 3, WAY_LATE = 4 };

/* With `acked_us`: the acknowledgment left by itself after a wait, for the timer struck. */
#define ALONE 0x80000000

/* A data segment, as it arrived. */
struct arrival {
	__u32 gap_us;    /* since the one before; 0 where they came together */
	__u32 acked_us;  /* when an acknowledgment left after it, and ALONE; 0: not before the next one came */
};

/* What is kept with a socket. Instants are microseconds since boot, the lower 32 bits. */
struct facts {
	__u64 cookie; /* 0: not followed */
	__u64 application;
	__u64 program;       /* what its process runs, as `program_of` has it; 0: not known */
	__u64 cgroup;
	__u64 active_us;     /* time that belongs to an exchange: gaps below IDLE_US */
	__u64 transfer_from; /* bytes received before the transfer that goes on */
	__u32 opened_us;
	__u32 event_us;      /* the last packet either way */
	__u32 data_us;       /* the last data segment that came */
	__u32 before_us;     /* and the one before */
	__u32 sent_us;       /* the last data segment that left */
	__u32 acked_us;      /* the last acknowledgment that left alone after a wait */
	__u32 wait_us;       /* how long that one had waited */
	__u32 reported_us;
	__u32 asked_us;      /* when `orders` was last asked */
	__u32 nagle_us;      /* time lost to Nagle's algorithm here */
	__u32 delack_us;     /* time that the peer lost to our delayed acknowledgments */
	__u32 nagle_stalls;
	__u32 delack_stalls;
	__u32 acks_alone;
	__u32 pid;
	__u32 delack_max_us; /* as ordered; 0: the kernel's own */
	__u32 srtt_us;
	__u32 transfer_began_us;
	__u32 asleep;        /* until this jiffy nothing is looked at; 0: awake */
	__u32 asleep_us;     /* since then */
	__u16 packets;       /* since the last report */
	__u16 stalls;        /* as of the last report, both kinds */
	__u16 class;
	__u16 quick_left;    /* data segments that are still acknowledged at once */
	__u8 arm;
	__u8 own;
	__u8 levers;
	__u8 way;
	__u8 unacknowledged; /* data has come that no packet of ours has acknowledged */
	__u8 arrivals;
	__u8 held;   /* TCP_NODELAY was taken back for a turn without settings */
	__u8 waits;  /* opened in such a turn; WAITS_REPORT: only its report is missing */
	__u8 unused[4];
	struct arrival arrival[ARRIVALS];
};

_Static_assert(sizeof(struct facts) == 216, "docs/agent.md and docs/decisions/0130 have this figure");

/* What the agent is told. */
struct report {
	__u64 cookie;
	__u64 application;
	__u64 cgroup;
	__u64 at_us;
	__u64 active_us;
	__u64 bytes_received;
	__u64 bytes_acked;
	__u64 transfer_bytes; /* received since the last pause; a transfer that is over, or 0 */
	__u32 opened_us;
	__u32 nagle_us;
	__u32 delack_us;
	__u32 nagle_stalls;
	__u32 delack_stalls;
	__u32 acks_alone;
	__u32 data_segments_in;
	__u32 data_segments_out;
	__u32 retransmitted;
	__u32 dsacks;
	__u32 reordering;
	__u32 srtt_us;
	__u32 mss;
	__u32 pid;
	__u32 delack_max_us;
	__u32 transfer_us;    /* how long that transfer took */
	__u32 family;         /* AF_INET or AF_INET6 */
	__u32 local_ip[4];    /* network order */
	__u32 remote_ip[4];
	__u16 local_port;
	__u16 remote_port;
	__u16 class;
	__u8 kind;
	__u8 arm;
	__u8 own;
	__u8 levers;
	__u8 way;
	__u8 arrivals;
	__u8 reordering_seen;
	__u8 unused[7];
	struct arrival arrival[ARRIVALS];
};

/* What is done for the connections of an application, from their first segment on. */
struct class {
	__u16 control_per_mille;
	__u16 quick_segments; /* acknowledged at once; 0: as the kernel does */
	__u32 delack_max_us;  /* 0: the kernel's own */
	__u8 nodelay;
	__u8 unused[3];
};

/* What is done for one connection. */
struct order {
	__u32 delack_max_us; /* 0: the kernel's own */
	__u8 quick;          /* every data segment is acknowledged at once */
	__u8 unused[3];
};

/* What the programs count. */
struct counts {
	__u64 reports_lost; /* the ring was full */
	__u64 refused;      /* levers that the kernel did not take */
	__u64 followed;     /* connections */
	__u64 cleaned;      /* levers put back by a pass */
	__u64 owned;        /* sockets to which a pass assigned their process */
};

enum { WAITS_SETTINGS = 1, WAITS_REPORT = 2 };

/* What is asked of one pass over all sockets. */
enum { PASS_ADOPT = 1, PASS_CLEAN = 2, PASS_OWN = 3, PASS_BACK = 4, PASS_HOLD = 5, PASS_GIVE = 6 };

struct settings {
	__u32 mark;         /* the bit that selects the table of quick routes; 0: not used */
	__u32 report_every_us;
	__u32 delack_stock_us; /* the kernel's own maximum */
	__u32 by;           /* what tells applications apart */
	__u32 pass;
	__u32 own_pid;      /* sockets of the agent are left alone */
	__u32 control_per_mille; /* of the connections that are adopted */
	__u32 nodelay_held; /* nobody gets TCP_NODELAY: it could not be journaled */
	__u32 untreated;    /* a turn of the whole host without settings */
};

enum { BY_CGROUP = 1, BY_PROGRAM = 2, BY_PORT = 3, BY_SERVICE = 4 };

/* Address at which a socket listens; all zero for any. */
struct listening {
	__u64 netns;
	__u32 ip[4]; /* network order */
	__u16 port;
	__u16 family;
	__u32 unused;
};

/* What connections inherit from the socket that accepts them. */
struct origin {
	__u64 program;
	__u32 pid;
	__u8 own;
	__u8 unused[3];
};

/* A connection before its storage is allocated. */
struct young {
	__u64 cookie;
	struct origin origin;
	__u32 opened_us;
	__u32 check; /* of all of it: two processors may have written a part each */
};

/* Process and program of a thread. */
struct known {
	__u64 key;
	__u64 program;
	__u64 pid;
	__u64 check; /* as above */
};

/* Connections of a class that are followed in a window of time, on one processor. */
struct budget {
	__u64 passed_over; /* connections that were not followed, in all */
	__u32 window;
	__u16 followed;
	__u16 late; /* of all classes, kept with the first */
};

/* Process of a socket that was created before the programs were attached. */
struct owner {
	__u64 program;
	__u32 pid;
	__u32 unused;
};

/* Names of interpreters, by their first bytes: the name's, and which of its bits count; no mask ends the list. */
#define INTERPRETERS 32
struct interpreter {
	__u64 name;
	__u64 mask;
};

#endif
