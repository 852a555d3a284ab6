// The dumbbell of run.py in ns-3: many flows over one drop-tail bottleneck, every flow between a
// sender and a receiver node of its own.
//
// Usage: dumbbell --flows=N --seconds=S --counted=false --stack=newreno|cubic [--scheduler=TYPE]
//
// With --counted=false nothing is watched and nothing printed, so that only the simulation costs
// time; with --counted=true the same run counts what leaves the bottleneck and prints JSON.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>

using namespace ns3;

namespace
{

/// Of payload in a packet of 1500 bytes, and what the timestamps take of it.
constexpr uint32_t SEGMENT_BYTES = 1460;
constexpr uint32_t TIMESTAMPS_BYTES = 12;
/// Never limits a flow after its slow start. Far larger ones make ns-3 slower, to no purpose.
constexpr uint32_t BUFFER_BYTES = 1000000;
constexpr uint16_t PORT = 9;

struct Counter
{
    uint64_t packets = 0;
    uint64_t bytes = 0;
    uint64_t drops = 0;
};

Counter counter;

void
Left(Ptr<const Packet> packet)
{
    counter.packets++;
    counter.bytes += packet->GetSize();
}

void
Dropped(Ptr<const Packet>)
{
    counter.drops++;
}

/// The same TCP as in the other two simulators: one ACK per segment, an initial window of ten,
/// 200 ms as the least retransmission time-out; NewReno without timestamps, CUBIC with them. SACK
/// stays on, because without it this version falls from one time-out into the next and leaves the
/// link half empty.
void
ConfigureTcp(bool cubic)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(cubic ? TcpCubic::GetTypeId() : TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize",
                       UintegerValue(cubic ? SEGMENT_BYTES - TIMESTAMPS_BYTES : SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(cubic));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

PointToPointHelper
Cable(double bitsPerSecond, const std::string& delay, uint32_t queuePackets)
{
    PointToPointHelper cable;
    cable.SetDeviceAttribute("DataRate",
                             DataRateValue(DataRate(static_cast<uint64_t>(bitsPerSecond))));
    cable.SetChannelAttribute("Delay", StringValue(delay));
    cable.SetQueue("ns3::DropTailQueue<Packet>",
                   "MaxSize",
                   QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queuePackets)));
    return cable;
}

} // namespace

int
main(int argc, char** argv)
{
    uint32_t flows = 10;
    double seconds = 20;
    bool counted = false;
    std::string scheduler = "ns3::PriorityQueueScheduler";
    std::string stack = "newreno";
    CommandLine commandLine(__FILE__);
    commandLine.AddValue("flows", "number of flows", flows);
    commandLine.AddValue("seconds", "simulated time", seconds);
    commandLine.AddValue("counted", "count and print instead of being timed", counted);
    commandLine.AddValue("scheduler", "event queue", scheduler);
    commandLine.AddValue("stack", "newreno or cubic", stack);
    commandLine.Parse(argc, argv);
    ConfigureTcp(stack == "cubic");

    GlobalValue::Bind("SchedulerType", StringValue(scheduler));

    const double rate = 10e6 * std::max<uint32_t>(flows, 1);
    const auto queue = static_cast<uint32_t>(rate * 0.040 / 8 / 1500);
    PointToPointHelper bottleneckCable = Cable(rate, "18ms", queue);
    PointToPointHelper accessCable = Cable(100e6, "1ms", 1000000);

    NodeContainer routers(2);
    NodeContainer senders(flows);
    NodeContainer receivers(flows);
    // The cheapest routing that ns-3 has for a static network: looked up once per flow.
    Ipv4NixVectorHelper routing;
    InternetStackHelper internet;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.InstallAll();

    // Without its queueing disciplines above the device: the drop-tail queue is the device's.
    TrafficControlHelper disciplines;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto number = [&](const NetDeviceContainer& ends) {
        Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
        addresses.NewNetwork();
        disciplines.Uninstall(ends);
        return interfaces.GetAddress(1);
    };
    NetDeviceContainer bottleneck = bottleneckCable.Install(routers);
    number(bottleneck);

    Ptr<UniformRandomVariable> starts = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < flows; i++)
    {
        number(accessCable.Install(senders.Get(i), routers.Get(0)));
        Ipv4Address to = number(accessCable.Install(routers.Get(1), receivers.Get(i)));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(to, PORT));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT_BYTES));
        source.Install(senders.Get(i)).Start(Seconds(starts->GetValue(0, 1)));
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sink.Install(receivers.Get(i)).Start(Seconds(0));
    }

    if (counted)
    {
        bottleneck.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Left));
        // A full device stops its queue; what comes then is dropped one layer above it.
        Config::ConnectWithoutContext("/NodeList/0/$ns3::TrafficControlLayer/TcDrop",
                                      MakeCallback(&Dropped));
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    if (counted)
    {
        std::printf("{\"packets\": %llu, \"drops\": %llu, \"utilisation\": %.4f}\n",
                    static_cast<unsigned long long>(counter.packets),
                    static_cast<unsigned long long>(counter.drops),
                    counter.bytes * 8.0 / (rate * seconds));
        std::fflush(stdout);
    }
    // Taking the network apart would be charged to the run; the other simulators just end.
    _exit(0);
}
