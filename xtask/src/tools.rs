//! What the commands need on the machine, how to see whether it is there, and where it comes from.

/// What a command is going to do, and so which tools it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// Compile everything that has no window.
    Build,
    /// Compile the window.
    Window,
    /// Build the UI.
    Node,
    /// Run a private database.
    Postgres,
    /// Show a window where there is no display.
    Screen,
    /// Run the tests, the window's included.
    Tests,
    /// Run the UI's tests in a browser.
    Browser,
    /// Build the installable package.
    TauriCli,
}

/// How to see whether a tool is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// A program on the search path.
    Program(&'static str),
    /// A library that pkg-config knows.
    Library(&'static str),
    /// A header of a library that pkg-config does not know.
    Header(&'static str),
    /// A Debian package without a program or a library.
    Package(&'static str),
    /// A server of a usable version.
    Postgres,
    /// Node of a usable version.
    Node,
}

/// Where a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Packages of Debian and Ubuntu.
    Apt(&'static [&'static str]),
    /// A crate, in the one version that is known to work.
    Cargo(&'static str, &'static str),
    /// Node itself, from the npm registry and for this checkout alone: what the system has is too old.
    Npm,
}

/// One thing that has to be there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) set: Set,
    pub(crate) why: &'static str,
    pub(crate) probe: Probe,
    pub(crate) source: Source,
}

/// The oldest major version of `PostgreSQL` that the schema is written for.
pub(crate) const OLDEST_POSTGRES: u32 = 15;
/// The oldest Node, major and minor, that the UI's build tool runs on.
pub(crate) const OLDEST_NODE: (u32, u32) = (20, 19);
/// The Node that is installed where the system's is older.
pub(crate) const NODE: &str = "22.23.5";

const TOOLS: &[Tool] = &[
    apt(Set::Build, "compiles SQLite and links the programs", Probe::Program("cc"), &["build-essential"]),
    apt(Set::Build, "finds system libraries", Probe::Program("pkg-config"), &["pkg-config"]),
    apt(Set::Window, "shows the UI", Probe::Library("webkit2gtk-4.1"), &["libwebkit2gtk-4.1-dev"]),
    apt(Set::Window, "draws icons", Probe::Library("librsvg-2.0"), &["librsvg2-dev"]),
    apt(Set::Window, "keyboard input for the window's menus", Probe::Header("/usr/include/xdo.h"), &["libxdo-dev"]),
    apt(Set::Window, "TLS for the window's libraries", Probe::Library("openssl"), &["libssl-dev"]),
    apt(Set::Postgres, "the private database, apart from any of the system's", Probe::Postgres, &["postgresql"]),
    apt(Set::Node, "installs the UI's packages", Probe::Program("npm"), &["nodejs", "npm"]),
    Tool { set: Set::Node, why: "builds the UI", probe: Probe::Node, source: Source::Npm },
    apt(Set::Screen, "a display for the window", Probe::Program("Xvfb"), &["xvfb"]),
    apt(Set::Screen, "a session bus for the window", Probe::Program("dbus-launch"), &["dbus-x11"]),
    apt(Set::Screen, "takes pictures of the window", Probe::Program("import"), &["imagemagick"]),
    apt(Set::Screen, "types and clicks in the window", Probe::Program("xdotool"), &["xdotool"]),
    apt(Set::Screen, "letters in the window", Probe::Package("fonts-dejavu-core"), &["fonts-dejavu-core"]),
    apt(Set::Tests, "drives the window", Probe::Program("WebKitWebDriver"), &["webkit2gtk-driver"]),
    apt(Set::Browser, "runs the UI's tests of whole screens", Probe::Program("chromium"), &["chromium"]),
    cargo(Set::Tests, "drives the window", Probe::Program("tauri-driver"), "tauri-driver", "2.1.0"),
    cargo(Set::Tests, "runs the tests", Probe::Program("cargo-nextest"), "cargo-nextest", "0.9.143"),
    cargo(Set::TauriCli, "bundles the application", Probe::Program("cargo-tauri"), "tauri-cli", "2.12.4"),
];

const fn apt(set: Set, why: &'static str, probe: Probe, packages: &'static [&'static str]) -> Tool {
    Tool { set, why, probe, source: Source::Apt(packages) }
}

const fn cargo(set: Set, why: &'static str, probe: Probe, name: &'static str, version: &'static str) -> Tool {
    Tool { set, why, probe, source: Source::Cargo(name, version) }
}

/// The tools of `sets` that are not there.
pub(crate) fn missing(sets: &[Set], is_there: impl Fn(Probe) -> bool) -> Vec<&'static Tool> {
    TOOLS.iter().filter(|tool| sets.contains(&tool.set) && !is_there(tool.probe)).collect()
}

/// The Debian packages of some tools.
pub(crate) fn packages(tools: &[&Tool]) -> Vec<&'static str> {
    let of = |tool: &&Tool| match tool.source {
        Source::Apt(packages) => packages,
        Source::Cargo(..) | Source::Npm => &[],
    };
    tools.iter().flat_map(of).copied().collect()
}

/// The crates of some tools, with their versions.
pub(crate) fn crates(tools: &[&Tool]) -> Vec<(&'static str, &'static str)> {
    let of = |tool: &&Tool| match tool.source {
        Source::Apt(_) | Source::Npm => None,
        Source::Cargo(name, version) => Some((name, version)),
    };
    tools.iter().filter_map(of).collect()
}

/// Whether a version such as `v20.19.1` or `18.19.0+dfsg-6` is new enough to build the UI.
pub(crate) fn node_is_usable(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split(['.', '+', '-', '~']).map(str::parse::<u32>);
    matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST_NODE)
}

/// The major version in `postgres (PostgreSQL) 15.18 (Debian …)`.
pub(crate) fn postgres_major(version: &str) -> Option<u32> {
    let number = version.split_whitespace().nth(2)?;
    let end = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
    number[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headless_demo_asks_for_neither_webkit_nor_node() {
        let missing = missing(&[Set::Build, Set::Postgres], |_| false);
        assert_eq!(packages(&missing), ["build-essential", "pkg-config", "postgresql"]);
        assert!(crates(&missing).is_empty());
    }

    #[test]
    fn only_what_is_not_there_is_installed() {
        let there = |probe| !matches!(probe, Probe::Node | Probe::Program("tauri-driver"));
        let missing = missing(&[Set::Build, Set::Window, Set::Node, Set::Screen, Set::Tests], there);
        assert!(packages(&missing).is_empty(), "npm is there; only Node is too old");
        assert_eq!(missing[0].source, Source::Npm);
        assert_eq!(crates(&missing), [("tauri-driver", "2.1.0")]);
    }

    #[test]
    fn nothing_is_installed_for_a_set_that_was_not_asked_for() {
        assert!(missing(&[], |_| false).is_empty());
    }

    #[test]
    fn node_is_usable_from_20_19_on() {
        for (version, usable) in [
            ("v20.19.0\n", true),
            ("v22.12.0", true),
            ("20.20.2-1nodesource1", true),
            ("v20.9.0", false),
            ("18.19.0+dfsg-6~deb12u2", false),
            ("(none)", false),
            ("", false),
        ] {
            assert_eq!(node_is_usable(version), usable, "{version:?}");
        }
    }

    #[test]
    fn the_major_version_of_postgresql_is_read() {
        assert_eq!(postgres_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(postgres_major("postgres (PostgreSQL) 18beta2"), Some(18));
        assert_eq!(postgres_major("postgres"), None);
    }
}
