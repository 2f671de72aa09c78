//! A network that fails on command: a TCP proxy between a client and the real server.
//!
//! What can go wrong between a workstation and its database is a small set, and each of it is a mode here:
//!
//! | mode | the client sees | the server sees |
//! |---|---|---|
//! | pass | a network | a network |
//! | cut | connections reset; new ones end at once | connections reset |
//! | black hole | silence; new connections are accepted into it | silence |
//! | swallow replies | silence | requests, so that commits happen whose answers are lost |
//!
//! Faults are placed by bytes (`cut_after_server_bytes`) and observed by counts (`wait_until`), never by sleeping.

mod link;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// What the proxy does with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyMode {
    /// Forwards both ways.
    Pass,
    /// Resets every connection and ends new ones at once.
    Cut,
    /// Accepts connections and forwards nothing. Bytes wait and go on when the mode changes, as after a hung network.
    BlackHole,
    /// Forwards requests and drops replies. A connection that lost a reply is reset when the mode changes: its stream has a hole.
    SwallowReplies,
}

/// What went through since the proxy started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProxyCounts {
    /// Connections that clients opened, also those ended at once.
    pub accepted: u64,
    /// Connections that are open now.
    pub open: u64,
    /// Connections reset by a cut.
    pub reset: u64,
    /// Bytes forwarded to the server.
    pub client_bytes: u64,
    /// Bytes forwarded to the client.
    pub server_bytes: u64,
    /// Bytes of replies that were dropped.
    pub swallowed_bytes: u64,
}

/// The proxy. Dropping it closes what is open and stops listening.
#[derive(Debug)]
pub struct CuttingProxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
    listener: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    mode: watch::Sender<ProxyMode>,
    counts: watch::Sender<ProxyCounts>,
    plan: Mutex<Plan>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Plan {
    /// How many more bytes may pass before the cut, by direction; absent without a plan.
    client_allowance: Option<u64>,
    server_allowance: Option<u64>,
    client_latency: Duration,
    server_latency: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

impl CuttingProxy {
    /// Listens on a free port of 127.0.0.1 and forwards to `upstream`, passing everything.
    pub async fn start(upstream: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("find a free port for the proxy")?;
        let addr = listener.local_addr().context("read the proxy's address")?;
        let shared = Arc::new(Shared {
            mode: watch::Sender::new(ProxyMode::Pass),
            counts: watch::Sender::new(ProxyCounts::default()),
            plan: Mutex::new(Plan::default()),
        });
        let listener = tokio::spawn(accept(listener, upstream, Arc::clone(&shared)));
        Ok(Self { addr, shared, listener })
    }

    /// Where clients connect.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The mode in force; a planned cut changes it by itself.
    pub fn mode(&self) -> ProxyMode {
        *self.shared.mode.borrow()
    }

    /// The network is whole again. A cut that was planned and did not happen is off.
    pub fn pass(&self) {
        self.shared.enter(ProxyMode::Pass);
    }

    /// Resets every connection and ends new ones at once.
    pub fn cut(&self) {
        self.shared.enter(ProxyMode::Cut);
    }

    /// Accepts connections and forwards nothing.
    pub fn black_hole(&self) {
        self.shared.enter(ProxyMode::BlackHole);
    }

    /// Forwards requests and drops their replies.
    pub fn swallow_replies(&self) {
        self.shared.enter(ProxyMode::SwallowReplies);
    }

    /// Passes `bytes` more bytes from clients, of all connections together, and cuts when the next one comes.
    pub fn cut_after_client_bytes(&self, bytes: u64) {
        self.shared.enter_with(ProxyMode::Pass, Some(bytes), None);
    }

    /// Passes `bytes` more bytes from the server, of all connections together, and cuts when the next one comes.
    ///
    /// With 0, the server has done what it was asked and the first byte of its answer is the one that gets lost.
    pub fn cut_after_server_bytes(&self, bytes: u64) {
        self.shared.enter_with(ProxyMode::Pass, None, Some(bytes));
    }

    /// Holds back whatever is read, by direction. Bytes that come meanwhile go on together, each at least this late.
    pub fn set_latency(&self, client_to_server: Duration, server_to_client: Duration) {
        let mut plan = self.shared.plan();
        plan.client_latency = client_to_server;
        plan.server_latency = server_to_client;
    }

    /// What went through so far.
    pub fn counts(&self) -> ProxyCounts {
        *self.shared.counts.borrow()
    }

    /// Returns once the counts satisfy `reached`; the caller bounds how long that may take.
    pub async fn wait_until(&self, reached: impl FnMut(&ProxyCounts) -> bool) -> ProxyCounts {
        let mut counts = self.shared.counts.subscribe();
        *counts.wait_for(reached).await.expect("the proxy keeps its counts as long as it lives")
    }
}

impl Drop for CuttingProxy {
    fn drop(&mut self) {
        // The links are in the listener's set and end with it.
        self.listener.abort();
    }
}

impl Shared {
    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.plan.lock().expect("nothing that holds the plan can panic")
    }

    fn enter(&self, mode: ProxyMode) {
        self.enter_with(mode, None, None);
    }

    fn enter_with(&self, mode: ProxyMode, client_allowance: Option<u64>, server_allowance: Option<u64>) {
        let mut plan = self.plan();
        plan.client_allowance = client_allowance;
        plan.server_allowance = server_allowance;
        // Under the lock, so that a planned cut which is just happening comes before or after, not in between.
        self.mode.send_replace(mode);
    }

    fn latency(&self, direction: Direction) -> Duration {
        let plan = self.plan();
        match direction {
            Direction::ToServer => plan.client_latency,
            Direction::ToClient => plan.server_latency,
        }
    }

    /// How many of `bytes` may pass. Fewer than asked for means that the planned cut is due once those are through.
    fn admit(&self, direction: Direction, bytes: usize) -> usize {
        let mut plan = self.plan();
        let allowance = match direction {
            Direction::ToServer => &mut plan.client_allowance,
            Direction::ToClient => &mut plan.server_allowance,
        };
        let Some(left) = allowance else { return bytes };
        let passing = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes);
        *left -= passing as u64;
        passing
    }

    /// Cuts, unless somebody has called the plan off since `admit`.
    fn cut_as_planned(&self) {
        let mut plan = self.plan();
        if plan.client_allowance == Some(0) || plan.server_allowance == Some(0) {
            plan.client_allowance = None;
            plan.server_allowance = None;
            self.mode.send_replace(ProxyMode::Cut);
        }
    }
}

async fn accept(listener: TcpListener, upstream: SocketAddr, shared: Arc<Shared>) {
    let mut links = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A client that is gone before it was accepted is none.
                let Ok((client, _)) = accepted else { continue };
                links.spawn(carry(client, upstream, Arc::clone(&shared)));
            }
            Some(_) = links.join_next() => {}
        }
    }
}

/// Counts a link as open for as long as its task lives.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.counts.send_modify(|counts| counts.open -= 1);
    }
}

async fn carry(client: TcpStream, upstream: SocketAddr, shared: Arc<Shared>) {
    shared.counts.send_modify(|counts| {
        counts.accepted += 1;
        counts.open += 1;
    });
    let _open = Open(Arc::clone(&shared));
    let mut mode = shared.mode.subscribe();
    // In a black hole the client's connection exists and nothing behind it does.
    let Ok(now) = mode.wait_for(|mode| *mode != ProxyMode::BlackHole).await.map(|mode| *mode) else { return };
    if now == ProxyMode::Cut {
        link::reset(&shared, &[&client]);
        return;
    }
    let Ok(server) = TcpStream::connect(upstream).await else { return };
    link::run(client, server, &shared).await;
}
