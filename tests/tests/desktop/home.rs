//! What a workstation keeps on its disk.

use std::path::{Path, PathBuf};

use countersign_testkit::proxy::CuttingProxy;

use crate::backlog::Backlog;
use crate::tour::Look;

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

    /// The same, with settings.
    pub(crate) fn with_settings(self, settings: &str) -> anyhow::Result<Self> {
        std::fs::write(self.config_dir().join("config.toml"), settings)?;
        Ok(self)
    }

    /// The same, where the window was left in this size and theme.
    pub(crate) fn looking_like(self, look: Look) -> anyhow::Result<Self> {
        let Look { theme, size: (width, height) } = look;
        std::fs::create_dir_all(self.data_dir())?;
        std::fs::write(self.data_dir().join("window.json"), format!(r#"{{"width": {width}, "height": {height}}}"#))?;
        std::fs::write(self.config_dir().join("preferences.json"), format!(r#"{{"theme": "{theme}"}}"#))?;
        Ok(self)
    }

    /// The same, where a person signs in.
    pub(crate) fn attended(self) -> Self {
        Self { password: None, ..self }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn config_dir(&self) -> PathBuf {
        self.directory.path().join("config")
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// What was exported for the reviewer.
    pub(crate) fn export(&self) -> anyhow::Result<Option<String>> {
        for file in std::fs::read_dir(self.directory())? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "jsonl") {
                return Ok(Some(std::fs::read_to_string(file)?));
            }
        }
        Ok(None)
    }

    /// The journals and the keys beside them.
    pub(crate) fn journals(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for profile in std::fs::read_dir(self.data_dir())? {
            let profile = profile?.path();
            found.extend(
                ["journal.db", "keys.json"].map(|name| profile.join(name)).into_iter().filter(|file| file.is_file()),
            );
        }
        Ok(found)
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
