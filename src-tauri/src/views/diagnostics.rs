//! Diagnostics, as text for a mail or a ticket: no password, no content, no name of a person, host, profile or directory.

use std::fmt::Write as _;
use std::net::IpAddr;

use countersign_backlog::connect::is_socket_directory;
use countersign_backlog::inspect::Finding;
use countersign_domain::settings::Settings;
use countersign_engine::{Counts, Engine, Now};
use countersign_station::{Configured, Source};
use countersign_wire::{Profile, TlsMode};

use super::{instant, step_name};

/// What the shell knows.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    /// The application's version.
    pub(crate) app_version: String,
    /// It was built for development.
    pub(crate) debug: bool,
    /// The version of what draws the window.
    pub(crate) webview: String,
    /// The operating system.
    pub(crate) system: String,
    /// How the window is drawn.
    pub(crate) graphics: String,
    /// The profile in use.
    pub(crate) profile: Option<Profile>,
    /// How many there are.
    pub(crate) profiles: usize,
    /// The code of why no journal is open.
    pub(crate) trouble: Option<String>,
    /// How many things the reviewer is being told.
    pub(crate) notices: usize,
    /// The keys are in a file.
    pub(crate) keys_in_file: bool,
    /// The keyring may be used.
    pub(crate) keyring: bool,
    /// What runs.
    pub(crate) works: Option<Works>,
    /// The files of the journal with their bytes.
    pub(crate) journal: Vec<(String, u64)>,
    /// What the latest connection test found; nothing if there was none.
    pub(crate) tested: Vec<Finding>,
}

/// What the engine knows, in numbers and codes.
#[derive(Debug, Clone)]
pub(crate) struct Works {
    workstation: String,
    online: bool,
    problem: Option<&'static str>,
    journal_problem: Option<&'static str>,
    next_attempt_in_ms: Option<u64>,
    last_contact: Option<String>,
    policy: Option<(u32, u32)>,
    deck: usize,
    saturated: bool,
    first_lease_ends_in_ms: Option<u64>,
    counts: Counts,
    lost: usize,
}

impl Works {
    pub(crate) fn of(engine: &Engine, now: Now) -> Self {
        let link = engine.link(now);
        Self {
            workstation: engine.workstation().0.to_string(),
            online: link.online,
            problem: link.problem.as_ref().map(countersign_engine::port::BacklogError::code),
            journal_problem: engine.journal_problem().map(|problem| problem.fault.code()),
            next_attempt_in_ms: link.next_attempt_in_ms,
            last_contact: link.last_contact.map(instant),
            policy: engine.standing().map(|standing| (standing.policy_version, standing.policy.lease.longest_ms)),
            deck: engine.deck().count(),
            saturated: engine.saturated(),
            first_lease_ends_in_ms: engine.first_lease_ends_in_ms(now),
            counts: engine.counts(now),
            lost: engine.lost_tasks().len(),
        }
    }
}

/// The text.
pub(crate) fn diagnostics(told: &Diagnostics, configured: &Configured, zoom_percent: u32) -> String {
    let mut text = Text::default();
    text.line("Countersign", &format!("{}{}", told.app_version, if told.debug { ", for development" } else { "" }));
    text.line("WebKitGTK", &told.webview);
    text.line("System", &told.system);
    text.line("Graphics", &format!("{}, zoom {zoom_percent} %", told.graphics));
    text.line("Schema of this release", &countersign_backlog::migrate::latest().to_string());

    text.heading("Connection");
    text.line("Profiles", &told.profiles.to_string());
    match &told.profile {
        Some(profile) => connection(&mut text, profile),
        None => text.line("In use", "none"),
    }
    text.line("Not open because", told.trouble.as_deref().unwrap_or("–"));
    let keys = if told.keys_in_file { "in a file" } else { "in the keyring" };
    text.line("Keys", if told.works.is_some() { keys } else { "–" });
    text.line("Keyring", if told.keyring { "used" } else { "switched off" });
    text.line("Notices", &told.notices.to_string());
    for finding in &told.tested {
        text.line(&format!("Test {}", step_name(finding.step)), &format!("{:?}", finding.outcome));
    }

    text.heading("Work");
    match &told.works {
        Some(works) => work(&mut text, works),
        None => text.line("Journal", "not open"),
    }
    for (name, bytes) in &told.journal {
        text.line(name, &format!("{bytes} bytes"));
    }

    text.heading("Settings");
    for (name, ..) in Settings::TABLE {
        let source = match configured.source(name) {
            Source::Default => "default",
            Source::File => "file",
            Source::Environment => "environment",
        };
        let value = configured.settings.get(name).unwrap_or_default();
        text.line(name, &format!("{value} ({source})"));
    }
    text.0
}

fn connection(text: &mut Text, profile: &Profile) {
    text.line("Host", &host(&profile.host));
    text.line("Port", &profile.port.to_string());
    text.line("Login", &initial(&profile.user));
    text.line("TLS", if profile.tls == TlsMode::VerifyFull { "verify-full" } else { "off" });
    text.line("Root certificate", named(profile.root_certificate.as_ref()));
    text.line("Client certificate", named(profile.client_certificate.as_ref()));
}

fn work(text: &mut Text, works: &Works) {
    text.line("Workstation", &works.workstation);
    text.line("Online", if works.online { "yes" } else { "no" });
    text.line("Last problem", works.problem.unwrap_or("–"));
    text.line("Journal problem", works.journal_problem.unwrap_or("–"));
    text.line("Next attempt", &ms(works.next_attempt_in_ms));
    text.line("Last answer", works.last_contact.as_deref().unwrap_or("–"));
    match works.policy {
        Some((version, longest_ms)) => {
            text.line("Policy", &format!("version {version}, leases of {longest_ms} ms at most"));
        }
        None => text.line("Policy", "not heard of yet"),
    }
    text.line("Deck", &format!("{}{}", works.deck, if works.saturated { ", full" } else { "" }));
    text.line("First lease ends in", &ms(works.first_lease_ends_in_ms));
    let Counts { held, ready, sending, committed, refused, dead } = works.counts;
    text.line(
        "Outbox",
        &format!(
            "{held} held, {ready} ready, {sending} sending, {committed} committed, {refused} refused, {dead} dead"
        ),
    );
    text.line("Lost tasks", &works.lost.to_string());
}

fn ms(duration_ms: Option<u64>) -> String {
    duration_ms.map_or_else(|| "–".to_owned(), |duration_ms| format!("{duration_ms} ms"))
}

fn named(file: Option<&String>) -> &'static str {
    if file.is_some() { "named" } else { "none" }
}

/// No more than the first label of a name: the rest says whose it is.
fn host(host: &str) -> String {
    if is_socket_directory(host) {
        return "a socket".to_owned();
    }
    if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return "an address".to_owned();
    }
    match host.split_once('.') {
        Some((first, _)) => format!("{first}.…"),
        None => host.to_owned(),
    }
}

fn initial(user: &str) -> String {
    user.chars().next().map_or_else(String::new, |first| format!("{first}…"))
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn heading(&mut self, heading: &str) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.0, "\n{heading}");
    }

    fn line(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.0, "  {name}: {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_a_login_are_hardly_told() {
        for (given, told) in [
            ("db.example.com", "db.…"),
            ("ledger", "ledger"),
            ("10.1.2.3", "an address"),
            ("[::1]", "an address"),
            ("/home/alice/sockets", "a socket"),
        ] {
            assert_eq!(host(given), told);
        }
        assert_eq!((initial("alice").as_str(), initial("").as_str()), ("a…", ""));
    }
}
