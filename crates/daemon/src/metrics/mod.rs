//! A status in Prometheus' words, and the small server that is asked for it.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`serve_metrics()`] |
//! | `page.rs` | [`Page`]: the text, metric by metric |
//!
//! Names follow Prometheus' convention: base units, `_total` where something is counted since the start.
//! Each answer is made from what the loop has published; nobody who asks reaches the loop.
//!
//! Not there: encryption and passwords: the server listens at the loopback interface unless told otherwise.

mod page;

pub use page::{Compare, Distribution, Labels, Metric, Page, Unit, Values, page};

use crate::{Finding, Severity};
use oxhttp::model::{Body, Method, Response, StatusCode, header::CONTENT_TYPE};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Callers at once; more wait.
const CALLERS: usize = 4;
/// How long a caller may dawdle.
const PATIENCE: Duration = Duration::from_secs(5);
/// What `prometheus-client` writes: OpenMetrics 1.0.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers at `listen` as long as the process lives, each time with the page of the moment.
///
/// # Errors
/// Where the address is not ours or is taken.
pub fn serve_metrics(
    listen: SocketAddr,
    page: impl Fn() -> String + Send + Sync + 'static,
) -> io::Result<()> {
    oxhttp::Server::new(move |request| answer(request.method(), request.uri().path(), &page))
        .bind(listen)
        .with_global_timeout(PATIENCE)
        .with_max_concurrent_connections(CALLERS)
        .spawn()
        .map(drop)
}

/// What is found where the address is not ours or is taken.
pub fn unserved(listen: SocketAddr, error: &io::Error) -> Finding {
    Finding {
        severity: Severity::Warning,
        what: format!("nobody can ask for metrics at {listen}: {error}"),
        advice: "Name another address, or `none`, under [metrics].".to_owned(),
    }
}

fn answer(method: &Method, path: &str, page: impl Fn() -> String) -> Response<Body> {
    let (status, kind, text) = match (method, path) {
        (&Method::GET | &Method::HEAD, "/metrics") => (StatusCode::OK, OPEN_METRICS, page()),
        (_, "/metrics") => {
            (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET is answered\n".to_owned())
        }
        _ => (StatusCode::NOT_FOUND, "text/plain", "it is at /metrics\n".to_owned()),
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind.parse().expect("a header value"));
    response
}

#[cfg(test)]
mod tests;
