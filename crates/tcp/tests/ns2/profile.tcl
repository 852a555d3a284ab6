# What ns-2's one-way Reno says of itself, and when its packets leave over a path that carries nothing
# back; crates/tcp/tests/ns2_profile.rs sets the ns2 profile beside it.
set ns [new Simulator]
set agent [new Agent/TCP/Reno]
foreach name {
    window_ windowInit_ windowInitOption_ windowOption_ numdupacks_ singledup_ syn_ delay_growth_
    rtxcur_init_ minrto_ maxrto_ tcpTick_ timestamps_ ecn_ QOption_ slow_start_restart_ packetSize_
    bugFix_ rfc2988_ frto_enabled_ sfrto_enabled_ decrease_num_ increase_num_ numdupacksFrac_
} {
    puts "variable $name [$agent set $name]"
}
puts "variable generateDSacks_ [Agent/TCPSink set generateDSacks_]"
puts "variable maxSackBlocks_ [Agent/TCPSink set maxSackBlocks_]"

# A path whose way there loses everything: the agent is left to its timer for a day.
set one [$ns node]
set other [$ns node]
$ns simplex-link $one $other 10Mb 1ms DropTail
$ns simplex-link $other $one 10Mb 1ms DropTail
set loss [new ErrorModel]
$loss set rate_ 1
$loss drop-target [new Agent/Null]
$ns lossmodel $loss $one $other
set sink [new Agent/TCPSink]
$ns attach-agent $one $agent
$ns attach-agent $other $sink
$ns connect $agent $sink
set ftp [new Application/FTP]
$ftp attach-agent $agent
set sent 0
# Tenths of a second while the timeout doubles, whole ones after that.
proc look {} {
    global ns agent sent
    set now [$ns now]
    set count [expr {[$agent set ndatapack_] + [$agent set nrexmitpack_]}]
    if {$count > $sent} {
        puts "packet [format %.1f $now]"
        set sent $count
    }
    $ns at [expr {$now + ($now < 300 ? 0.1 : 1)}] look
}
$ns at 0.05 look
$ns at 0 "$ftp start"
$ns at 20000 "exit 0"
$ns run
