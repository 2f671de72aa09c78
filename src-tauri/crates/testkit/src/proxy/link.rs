//! One connection through the proxy: two pumps, and a cut that ends both.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use super::{Direction, ProxyMode, Shared};

const CHUNK_BYTES: usize = 64 * 1024;

/// Carries bytes until both sides have closed or the link is reset.
pub(super) async fn run(mut client: TcpStream, mut server: TcpStream, shared: &Shared) {
    // Bytes that wait in the kernel for more would make a cut's place a matter of luck.
    let quick = client.set_nodelay(true).and_then(|()| server.set_nodelay(true));
    let lost_a_reply = AtomicBool::new(false);
    let closed = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let pumps = async {
            tokio::try_join!(
                pump(Direction::ToServer, from_client, to_server, shared, &lost_a_reply),
                pump(Direction::ToClient, from_server, to_client, shared, &lost_a_reply),
            )
        };
        // The cut comes first: a byte sent after `cut()` returned does not pass.
        tokio::select! {
            biased;
            () = broken(shared, &lost_a_reply) => false,
            ended = pumps => ended.is_ok(),
        }
    };
    if !closed || quick.is_err() {
        reset(shared, &[&client, &server]);
    }
}

/// Makes closing these sockets a reset instead of an orderly end.
pub(super) fn reset(shared: &Shared, sockets: &[&TcpStream]) {
    for socket in sockets {
        // It fails only on a socket that the other side has reset already.
        let _ = socket.set_zero_linger();
    }
    shared.counts.send_modify(|counts| counts.reset += 1);
}

/// Returns when this link can carry nothing sensible any more.
async fn broken(shared: &Shared, lost_a_reply: &AtomicBool) {
    let mut mode = shared.mode.subscribe();
    let cut = mode.wait_for(|mode| match mode {
        ProxyMode::Cut => true,
        ProxyMode::Pass => lost_a_reply.load(Ordering::Relaxed),
        ProxyMode::BlackHole | ProxyMode::SwallowReplies => false,
    });
    // An error means that the proxy itself is gone, and this task with it.
    let _ = cut.await;
}

async fn pump(
    direction: Direction,
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    shared: &Shared,
    lost_a_reply: &AtomicBool,
) -> io::Result<()> {
    let mut mode = shared.mode.subscribe();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let bytes = from.read(&mut chunk).await?;
        let latency = shared.latency(direction);
        if latency > Duration::ZERO {
            tokio::time::sleep(latency).await;
        }
        // The mode counts at the moment of forwarding. In a black hole the chunk waits, also the end of the stream.
        let now = *mode.wait_for(|mode| *mode != ProxyMode::BlackHole).await.map_err(io::Error::other)?;
        if now == ProxyMode::SwallowReplies && direction == Direction::ToClient {
            lost_a_reply.store(true, Ordering::Relaxed);
            shared.counts.send_modify(|counts| counts.swallowed_bytes += bytes as u64);
            if bytes == 0 {
                // The end of the replies is lost too: only `broken` ends this link.
                std::future::pending::<()>().await;
            }
            continue;
        }
        if bytes == 0 {
            return to.shutdown().await;
        }
        let passing = shared.admit(direction, bytes);
        to.write_all(&chunk[..passing]).await?;
        shared.counts.send_modify(|counts| match direction {
            Direction::ToServer => counts.client_bytes += passing as u64,
            Direction::ToClient => counts.server_bytes += passing as u64,
        });
        if passing < bytes {
            shared.cut_as_planned();
            return Err(io::ErrorKind::ConnectionReset.into());
        }
    }
}
