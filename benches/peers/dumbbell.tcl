# The dumbbell of run.py in ns-2: many flows over one drop-tail bottleneck.
#
# Usage: ns dumbbell.tcl FLOWS leaf|host SECONDS timed|counted SCHEDULER newreno|cubic
#
# newreno: without SACK and timestamps. cubic: ns-2's copy of Linux, with SACK and timestamps.
# leaf: every flow has a sender and a receiver node of its own; host: all share one pair.
# timed: nothing is watched, prints nothing, so that only the simulation costs time.
# counted: the same run with a monitor on the bottleneck's queue; prints one line of JSON.

foreach {flows topology seconds purpose scheduler stack} $argv break

# ns-2 clears every header of every packet: keep the three that this run needs.
remove-all-packet-headers
add-packet-header IP TCP Flags

set rate [expr {10e6 * max($flows, 1)}]
set queue [expr {int($rate * 0.040 / 8 / 1500)}]
set access [expr {$topology eq "host" ? 10 * $rate : 100e6}]

Agent/TCP set packetSize_ 1460
# One megabyte, as in the other two.
Agent/TCP set window_ 684
Agent/TCP set windowInit_ 10
Agent/TCP/Linux set timestamps_ true

set sim [new Simulator]
$sim use-scheduler $scheduler

proc two_way {from to rate delay forth back} {
    global sim
    $sim duplex-link $from $to $rate $delay DropTail
    $sim queue-limit $from $to $forth
    $sim queue-limit $to $from $back
}
set ample 1000000
set left [$sim node]
set right [$sim node]
two_way $left $right $rate 18ms $queue $ample

proc host_pair {} {
    global sim left right access ample
    set sender [$sim node]
    set receiver [$sim node]
    two_way $sender $left $access 1ms $ample $ample
    two_way $right $receiver $access 1ms $ample $ample
    return [list $sender $receiver]
}

set starts [new RNG]
$starts seed 7
if {$topology eq "host"} { set pair [host_pair] }
for {set i 0} {$i < $flows} {incr i} {
    if {$topology eq "leaf"} { set pair [host_pair] }
    if {$stack eq "cubic"} {
        set tcp [new Agent/TCP/Linux]
        set sink [new Agent/TCPSink/Sack1]
        $sink set ts_echo_rfc1323_ true
    } else {
        set tcp [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
    }
    $sim attach-agent [lindex $pair 0] $tcp
    $sim attach-agent [lindex $pair 1] $sink
    $sim connect $tcp $sink
    if {$stack eq "cubic"} { $sim at 0 "$tcp select_ca cubic" }
    set source [new Application/FTP]
    $source attach-agent $tcp
    $sim at [$starts uniform 0 1] "$source start"
}

if {$purpose eq "counted"} { set monitor [$sim monitor-queue $left $right ""] }

proc finish {} {
    global purpose monitor rate seconds
    if {$purpose eq "counted"} {
        # ns-2 counts bytes in 32 bits, which overflow here; every packet has 1500.
        set busy [expr {[$monitor set pdepartures_] * 1500 * 8.0 / ($rate * $seconds)}]
        puts [format {{"packets": %.0f, "drops": %.0f, "utilisation": %.4f}} \
            [$monitor set pdepartures_] [$monitor set pdrops_] $busy]
    }
    exit 0
}
$sim at $seconds finish
$sim run
