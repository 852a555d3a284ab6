# One TCP sender over a path whose middle link changes its delay at intervals, in ns-2.
#
#   source ---- R1 ==== R2 ---- destination
#       10 Mbit/s   3 Mbit/s  10 Mbit/s
#       1 ms        drawn     1 ms
#
# Usage: ns reordering.tcl ?-name value ...?   (names and defaults below)
# Prints one line of JSON. Goodput counts packets acknowledged without gaps, 1500 bytes each; 40
# bytes of headers come on top on the wire. A delay is drawn for each direction on its own. ns-2
# hands every packet to its scheduler on its own, so a packet sent after the delay fell overtakes.

array set setting {
    -agent      Reno
    -tau        1.0
    -interval   0.050
    -seed       1
    -dupthresh  3
    -loss       0.001
    -window     500
    -queue      400
    -size       1500
    -start      10.0
    -stop       1010.0
    -trace      {}
}
foreach {name value} $argv {
    if {![info exists setting($name)]} {
        puts stderr "unknown setting $name; known: [lsort [array names setting]]"
        exit 2
    }
    set setting($name) $value
}

Agent/TCP set window_ $setting(-window)
# cwnd may not grow beyond what the window lets out.
Agent/TCP set maxcwnd_ $setting(-window)
Agent/TCP set packetSize_ $setting(-size)
Agent/TCP set numdupacks_ $setting(-dupthresh)
$defaultRNG seed $setting(-seed)

set mean [expr {(50 + 200 * $setting(-tau)) / 1000.0}]
set deviation [expr {200 * $setting(-tau) / 3 / 1000.0}]
set floor 0.001

set sim [new Simulator]
foreach node {source r1 r2 destination} {
    set $node [$sim node]
}
$sim duplex-link $source $r1 10Mb 1ms DropTail
$sim duplex-link $r1 $r2 3Mb $mean DropTail
$sim duplex-link $r2 $destination 10Mb 1ms DropTail
foreach {from to} [list $source $r1 $r1 $r2 $r2 $destination] {
    $sim queue-limit $from $to $setting(-queue)
    $sim queue-limit $to $from $setting(-queue)
}

# Random numbers of their own for losses and for delays.
proc stream {number} {
    set generator [new RNG]
    $generator seed $number
    return $generator
}
set losses [new RandomVariable/Uniform]
$losses use-rng [stream [expr {1000 * $setting(-seed) + 1}]]
set medium [new ErrorModel]
$medium unit pkt
$medium set rate_ $setting(-loss)
$medium ranvar $losses
$medium drop-target [new Agent/Null]
$sim link-lossmodel $medium $r1 $r2

set delays [new RandomVariable/Normal]
$delays use-rng [stream [expr {1000 * $setting(-seed) + 2}]]
$delays set avg_ $mean
$delays set std_ $deviation
set drawn 0
set clipped 0
proc draw {} {
    global delays floor drawn clipped
    incr drawn
    set delay [$delays value]
    if {$delay < $floor} {
        incr clipped
        return $floor
    }
    return $delay
}
set there [[$sim link $r1 $r2] link]
set back [[$sim link $r2 $r1] link]
proc redraw {} {
    global sim there back setting
    $there set delay_ [draw]
    $back set delay_ [draw]
    $sim at [expr {[$sim now] + $setting(-interval)}] redraw
}
if {$setting(-tau) > 0} {
    $sim at 0.0 redraw
}

set sender [new Agent/TCP/$setting(-agent)]
# Only a receiver that sends SACK blocks serves a sender that wants them.
if {$setting(-agent) eq "Sack1"} {
    set sink [new Agent/TCPSink/Sack1]
} else {
    set sink [new Agent/TCPSink]
}
$sim attach-agent $source $sender
$sim attach-agent $destination $sink
$sim connect $sender $sink
set transfer [new Application/FTP]
$transfer attach-agent $sender
$sim at $setting(-start) "$transfer start"
if {$setting(-trace) ne ""} {
    set trace [open $setting(-trace) w]
    $sim trace-queue $r2 $destination $trace
}
set hop [$sim monitor-queue $r1 $r2 ""]

proc report {} {
    global setting sender hop drawn clipped trace
    if {[info exists trace]} {
        close $trace
    }
    set acked [expr {[$sender set ack_] + 1}]
    set seconds [expr {$setting(-stop) - $setting(-start)}]
    set goodput [expr {$acked * $setting(-size) * 8.0 / $seconds / 1e6}]
    puts [format {{"goodput_mbit_s": %.5f, "packets_sent": %d, "retransmitted": %d,\
 "timeouts": %d, "window_cuts": %d, "queue_drops": %d, "delays_drawn": %d, "clipped": %d}} \
        $goodput [$sender set ndatapack_] [$sender set nrexmitpack_] [$sender set nrexmit_] \
        [$sender set ncwndcuts_] [$hop set pdrops_] $drawn $clipped]
    exit 0
}
$sim at $setting(-stop) report
$sim run
