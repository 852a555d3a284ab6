//! A process with a daemon, which a test starts in the router and does things to.

use ackord_gateway::config::ConfigFile;
use ackord_gateway::{Daemon, News, Wishes};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Not a test: what [`super::Trial::start`] starts.
#[test]
#[ignore = "a process that other tests start"]
fn the_daemon_itself() {
    let Ok(path) = std::env::var("GATEWAY_TEST") else { return };
    let config = ConfigFile::open(&path).expect("it is there").check().expect("it is sound");
    let wishes = Arc::new(Wishes::default());
    let heard = Arc::clone(&wishes);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            match line.expect("text").as_str() {
                "reload" => heard.reload.store(true, Ordering::Relaxed),
                _ => heard.stop.store(true, Ordering::Relaxed),
            }
        }
    });
    let mut daemon = match Daemon::open(config, Some(PathBuf::from(path))) {
        Ok(daemon) => daemon,
        Err(error) => return println!("gateway: {error}"),
    };
    let run = daemon.run(&wishes, |news| match news {
        News::Began(..) => println!("gateway: ready"),
        News::Reloaded(_, reload) => println!("gateway: reloaded {}", reload.changes.len()),
        News::NotReloaded(error) => println!("gateway: not reloaded: {error}"),
        News::Interface(..) | News::Standing(..) | News::Second => {}
    });
    drop(daemon);
    println!("gateway: ended {run:?}");
}
