// The dumbbell of run.py in csg-htsim: many flows over one drop-tail bottleneck, every flow between
// a sender and a receiver of its own.
//
// Usage: htsim-dumbbell FLOWS SECONDS counted|timed
//
// timed: nothing is watched and nothing printed, so that only the simulation costs time.
// counted: the same run with a counter behind the bottleneck; prints one line of JSON.
//
// What htsim's NewReno does that cannot be set from outside (all of it in tcp.cpp):
// - The least retransmission time-out is 250 ms, where the other simulators have 200 ms. Time-outs
//   are looked for in all flows every so often, here every 10 ms as in htsim's own examples.
// - There is no SACK. Recovery is the slow but steady one: every partial ACK restarts the timer, so
//   that it takes as many round trips as segments were lost (3 s after one flow's slow start).
// - Every segment carries its time of sending and every ACK returns it, so that each ACK is a
//   sample of the round trip, at no cost in bytes.
// - Packets have no headers: 1500 bytes of packet are 1500 bytes of sequence numbers. An ACK has
//   40 bytes, a SYN has one.
// - A SYN carries no time of its own. The first sample of the round trip is the age of whatever
//   packet its memory was used for before, or else of the simulation: up to a second too long. It
//   takes twenty to thirty ACKs to fade.

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>

namespace
{

constexpr int PACKET_BYTES = 1500;
constexpr uint32_t INITIAL_WINDOW = 10;
/// Never limits a flow after its slow start.
constexpr uint32_t WINDOW_BYTES = 1000000;
constexpr mem_b AMPLE = mem_b{1000000} * PACKET_BYTES;
constexpr linkspeed_bps ACCESS_RATE = 100000000;

/// One direction of a cable: a queue that sends at the link's rate, and the way.
struct Link
{
    Queue* queue;
    Pipe* way;

    Link(EventList& events, linkspeed_bps rate, int milliseconds, mem_b queue_bytes)
        : queue(new Queue(rate, queue_bytes, events, nullptr)),
          way(new Pipe(timeFromMs(milliseconds), events))
    {
    }
};

/// Stands behind the bottleneck's queue, as one more hop of every route, and passes all on.
class Counter : public PacketSink
{
  public:
    uint64_t packets = 0;

    void receivePacket(Packet& packet) override
    {
        // A SYN is not data.
        packets += packet.size() == PACKET_BYTES;
        packet.sendOn();
    }

    const std::string& nodename() override
    {
        return name;
    }

  private:
    std::string name = "counter";
};

/// The route over an access link, the bottleneck and another access link to `to`. `counter`, if
/// there is one, sees what leaves the bottleneck's queue.
const Route*
Through(const Link& first,
        const Link& bottleneck,
        const Link& last,
        PacketSink* counter,
        PacketSink* to)
{
    Route* route = new Route();
    route->push_back(first.queue);
    route->push_back(first.way);
    route->push_back(bottleneck.queue);
    if (counter != nullptr)
        route->push_back(counter);
    route->push_back(bottleneck.way);
    route->push_back(last.queue);
    route->push_back(last.way);
    route->push_back(to);
    return route;
}

} // namespace

int
main(int argc, char** argv)
{
    const std::string purpose = argc == 4 ? argv[3] : "";
    if (purpose != "counted" && purpose != "timed")
    {
        std::fprintf(stderr, "usage: htsim-dumbbell FLOWS SECONDS counted|timed\n");
        return 2;
    }
    const int flows = std::atoi(argv[1]);
    const double seconds = std::atof(argv[2]);
    const bool counted = purpose == "counted";

    // htsim tells of every time-out here; a stream that is not good does not even format it.
    std::cout.setstate(std::ios::failbit);

    Packet::set_packet_size(PACKET_BYTES);
    EventList events;
    events.setEndtime(timeFromSec(seconds));

    const linkspeed_bps rate = linkspeed_bps{10000000} * std::max(flows, 1);
    // One bandwidth-delay product, and one more: htsim counts the packet that is being sent too.
    const auto queue = static_cast<mem_b>(rate * 0.040 / 8 / PACKET_BYTES) + 1;
    const Link forth(events, rate, 18, queue * PACKET_BYTES);
    const Link back(events, rate, 18, AMPLE);
    Counter counter;
    PacketSink* const watch = counted ? &counter : nullptr;

    TcpRtxTimerScanner timeouts(timeFromMs(10), events);
    srand(7);
    for (int i = 0; i < flows; i++)
    {
        const Link up(events, ACCESS_RATE, 1, AMPLE);
        const Link down(events, ACCESS_RATE, 1, AMPLE);
        const Link ack_up(events, ACCESS_RATE, 1, AMPLE);
        const Link ack_down(events, ACCESS_RATE, 1, AMPLE);
        TcpSrc* source = new TcpSrc(nullptr, nullptr, events);
        TcpSink* sink = new TcpSink();
        // The answer to the SYN opens the window by one segment, as any other ACK does.
        source->set_cwnd((INITIAL_WINDOW - 1) * PACKET_BYTES);
        // Slow start ends with a loss, not at htsim's hundred segments.
        source->set_ssthresh(WINDOW_BYTES);
        source->_maxcwnd = WINDOW_BYTES;
        timeouts.registerTcp(*source);
        source->connect(*Through(up, forth, down, watch, sink),
                        *Through(ack_up, back, ack_down, nullptr, source),
                        *sink,
                        timeFromSec(drand()));
    }

    while (events.doNextEvent())
    {
    }
    if (counted)
    {
        std::printf("{\"packets\": %llu, \"drops\": %d, \"utilisation\": %.4f}\n",
                    static_cast<unsigned long long>(counter.packets),
                    forth.queue->num_drops(),
                    counter.packets * PACKET_BYTES * 8.0 / (rate * seconds));
        std::fflush(stdout);
    }
    // As the other simulators, which just end.
    _exit(0);
}
