use std::io::ErrorKind;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::*;

/// Only a defect takes this long.
const BOUND: Duration = Duration::from_secs(10);

struct Echo {
    addr: SocketAddr,
    /// Every byte that arrived, over all connections.
    received: watch::Receiver<Vec<u8>>,
}

async fn echo() -> anyhow::Result<Echo> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let addr = listener.local_addr()?;
    let (seen, received) = watch::channel(Vec::new());
    let seen = Arc::new(seen);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let mut chunk = [0; 1024];
                while let Ok(bytes @ 1..) = socket.read(&mut chunk).await {
                    seen.send_modify(|all| all.extend_from_slice(&chunk[..bytes]));
                    if socket.write_all(&chunk[..bytes]).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    Ok(Echo { addr, received })
}

async fn say(client: &mut TcpStream, text: &str) -> anyhow::Result<String> {
    client.write_all(text.as_bytes()).await?;
    hear(client, text.len()).await
}

async fn hear(client: &mut TcpStream, bytes: usize) -> anyhow::Result<String> {
    let mut heard = vec![0; bytes];
    timeout(BOUND, client.read_exact(&mut heard)).await??;
    Ok(String::from_utf8(heard)?)
}

async fn arrived(echo: &mut Echo, text: &str) -> anyhow::Result<()> {
    timeout(BOUND, echo.received.wait_for(|all| all == text.as_bytes())).await??;
    Ok(())
}

async fn is_reset(client: &mut TcpStream) -> bool {
    match timeout(BOUND, client.read(&mut [0])).await {
        Ok(Err(error)) => error.kind() == ErrorKind::ConnectionReset,
        _ => false,
    }
}

#[tokio::test]
async fn what_passes_is_unchanged_and_counted_and_ends_in_order() -> anyhow::Result<()> {
    let echo = echo().await?;
    let proxy = CuttingProxy::start(echo.addr).await?;
    let mut client = TcpStream::connect(proxy.addr()).await?;
    assert_eq!(say(&mut client, "hello").await?, "hello");
    client.shutdown().await?;
    assert_eq!(timeout(BOUND, client.read(&mut [0])).await??, 0, "an orderly end, no reset");
    let counts = timeout(BOUND, proxy.wait_until(|counts| counts.open == 0)).await?;
    assert_eq!(counts, ProxyCounts { accepted: 1, client_bytes: 5, server_bytes: 5, ..ProxyCounts::default() });
    Ok(())
}

#[tokio::test]
async fn a_cut_resets_what_is_open_ends_what_comes_and_heals() -> anyhow::Result<()> {
    let echo = echo().await?;
    let proxy = CuttingProxy::start(echo.addr).await?;
    let mut client = TcpStream::connect(proxy.addr()).await?;
    say(&mut client, "a").await?;
    proxy.cut();
    assert!(is_reset(&mut client).await);
    // A reset may overtake the end of connecting.
    if let Ok(mut late) = TcpStream::connect(proxy.addr()).await {
        assert!(is_reset(&mut late).await);
    }
    timeout(BOUND, proxy.wait_until(|counts| counts.reset == 2 && counts.open == 0)).await?;
    proxy.pass();
    assert_eq!(say(&mut TcpStream::connect(proxy.addr()).await?, "b").await?, "b");
    Ok(())
}

#[tokio::test]
async fn a_black_hole_holds_everything_until_it_ends() -> anyhow::Result<()> {
    let mut echo = echo().await?;
    let proxy = CuttingProxy::start(echo.addr).await?;
    let mut before = TcpStream::connect(proxy.addr()).await?;
    say(&mut before, "a").await?;
    proxy.black_hole();
    let mut during = TcpStream::connect(proxy.addr()).await?;
    before.write_all(b"b").await?;
    during.write_all(b"c").await?;
    timeout(BOUND, proxy.wait_until(|counts| counts.open == 2)).await?;
    assert_eq!(*echo.received.borrow(), b"a");
    proxy.pass();
    assert_eq!(hear(&mut before, 1).await?, "b");
    assert_eq!(hear(&mut during, 1).await?, "c");
    timeout(BOUND, echo.received.wait_for(|all| all.len() == 3)).await??;
    Ok(())
}

#[tokio::test]
async fn swallowed_replies_leave_the_work_done_and_the_connection_useless() -> anyhow::Result<()> {
    let mut echo = echo().await?;
    let proxy = CuttingProxy::start(echo.addr).await?;
    let mut client = TcpStream::connect(proxy.addr()).await?;
    let mut idle = TcpStream::connect(proxy.addr()).await?;
    proxy.swallow_replies();
    client.write_all(b"commit").await?;
    arrived(&mut echo, "commit").await?;
    let counts = timeout(BOUND, proxy.wait_until(|counts| counts.swallowed_bytes == 6)).await?;
    assert_eq!(counts.server_bytes, 0);
    proxy.pass();
    assert!(is_reset(&mut client).await, "its stream has a hole");
    assert_eq!(say(&mut idle, "b").await?, "b", "a connection that lost nothing goes on");
    Ok(())
}

#[tokio::test]
async fn a_cut_by_client_bytes_lets_exactly_those_through() -> anyhow::Result<()> {
    let mut echo = echo().await?;
    let proxy = CuttingProxy::start(echo.addr).await?;
    let mut client = TcpStream::connect(proxy.addr()).await?;
    proxy.cut_after_client_bytes(4);
    client.write_all(b"abcdef").await?;
    arrived(&mut echo, "abcd").await?;
    let counts = timeout(BOUND, proxy.wait_until(|counts| counts.open == 0)).await?;
    assert_eq!(counts.client_bytes, 4);
    assert_eq!(proxy.mode(), ProxyMode::Cut);
    Ok(())
}

#[tokio::test]
async fn a_cut_by_server_bytes_loses_the_answer_and_not_the_work() -> anyhow::Result<()> {
    for allowed in [0_usize, 2] {
        let mut echo = echo().await?;
        let proxy = CuttingProxy::start(echo.addr).await?;
        let mut client = TcpStream::connect(proxy.addr()).await?;
        let mut bystander = TcpStream::connect(proxy.addr()).await?;
        timeout(BOUND, proxy.wait_until(|counts| counts.open == 2)).await?;
        proxy.cut_after_server_bytes(allowed as u64);
        client.write_all(b"commit").await?;
        arrived(&mut echo, "commit").await?;
        assert_eq!(hear(&mut client, allowed).await?, "commit"[..allowed]);
        assert!(is_reset(&mut client).await);
        assert!(is_reset(&mut bystander).await, "a cut is a cut for everybody");
        assert_eq!(proxy.counts().server_bytes, allowed as u64);
    }
    Ok(())
}

#[tokio::test]
async fn a_planned_cut_can_be_called_off() -> anyhow::Result<()> {
    let echo = echo().await?;
    let proxy = CuttingProxy::start(echo.addr).await?;
    proxy.cut_after_server_bytes(0);
    proxy.pass();
    assert_eq!(say(&mut TcpStream::connect(proxy.addr()).await?, "a").await?, "a");
    Ok(())
}

#[tokio::test]
async fn latency_holds_back_each_direction_by_its_own_time() -> anyhow::Result<()> {
    let echo = echo().await?;
    let proxy = CuttingProxy::start(echo.addr).await?;
    proxy.set_latency(Duration::from_millis(20), Duration::from_millis(40));
    let mut client = TcpStream::connect(proxy.addr()).await?;
    let asked = std::time::Instant::now();
    client.write_all(b"a").await?;
    hear(&mut client, 1).await?;
    assert!(asked.elapsed() >= Duration::from_millis(60), "{:?}", asked.elapsed());
    Ok(())
}
