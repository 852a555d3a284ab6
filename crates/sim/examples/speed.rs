use ackord_events::*;
use ackord_scenario::ScenarioFile;
use ackord_scenario::Way;
use ackord_sim::*;
use ackord_units::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: u64 = a[1].parse().unwrap();
    let leaf = a[2] == "leaf";
    let dur = &a[3];
    let bw = 10 * n;
    let bdp = (bw as f64 * 1e6 * 0.040 / 8.0 / 1500.0) as u64;
    let mut t = format!(
        "version=1\nname='d'\npurpose='x'\nsource='y'\nseed=1\nduration='{dur} s'\n[routers.a]\n[routers.b]\n[tcp]\ncongestion='reno'\nrecovery='newreno'\nack='immediate'\nnagle='off'\nmss='1460 B'\nsack='off'\ntimestamps='off'\nrto_min='200 ms'\nsend_buffer='500 MB'\nreceive_buffer='500 MB'\n"
    );
    if leaf {
        t += &format!(
            "[hosts.l]\ncount={n}\n[hosts.r]\ncount={n}\n[[links]]\nfrom='l-*'\nto='a'\nrate='100 Mbit/s'\ndelay='1 ms'\nqueue={{kind='drop-tail',limit='100000 packets'}}\n[[links]]\nfrom='b'\nto='r-*'\nrate='100 Mbit/s'\ndelay='1 ms'\nqueue={{kind='drop-tail',limit='100000 packets'}}\n[[flows]]\nname='f-*'\nfrom='l-*'\nto='r-*'\nstart={{from='0 s',to='1 s'}}\ntraffic='bulk'\n"
        );
    } else {
        panic!()
    }
    t += &format!(
        "[[links]]\nname='bottleneck'\nfrom='a'\nto='b'\nrate='{bw} Mbit/s'\ndelay='18 ms'\nqueue={{kind='drop-tail',limit='{bdp} packets'}}\nreverse={{queue={{kind='drop-tail',limit='1000000 packets'}}}}\n"
    );
    let s = ScenarioFile::new("x", t)
        .check()
        .map_err(|e| {
            eprintln!("{e}");
        })
        .unwrap();
    let t0 = std::time::Instant::now();
    let mut sim = Simulation::new(&s, 1).unwrap();
    sim.run_until(Time::ZERO + s.duration, &mut NoSink);
    let c = sim.finish(&mut NoSink).unwrap();
    let el = t0.elapsed();
    let i = s.links.iter().position(|l| l.name == "bottleneck").unwrap();
    let st = sim.graph().link_stats(Topology::link_id(i, Way::Forward));
    println!(
        "{n} packets {:?} ns/packet {:.1} util {:.3} cons {:?}",
        st.packets,
        el.as_nanos() as f64 / st.packets as f64,
        (st.bytes * 8) as f64 / (bw as f64 * 1e6 * s.duration.as_secs_f64()),
        c
    );
}
