# One TCP Reno and one TCP Vegas sender over a shared bottleneck, in ns-2; drop-tail unless
# "-discipline" names another of its queues (RED, DRR, SFQ).
#
#   sender 0 --\                            link, queue
#               node 1 ---- bottleneck ---- node 2 ---- receiver
#   sender 1 --/
#
# Usage: ns reno_vegas.tcl ?-name value ...?   (names and defaults below)
# "-later Reno" (or Vegas) makes that sender's way to node 1 a picosecond longer; "-overhead" is ns-2's
# random time of a sender before it sends, in seconds.
# Prints one line of JSON. Goodput counts data acknowledged without gaps; "wire" counts what the
# sinks received, with the 40 header bytes that ns-2 adds to Reno's packets and not to Vegas's;
# "-headers equal" gives Vegas the same 40 bytes, as on a real network, "-headers none" neither.

array set setting {
    -rate       2Mb
    -delay      2ms
    -queue      50
    -discipline DropTail
    -access     10Mb
    -accessdelay 1ms
    -later      {}
    -overhead   0
    -window     1000
    -size       1000
    -alpha      1
    -beta       3
    -for        100.0
    -headers    as-ns2
    -senders    {Reno 0.0 Vegas 0.0}
}
foreach {name value} $argv {
    if {![info exists setting($name)]} {
        puts stderr "unknown setting $name; known: [lsort [array names setting]]"
        exit 2
    }
    set setting($name) $value
}

Agent/TCP set window_ $setting(-window)
Agent/TCP set packetSize_ $setting(-size)
Agent/TCP set overhead_ $setting(-overhead)
if {$setting(-headers) eq "none"} { Agent/TCP set useHeaders_ false }
Agent/TCP/Vegas set v_alpha_ $setting(-alpha)
Agent/TCP/Vegas set v_beta_ $setting(-beta)

set sim [new Simulator]

# A quantum of one packet and lines by flow, as our DRR has; RED as in its papers: thresholds of 5
# and 15 packets, counted in packets.
Queue/DRR set buckets_ 10
Queue/DRR set quantum_ [expr {$setting(-size) + 40}]
Queue/DRR set blimit_ [expr {$setting(-queue) * ($setting(-size) + 40)}]
Queue/DRR set flows_ 0
Queue/DRR set mask_ 0
Queue/SFQ set maxqueue_ $setting(-queue)
Queue/SFQ set buckets_ 16
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set q_weight_ 0.002
Queue/RED set mean_pktsize_ $setting(-size)

# A two-way link that loses nothing of its own accord.
proc ample_link {from to rate delay {discipline DropTail}} {
    global sim
    $sim duplex-link $from $to $rate $delay $discipline
    $sim queue-limit $from $to 1000
    $sim queue-limit $to $from 1000
}

set node1 [$sim node]
set node2 [$sim node]
set receiver [$sim node]
ample_link $node1 $node2 $setting(-rate) $setting(-delay) $setting(-discipline)
$sim queue-limit $node1 $node2 $setting(-queue)
ample_link $node2 $receiver $setting(-access) $setting(-accessdelay)
set bottleneck [$sim monitor-queue $node1 $node2 ""]

set flows {}
foreach {kind starts_at} $setting(-senders) {
    set host [$sim node]
    set way $setting(-accessdelay)
    if {$kind eq $setting(-later)} { set way [expr {[string trimright $way ms] + 1e-9}]ms }
    ample_link $host $node1 $setting(-access) $way
    set sender [new Agent/TCP/$kind]
    if {$kind eq "Vegas" && $setting(-headers) eq "equal"} {
        $sender set packetSize_ [expr {$setting(-size) + 40}]
    }
    set sink [new Agent/TCPSink]
    $sim attach-agent $host $sender
    $sim attach-agent $receiver $sink
    $sim connect $sender $sink
    set source [new Application/FTP]
    $source attach-agent $sender
    $sim at $starts_at "$source start"
    lappend flows $kind $sender $sink
}

proc report {} {
    global setting flows bottleneck
    set rows {}
    foreach {kind sender sink} $flows {
        set bits [expr {([$sender set ack_] + 1) * $setting(-size) * 8.0}]
        set goodput [expr {$bits / $setting(-for) / 1000}]
        set wire [expr {[$sink set bytes_] * 8.0 / $setting(-for) / 1000}]
        lappend rows [format {{"kind": "%s", "goodput_kbit_s": %.2f, "wire_kbit_s": %.2f,\
            "retransmitted_packets": %d}} $kind $goodput $wire [$sender set nrexmitpack_]]
    }
    puts [format {{"flows": [%s], "bottleneck_packets": %d, "bottleneck_drops": %d}} \
        [join $rows ", "] [$bottleneck set pdepartures_] [$bottleneck set pdrops_]]
    exit 0
}
$sim at $setting(-for) report
$sim run
