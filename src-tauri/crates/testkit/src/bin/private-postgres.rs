//! Holds a private `PostgreSQL` for another program: prints one line of JSON, and stops the server when standard input ends.

use std::io::Write as _;

use anyhow::Context;
use clap::Parser;
use countersign_testkit::postgres::{PostgresOptions, PrivatePostgres};

/// Starts a private `PostgreSQL`, prints how to reach it as one line of JSON, and runs until standard input ends.
#[derive(Debug, Parser)]
struct Arguments {
    /// Sync every commit, as a real server does.
    #[arg(long)]
    durable: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let server = PrivatePostgres::start(PostgresOptions { durable: arguments.durable }).await?;
    let reach = serde_json::json!({
        "admin_url": server.admin_url("postgres"),
        "port": server.port(),
        "socket_dir": server.socket_dir(),
    });
    let mut output = std::io::stdout();
    writeln!(output, "{reach}").and_then(|()| output.flush()).context("print how to reach the server")?;
    // A thread of its own rather than tokio's standard input, whose blocked read would hold up the end of the runtime.
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Whatever arrives is of no interest, and an unreadable input is as good as an ended one.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = ended.send(());
    });
    tokio::select! {
        _ = end => {}
        interrupted = tokio::signal::ctrl_c() => interrupted.context("listen for an interrupt")?,
    }
    server.stop().await
}
