//! What a client sends, byte for byte.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Listens on a free port and keeps what each connection sent, in the order they came.
pub(crate) struct Listener {
    pub(crate) addr: SocketAddr,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
    task: JoinHandle<()>,
}

/// What answers.
#[derive(Clone)]
pub(crate) enum Behind {
    /// The first bytes of the client are answered with these, each connection with its own; none hangs up at once.
    Script(Vec<Vec<u8>>),
    /// A server.
    Server(SocketAddr),
}

impl Listener {
    pub(crate) async fn start(behind: Behind) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("find a free port")?;
        let addr = listener.local_addr()?;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let task = tokio::spawn(accept(listener, behind, Arc::clone(&heard)));
        Ok(Self { addr, heard, task })
    }

    /// What was sent so far, by connection.
    pub(crate) fn heard(&self) -> Vec<Vec<u8>> {
        self.heard.lock().expect("nothing that holds it can panic").clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, behind: Behind, heard: Arc<Mutex<Vec<Vec<u8>>>>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let index = {
            let mut heard = heard.lock().expect("nothing that holds it can panic");
            heard.push(Vec::new());
            heard.len() - 1
        };
        connections.spawn(carry(client, behind.clone(), index, Arc::clone(&heard)));
    }
}

async fn carry(client: TcpStream, behind: Behind, index: usize, heard: Arc<Mutex<Vec<Vec<u8>>>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let mut server = match behind {
        Behind::Script(answers) => {
            let Some(answer) = answers.get(index).filter(|answer| !answer.is_empty()) else { return };
            let mut first = [0; 4096];
            let Ok(length @ 1..) = from_client.read(&mut first).await else { return };
            keep(&heard, index, &first[..length]);
            if to_client.write_all(answer).await.is_err() {
                return;
            }
            None
        }
        Behind::Server(addr) => {
            let Ok(server) = TcpStream::connect(addr).await else { return };
            let (mut from_server, to_server) = server.into_split();
            tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
            Some(to_server)
        }
    };
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = from_client.read(&mut bytes).await {
        // Kept before it is sent on, so that whoever has an answer finds its question here.
        keep(&heard, index, &bytes[..length]);
        if let Some(server) = &mut server
            && server.write_all(&bytes[..length]).await.is_err()
        {
            return;
        }
    }
}

fn keep(heard: &Mutex<Vec<Vec<u8>>>, index: usize, bytes: &[u8]) {
    heard.lock().expect("nothing that holds it can panic")[index].extend_from_slice(bytes);
}
