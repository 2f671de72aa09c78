//! What a workstation keeps on its disk.

use std::path::PathBuf;

use countersign_testkit::proxy::CuttingProxy;

use crate::backlog::Backlog;

/// The directories of one workstation; they outlive the application.
pub(crate) struct Home {
    directory: tempfile::TempDir,
    /// For a start that nobody attends; without it a person has to sign in.
    password: Option<String>,
}

impl Home {
    /// A workstation with one profile, which leads through the proxy.
    pub(crate) fn new(backlog: &Backlog, proxy: &CuttingProxy) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let (name, user, port) = (backlog.name(), &backlog.user, proxy.addr().port());
        let profile = format!(
            "[[profile]]\nname = \"Month-end close\"\nhost = \"127.0.0.1\"\nport = {port}\ndatabase = \"{name}\"\n\
             user = \"{user}\"\ntls = \"disable\"\n"
        );
        std::fs::create_dir(directory.path().join("config"))?;
        std::fs::write(directory.path().join("config").join("profiles.toml"), profile)?;
        Ok(Self { directory, password: Some(backlog.password.clone()) })
    }

    /// The same, where a person signs in.
    pub(crate) fn attended(self) -> Self {
        Self { password: None, ..self }
    }

    pub(crate) fn config_dir(&self) -> PathBuf {
        self.directory.path().join("config")
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// An empty one is none.
    pub(crate) fn password(&self) -> &str {
        self.password.as_deref().unwrap_or_default()
    }

    /// What the application has written into its log.
    pub(crate) fn log(&self) -> String {
        let file = self.data_dir().join("log").join("countersign.jsonl");
        std::fs::read_to_string(file).unwrap_or_else(|reason| reason.to_string())
    }
}
