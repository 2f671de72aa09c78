//! The command line, and the directories it leads to.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::builder::FalseyValueParser;
use countersign_domain::hash;
use directories::{ProjectDirs, UserDirs};

use crate::graphics::Graphics;

/// The log goes to standard error instead of a file when this is `stderr`.
pub(crate) const LOG_VARIABLE: &str = "COUNTERSIGN_LOG";
/// A password for starts that nobody attends.
pub(crate) const PASSWORD_VARIABLE: &str = "COUNTERSIGN_PASSWORD";

const VARIABLES: &str = "Environment:
  COUNTERSIGN_<SETTING>  overrides a setting of the file, such as COUNTERSIGN_QUEUE_MAXSIZE
  COUNTERSIGN_PASSWORD   the password, for starts that nobody attends; it is not asked for then. Child processes inherit it:
                         prefer the keyring where a person signs in
  COUNTERSIGN_NO_KEYRING 1: the keyring is not used; the keys are in a file beside each journal, and no password is kept
  COUNTERSIGN_LOG        stderr: the log goes to standard error instead of <data directory>/log/countersign.jsonl";

/// What can be said when the application is started.
#[derive(Debug, Clone, Parser)]
#[command(name = "countersign", version, about, after_help = VARIABLES)]
pub(crate) struct Args {
    /// Reads the settings from this file, which must exist, instead of config.toml in the configuration directory
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Keeps profiles and settings here
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_CONFIG_DIR")]
    pub(crate) config_dir: Option<PathBuf>,
    /// Keeps journals and the log here; a second application may run beside the first with another directory
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Opens this profile at once
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Does without the keyring: the keys are in a file beside each journal, and no password is kept
    #[arg(long, env = "COUNTERSIGN_NO_KEYRING", value_parser = FalseyValueParser::new())]
    pub(crate) no_keyring: bool,
    /// How the window is drawn; `auto` does without accelerated compositing where there is no graphics card
    #[arg(long, value_enum, default_value_t = Graphics::Auto)]
    pub(crate) graphics: Graphics,
}

/// Where everything of this workstation is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// Profiles and settings.
    pub(crate) config_dir: PathBuf,
    /// Journals, the log and what the webview keeps.
    pub(crate) data_dir: PathBuf,
    /// Where files for the reviewer go.
    pub(crate) export_dir: PathBuf,
    /// Whether the desktop's keyring keeps keys and passwords.
    pub(crate) keyring: bool,
    /// Names this workstation among others of the same person that keep their data elsewhere; `None` for the usual one.
    pub(crate) instance: Option<String>,
}

impl Places {
    /// The directories that were named, or the platform's usual ones.
    pub(crate) fn of(args: &Args) -> Result<Self, String> {
        let usual = ProjectDirs::from("app", "", "Countersign");
        let place = |named: &Option<PathBuf>, usual: Option<&Path>, option: &str| match (named, usual) {
            (Some(named), _) => std::path::absolute(named).map_err(|error| format!("{}: {error}", named.display())),
            (None, Some(usual)) => Ok(usual.to_owned()),
            (None, None) => Err(format!("this login has no home directory: name one with {option}")),
        };
        let config_dir = place(&args.config_dir, usual.as_ref().map(ProjectDirs::config_dir), "--config-dir")?;
        let data_dir = place(&args.data_dir, usual.as_ref().map(ProjectDirs::data_local_dir), "--data-dir")?;
        let elsewhere = args.data_dir.is_some().then(|| short_hash(&data_dir.to_string_lossy()));
        let person = UserDirs::new();
        let export_dir = person.as_ref().map(|person| person.document_dir().unwrap_or_else(|| person.home_dir()));
        let export_dir = export_dir.filter(|directory| directory.is_dir()).unwrap_or(&data_dir).to_owned();
        Ok(Self { config_dir, data_dir, export_dir, keyring: !args.no_keyring, instance: elsewhere })
    }

    /// Makes the data directory, for this login alone.
    pub(crate) fn make(&self) -> Result<(), String> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.data_dir).map_err(|error| format!("{}: cannot be made: {error}", self.data_dir.display()))
    }
}

/// 16 hexadecimal digits of SHA-256: enough to tell the names of one person's things apart.
pub(crate) fn short_hash(text: &str) -> String {
    hash::sha256(text.as_bytes()).to_string().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn another_data_directory_is_another_instance_and_the_usual_one_has_no_name() {
        let at = |data_dir: Option<&str>| {
            let args = Args {
                config: None,
                config_dir: Some("/c".into()),
                data_dir: data_dir.map(Into::into),
                profile: None,
                no_keyring: true,
                graphics: Graphics::Auto,
            };
            Places::of(&args).expect("directories that were named").instance
        };
        assert_ne!(at(Some("/a")), at(Some("/b")));
        assert_eq!(at(Some("/a")), at(Some("/a")));
        assert!(at(Some("/a")).is_some());
    }
}
