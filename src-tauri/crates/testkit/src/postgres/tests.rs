use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};

use super::*;

/// Set for the process that is going to be killed.
const HOLDER: &str = "COUNTERSIGN_TEST_POSTGRES_HOLDER";

async fn ask(url: &str, question: &'static str) -> anyhow::Result<String> {
    let mut connection = PgConnection::connect(url).await?;
    let answer = sqlx::query_scalar(question).fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(answer)
}

/// The supervisor is another process, so its work can only be looked for.
async fn gone_within_20_s(directory: &Path, port: u16) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if !directory.exists() && TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            return true;
        }
        tokio::time::sleep(READY_POLL).await;
    }
    false
}

#[tokio::test]
async fn a_cluster_answers_with_its_settings_and_leaves_nothing_behind() -> anyhow::Result<()> {
    for (durable, fsync) in [(false, "off"), (true, "on")] {
        let server = PrivatePostgres::start(PostgresOptions { durable }).await?;
        let (directory, port) = (server.directory.clone(), server.port());
        let url = server.admin_url("postgres");
        assert_eq!(ask(&url, "SHOW fsync").await?, fsync);
        assert_eq!(ask(&url, "SHOW timezone").await?, "UTC");
        assert_eq!(ask(&url, "SELECT datcollate FROM pg_database WHERE datname = 'postgres'").await?, "C.UTF-8");
        server.create_database("one").await?;
        server.create_database_from("one", "two").await?;
        assert_eq!(ask(&server.admin_url("two"), "SELECT current_database()::text").await?, "two");
        server.stop().await?;
        assert!(!directory.exists());
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    }
    Ok(())
}

#[tokio::test]
async fn the_socket_and_the_port_both_ask_for_the_password() -> anyhow::Result<()> {
    let server = PrivatePostgres::start(PostgresOptions::default()).await?;
    let socket = PgConnectOptions::new_without_pgpass()
        .socket(server.socket_dir())
        .port(server.port())
        .username("postgres")
        .database("postgres");
    for options in [socket, server.admin_url("postgres").parse()?] {
        assert!(PgConnection::connect_with(&options.clone().password("wrong")).await.is_err());
        PgConnection::connect_with(&options.password(server.password())).await?.close().await?;
    }
    let directory = server.directory.clone();
    drop(server);
    assert!(!directory.exists());
    Ok(())
}

#[tokio::test]
async fn a_killed_parent_takes_the_server_with_it() -> anyhow::Result<()> {
    let test = "postgres::tests::holds_a_server_until_it_is_killed";
    let mut holder = Command::new(std::env::current_exe()?)
        .args(["--exact", test, "--nocapture"])
        .env(HOLDER, "1")
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(holder.stdout.take().context("no standard output")?).lines();
    let held = lines.map_while(Result::ok).find_map(|line| line.split_once("held: ").map(|(_, held)| held.to_owned()));
    holder.kill()?;
    holder.wait()?;
    let (port, directory) =
        held.as_deref().and_then(|held| held.split_once(' ')).context("the holder did not start")?;
    assert!(gone_within_20_s(Path::new(directory), port.parse()?).await);
    Ok(())
}

/// The other process of the test above; on its own it does nothing.
#[tokio::test]
async fn holds_a_server_until_it_is_killed() -> anyhow::Result<()> {
    if std::env::var_os(HOLDER).is_some() {
        let server = PrivatePostgres::start(PostgresOptions::default()).await?;
        println!("held: {} {}", server.port(), server.directory.display());
        std::future::pending::<()>().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_test_database_is_a_copy_of_a_template_made_once_and_goes_with_its_logins() -> anyhow::Result<()> {
    let server = TestServer::acquire().await?;
    let template = format!("template_{}", Uuid::new_v4().simple());
    let prepare = |url: String| async move {
        let mut connection = PgConnection::connect(&url).await?;
        sqlx::query("CREATE TABLE made AS SELECT 'once' AS how").execute(&mut connection).await?;
        Ok(connection.close().await?)
    };
    // The second would fail at CREATE TABLE if it ran.
    let (first, second) = tokio::join!(server.template(&template, prepare), server.template(&template, prepare));
    first.and(second)?;

    let database = TestDatabase::create_from(&template).await?;
    assert_eq!(ask(&database.admin_url(), "SELECT how FROM made").await?, "once");
    let (user, password) = database.login("ann").await?;
    assert_eq!(ask(&database.url_for(&user, &password), "SELECT session_user::text").await?, user);
    let refused = ask(&database.url_for(&user, &password), "SELECT how FROM made").await;
    assert!(refused.is_err(), "a login starts without rights");

    let url = database.admin_url();
    let forgotten = PgConnection::connect(&url).await?;
    drop(database);
    assert!(PgConnection::connect(&url).await.is_err(), "dropped in spite of a connection");
    drop(forgotten);
    let mut connection = PgConnection::connect(&server.admin_url("postgres")).await?;
    let left: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)")
        .bind(&user)
        .fetch_one(&mut connection)
        .await?;
    assert!(!left, "the login is still there");
    connection.close().await?;

    TestDatabase::create().await?.close().await
}
