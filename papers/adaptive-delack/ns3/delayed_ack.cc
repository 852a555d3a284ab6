// The set-up of Lee et al. 2015 §4.1 in ns-3: a Wi-Fi station writes 1000 messages of 1040 bytes at
// 1 Mbit/s to a host behind the access point, over 5 Mbit/s and 2 ms. One run; its figures as JSON.
//
// Built and driven by band.py. Written for ns-3.37 as Debian ships it.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t MESSAGE = 1040;
const uint32_t MESSAGES = 1000;
const double START = 1.0;
const double STOP = 11.0;

struct Seen
{
    uint64_t dataSent = 0;
    uint64_t dataReceived = 0;
    uint64_t shortReceived = 0;
    uint64_t pureAcks = 0;
    double done = -1.0;
    double lastArrival = -1.0;
    std::vector<double> gaps;
    std::vector<std::pair<double, uint32_t>> cwnd;
};

Seen seen;
uint32_t segmentSize = 536;

// Writes a message at a fixed interval, whatever the socket makes of it.
class Writer : public Application
{
  public:
    Ptr<Socket> socket;
    Address peer;

  private:
    uint32_t written = 0;

    void StartApplication() override
    {
        socket->Bind();
        socket->Connect(peer);
        Write();
    }

    void Write()
    {
        socket->Send(Create<Packet>(MESSAGE));
        if (++written < MESSAGES)
        {
            Simulator::Schedule(Seconds(MESSAGE * 8.0 / 1e6), &Writer::Write, this);
        }
    }
};

// The TCP header and payload length of an IP packet, if it is one.
bool
Parse(Ptr<const Packet> packet, TcpHeader& tcp, uint32_t& payload)
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    if (ip.GetProtocol() != 6)
    {
        return false;
    }
    copy->RemoveHeader(tcp);
    payload = copy->GetSize();
    return true;
}

void
SenderSends(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    TcpHeader tcp;
    uint32_t payload = 0;
    seen.dataSent += Parse(packet, tcp, payload) && payload > 0;
}

void
ReceiverSends(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    TcpHeader tcp;
    uint32_t payload = 0;
    if (Parse(packet, tcp, payload) && payload == 0 && !(tcp.GetFlags() & TcpHeader::SYN))
    {
        seen.pureAcks++;
    }
}

void
ReceiverGets(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    TcpHeader tcp;
    uint32_t payload = 0;
    if (!Parse(packet, tcp, payload) || payload == 0)
    {
        return;
    }
    double now = Simulator::Now().GetSeconds();
    if (seen.lastArrival >= 0.0)
    {
        seen.gaps.push_back(now - seen.lastArrival);
    }
    seen.lastArrival = now;
    seen.dataReceived++;
    seen.shortReceived += payload < segmentSize;
}

void
CwndChanges(uint32_t, uint32_t to)
{
    seen.cwnd.emplace_back(Simulator::Now().GetSeconds() - START, to);
}

// cwnd weighted by time, from its first value to the delivery of the last byte, or to the end.
double
MeanCwnd()
{
    double end = seen.done > 0.0 ? seen.done - START : STOP - START;
    double sum = 0.0;
    for (size_t i = 0; i < seen.cwnd.size() && seen.cwnd[i].first < end; i++)
    {
        double until = i + 1 < seen.cwnd.size() ? std::min(seen.cwnd[i + 1].first, end) : end;
        sum += seen.cwnd[i].second * (until - seen.cwnd[i].first);
    }
    return seen.cwnd.empty() ? 0.0 : sum / (end - seen.cwnd.front().first);
}

void
Print(uint64_t delivered)
{
    std::sort(seen.gaps.begin(), seen.gaps.end());
    uint32_t reductions = 0;
    for (size_t i = 1; i < seen.cwnd.size(); i++)
    {
        reductions += seen.cwnd[i].second < seen.cwnd[i - 1].second;
    }
    std::printf("{\"acks\": %lu, \"data_segments_sent\": %lu, \"data_segments_received\": %lu, "
                "\"short_segments_received\": %lu, \"cwnd_mean_bytes\": %.1f, "
                "\"cwnd_reductions\": %u, \"delivered_bytes\": %lu, \"done_s\": %.4f, "
                "\"gap_median_ms\": %.4f, \"cwnd\": [",
                (unsigned long)seen.pureAcks,
                (unsigned long)seen.dataSent,
                (unsigned long)seen.dataReceived,
                (unsigned long)seen.shortReceived,
                MeanCwnd(),
                reductions,
                (unsigned long)delivered,
                seen.done - START,
                seen.gaps.empty() ? 0.0 : 1e3 * seen.gaps[seen.gaps.size() / 2]);
    // cwnd every tenth of a second.
    size_t i = 0;
    for (int step = 1; step <= 100; step++)
    {
        while (i + 1 < seen.cwnd.size() && seen.cwnd[i + 1].first <= step * 0.1)
        {
            i++;
        }
        std::printf("%s%u", step == 1 ? "" : ", ", seen.cwnd.empty() ? 0 : seen.cwnd[i].second);
    }
    std::printf("]}\n");
}

} // namespace

int
main(int argc, char** argv)
{
    double timeout = 0.2;
    double errorsPerByte = 1e-5;
    uint32_t seed = 1;
    bool sack = false;
    CommandLine cmd;
    cmd.AddValue("timeout", "delayed-ACK timeout, seconds", timeout);
    cmd.AddValue("errors", "probability that a byte is damaged", errorsPerByte);
    cmd.AddValue("seed", "number of the run", seed);
    cmd.AddValue("sack", "selective acknowledgments", sack);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(20150804);
    RngSeedManager::SetRun(seed);

    // What the paper's ns-3 had: one segment to begin with, NewReno, timestamps.
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segmentSize));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(Seconds(timeout)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));

    NodeContainer wired;
    wired.Create(2);
    Ptr<Node> ap = wired.Get(0);
    Ptr<Node> host = wired.Get(1);
    Ptr<Node> station = CreateObject<Node>();

    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("5Mbps"));
    p2p.SetChannelAttribute("Delay", StringValue("2ms"));
    NetDeviceContainer wiredDevices = p2p.Install(wired);

    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::AarfWifiManager");
    WifiMacHelper mac;
    Ssid ssid("paper");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "ActiveProbing", BooleanValue(false));
    NetDeviceContainer stationDevice = wifi.Install(phy, mac, station);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid));
    NetDeviceContainer apDevice = wifi.Install(phy, mac, ap);

    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    places->Add(Vector(5, 0, 0));
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(ap);
    mobility.Install(station);

    InternetStackHelper stack;
    stack.Install(wired);
    stack.Install(station);
    Ipv4AddressHelper address;
    address.SetBase("10.1.1.0", "255.255.255.0");
    Ipv4InterfaceContainer wiredAddresses = address.Assign(wiredDevices);
    address.SetBase("10.1.2.0", "255.255.255.0");
    address.Assign(stationDevice);
    address.Assign(apDevice);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_BYTE);
    errors->SetRate(errorsPerByte);
    errors->AssignStreams(10);
    wiredDevices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    wifi.AssignStreams(stationDevice, 1000);
    wifi.AssignStreams(apDevice, 2000);

    uint16_t port = 8080;
    PacketSinkHelper sinkHelper("ns3::TcpSocketFactory",
                                InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sinks = sinkHelper.Install(host);
    sinks.Start(Seconds(0));
    Ptr<PacketSink> sink = DynamicCast<PacketSink>(sinks.Get(0));

    Ptr<Socket> socket = Socket::CreateSocket(station, TcpSocketFactory::GetTypeId());
    socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&CwndChanges));
    Ptr<Writer> writer = CreateObject<Writer>();
    writer->socket = socket;
    writer->peer = InetSocketAddress(wiredAddresses.GetAddress(1), port);
    station->AddApplication(writer);
    writer->SetStartTime(Seconds(START));

    Ptr<Ipv4L3Protocol> hostIp = host->GetObject<Ipv4L3Protocol>();
    hostIp->TraceConnectWithoutContext("Tx", MakeCallback(&ReceiverSends));
    hostIp->TraceConnectWithoutContext("Rx", MakeCallback(&ReceiverGets));
    station->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx",
                                                                     MakeCallback(&SenderSends));
    Callback<void, Ptr<const Packet>, const Address&> onRead(
        [sink](Ptr<const Packet>, const Address&) {
            if (seen.done < 0 && sink->GetTotalRx() >= uint64_t(MESSAGE) * MESSAGES)
            {
                seen.done = Simulator::Now().GetSeconds();
            }
        });
    sink->TraceConnectWithoutContext("Rx", onRead);

    Simulator::Stop(Seconds(STOP));
    Simulator::Run();
    Print(sink->GetTotalRx());
    Simulator::Destroy();
    return 0;
}
