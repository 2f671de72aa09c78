//! How a private server lets people in, and how it proves who it is.

use anyhow::{Context, bail, ensure};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tokio::time::Instant;

use super::{PrivatePostgres, READY_POLL, READY_WITHIN};

/// What a server is to be told.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The lines of `pg_hba.conf`, for everybody but the superuser, who always comes in over TCP by SCRAM.
    pub rules: Vec<String>,
    /// Absent: it speaks no TLS.
    pub tls: Option<ServerTls>,
}

/// A server's proof, in PEM.
#[derive(Debug, Clone)]
pub struct ServerTls {
    /// Its certificate, and those between it and its authority.
    pub certificate: String,
    /// The certificate's key.
    pub key: String,
    /// The authority of the certificates that logins are proved with.
    pub client_authority: Option<String>,
}

impl PrivatePostgres {
    /// Connections that begin after this returns are let in this way.
    pub async fn admit(&self, access: &Access) -> anyhow::Result<()> {
        let mut admin = PgConnection::connect(&self.admin_url("postgres")).await.context("connect as the superuser")?;
        let admin_rule = "host all postgres 127.0.0.1/32 scram-sha-256".to_owned();
        let rules: Vec<String> = std::iter::once(admin_rule).chain(access.rules.iter().cloned()).collect();
        self.write(&mut admin, "data/pg_hba.conf", &rules.join("\n")).await?;
        let mut settings = vec![format!("ssl = {}", if access.tls.is_some() { "on" } else { "off" })];
        if let Some(tls) = &access.tls {
            for (file, pem, setting) in [
                ("server.pem", Some(&tls.certificate), "ssl_cert_file"),
                ("server.key", Some(&tls.key), "ssl_key_file"),
                ("client-authority.pem", tls.client_authority.as_ref(), "ssl_ca_file"),
            ] {
                let name = if let Some(pem) = pem {
                    self.write(&mut admin, file, pem).await?;
                    self.directory.join(file).display().to_string()
                } else {
                    String::new()
                };
                settings.push(format!("{setting} = '{name}'"));
            }
        }
        for setting in settings {
            admin.execute(AssertSqlSafe(format!("ALTER SYSTEM SET {setting}"))).await.context(setting)?;
        }
        let asked_at: String = sqlx::query_scalar("SELECT clock_timestamp()::text").fetch_one(&mut admin).await?;
        admin.execute("SELECT pg_reload_conf()").await.context("have the settings taken")?;
        admin.close().await.context("disconnect the superuser")?;
        self.wait_until_reloaded(&asked_at, access.tls.is_some()).await
    }

    /// The server writes its files itself: they have to be its own, and only it knows whose that is.
    async fn write(&self, admin: &mut PgConnection, file: &str, text: &str) -> anyhow::Result<()> {
        ensure!(!text.contains(['\'', '\\', '\t']), "{file} holds what COPY would write another way");
        let path = self.directory.join(file);
        let statement = format!(
            "COPY (SELECT unnest(string_to_array('{}', E'\\n'))) TO PROGRAM 'umask 077; cat >{}'",
            text.trim_end(),
            path.display()
        );
        admin.execute(AssertSqlSafe(statement)).await.with_context(|| format!("write {}", path.display()))?;
        Ok(())
    }

    async fn wait_until_reloaded(&self, asked_at: &str, tls: bool) -> anyhow::Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        while Instant::now() < deadline {
            // A connection has what the server had when it began.
            let mut fresh =
                PgConnection::connect(&self.admin_url("postgres")).await.context("connect as the superuser")?;
            let reloaded: bool = sqlx::query_scalar(
                "SELECT pg_conf_load_time() >= $1::timestamptz AND current_setting('ssl')::boolean = $2",
            )
            .bind(asked_at)
            .bind(tls)
            .fetch_one(&mut fresh)
            .await?;
            fresh.close().await.context("disconnect the superuser")?;
            if reloaded {
                return Ok(());
            }
            tokio::time::sleep(READY_POLL).await;
        }
        bail!("PostgreSQL did not take its new settings within {READY_WITHIN:?}\n{}", self.log_tail())
    }
}
