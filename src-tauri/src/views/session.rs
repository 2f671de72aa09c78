//! The frame around every screen.

use chrono::{DateTime, Utc};
use countersign_domain::settings::Settings;
use countersign_domain::standing::Standing;
use countersign_engine::port::{BacklogError, Failure, Problem};
use countersign_engine::{Counts, Engine, LinkState, Now};
use countersign_wire::{
    ClosePeriod, CommandError, EnrolmentView, LeavingReason, LeavingView, LinkView, Needs, PolicyView, Profile,
    ReasonCode, SessionView,
};

use super::{backlog_error, count, focus_label, instant, ms, next_period};

/// What the shell itself knows.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// What has to be asked, while a connection is being made: what was asked before.
    pub(crate) asking: Option<Needs>,
    /// The profile in use, or the one to complete.
    pub(crate) profile: Option<Profile>,
    /// All of them.
    pub(crate) profiles: Vec<Profile>,
    /// The machine's name.
    pub(crate) workstation: String,
    /// The settings in force.
    pub(crate) settings: Settings,
    /// Why no journal is open.
    pub(crate) trouble: Option<CommandError>,
    /// What the reviewer should know.
    pub(crate) notices: Vec<String>,
    /// The keys are in a file.
    pub(crate) keys_in_file: bool,
    /// What is left of a profile whose station was stopped for good.
    pub(crate) leaving: Option<LeavingView>,
}

/// What the engine knows.
#[derive(Debug, Clone)]
struct Work {
    link: LinkState,
    reviewer: Option<String>,
    deck_count: usize,
    saturated: bool,
    lease_ends_in_ms: Option<u64>,
    counts: Counts,
    warnings: Vec<String>,
    policy: Option<PolicyView>,
    enrolment: Option<EnrolmentView>,
    focus: Option<String>,
    lease_warning_in_ms: Option<u64>,
    offline_until: Option<DateTime<Utc>>,
    longest_lease_ms: Option<u32>,
    period: Option<ClosePeriod>,
    desk: bool,
    scoring: usize,
}

/// What the window has to ask, by the state of a workstation that runs.
///
/// A workstation that was connected once works from its journal, whatever the connection does. Before that there is nothing to work
/// on, and the reviewer can do no better than look at the profile again.
fn needs(link: &LinkState, reviewer: Option<&str>) -> Needs {
    match link.problem.as_ref().map(|problem| problem.failure) {
        _ if link.online => Needs::Nothing,
        Some(Failure::Refused(Problem::BadPassword)) => Needs::Password,
        Some(Failure::Refused(Problem::OtherInstallation)) => Needs::Profile,
        // The window says what it waits for, or what is left.
        Some(Failure::Refused(Problem::NotEnrolled | Problem::Revoked)) => Needs::Nothing,
        Some(_) if reviewer.is_none() => Needs::Profile,
        Some(_) | None => Needs::Nothing,
    }
}

/// The session of a workstation that runs, or of none. `None` as the engine means that none does.
pub(crate) fn session(frame: Frame, engine: Option<(&Engine, Now)>) -> SessionView {
    let work = engine.map(|(engine, now)| Work {
        link: engine.link(now),
        reviewer: engine.reviewer().map(str::to_owned),
        deck_count: engine.deck().count(),
        saturated: engine.saturated(),
        lease_ends_in_ms: engine.first_lease_ends_in_ms(now),
        counts: engine.counts(now),
        warnings: engine.warnings(),
        policy: engine.standing().map(policy),
        enrolment: enrolment(engine, now),
        focus: engine.focus().map(focus_label),
        lease_warning_in_ms: engine.lease_warning_in_ms(now),
        offline_until: engine.offline_until(now),
        longest_lease_ms: engine.standing().map(|standing| standing.policy.lease.longest_ms),
        period: engine.standing().and_then(next_period).map(|(period, _)| period),
        desk: engine.standing().is_some_and(|standing| standing.remediates),
        scoring: engine.scoring_count(),
    });
    let leaving = match engine {
        Some((engine, now)) => frame.profile.as_ref().and_then(|profile| leaving(&profile.name, engine, now)),
        None => frame.leaving.clone(),
    };
    view(frame, work, leaving)
}

/// What is left of a profile whose workstation was revoked.
pub(crate) fn leaving(profile: &str, engine: &Engine, now: Now) -> Option<LeavingView> {
    let problem = engine.link(now).problem.filter(|problem| is(problem, Problem::Revoked))?;
    let counts = engine.counts(now);
    Some(LeavingView {
        reason: LeavingReason::Revoked,
        profile: profile.to_owned(),
        message: backlog_error(&problem).message,
        unsent: count(counts.held + counts.ready + counts.sending + counts.dead),
        export: None,
    })
}

fn is(problem: &BacklogError, which: Problem) -> bool {
    problem.failure == Failure::Refused(which)
}

fn enrolment(engine: &Engine, now: Now) -> Option<EnrolmentView> {
    engine.link(now).problem.filter(|problem| is(problem, Problem::NotEnrolled))?;
    let (workstation, fingerprint) = (engine.workstation().0.to_string(), engine.fingerprint());
    let command = format!("countersign-admin workstation confirm {workstation} {fingerprint}");
    Some(EnrolmentView { workstation, fingerprint, command })
}

fn policy(standing: &Standing) -> PolicyView {
    let reason = |reason: &countersign_domain::policy::ReasonCode| ReasonCode {
        code: reason.code.clone(),
        label: reason.text.clone(),
    };
    PolicyView {
        version: standing.policy_version,
        as_of: instant(standing.at),
        attestation: standing.policy.attestation.clone(),
        reason_codes: standing.policy.reason_codes.iter().map(reason).collect(),
    }
}

fn view(frame: Frame, work: Option<Work>, leaving: Option<LeavingView>) -> SessionView {
    let revoked = leaving.as_ref().is_some_and(|leaving| leaving.reason == LeavingReason::Revoked);
    let without = if revoked { Needs::Nothing } else { Needs::Profile };
    let needed = work.as_ref().map_or(without, |work| needs(&work.link, work.reviewer.as_deref()));
    let link = work.as_ref().map_or(
        LinkView { online: false, problem: frame.trouble, next_attempt_in_ms: None, last_contact: None },
        |work| LinkView {
            online: work.link.online,
            problem: work.link.problem.as_ref().map(backlog_error),
            next_attempt_in_ms: work.link.next_attempt_in_ms.map(ms),
            last_contact: work.link.last_contact.map(instant),
        },
    );
    let counts = work.as_ref().map(|work| work.counts).unwrap_or_default();
    SessionView {
        needs: frame.asking.unwrap_or(needed),
        profile: frame.profile,
        profiles: frame.profiles,
        reviewer: work.as_ref().and_then(|work| work.reviewer.clone()),
        workstation: frame.workstation,
        link,
        queue_maxsize: frame.settings.queue_maxsize,
        deck_count: work.as_ref().map_or(0, |work| count(work.deck_count)),
        saturated: work.as_ref().is_some_and(|work| work.saturated),
        lease_ends_in_ms: work.as_ref().and_then(|work| work.lease_ends_in_ms).map(ms),
        unsent: count(counts.held + counts.ready + counts.sending),
        dead: count(counts.dead),
        attention: count(counts.refused + counts.dead),
        undo_window_ms: frame.settings.undo_window_ms,
        policy: work.as_ref().and_then(|work| work.policy.clone()),
        enrolment: work.as_ref().and_then(|work| work.enrolment.clone()),
        leaving,
        keys_in_file: frame.keys_in_file,
        focus: work.as_ref().and_then(|work| work.focus.clone()),
        lease_warning_in_ms: work.as_ref().and_then(|work| work.lease_warning_in_ms).map(ms),
        offline_until: work.as_ref().and_then(|work| work.offline_until).map(instant),
        longest_lease_ms: work.as_ref().and_then(|work| work.longest_lease_ms),
        period: work.as_ref().and_then(|work| work.period.clone()),
        desk: work.as_ref().is_some_and(|work| work.desk),
        scoring: count(work.as_ref().map_or(0, |work| work.scoring)),
        warnings: frame.notices.into_iter().chain(work.into_iter().flat_map(|work| work.warnings)).collect(),
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_can_answer_is_asked() {
        let refused = |problem| Some(Failure::Refused(problem));
        for (online, failure, reviewer, expected) in [
            (true, None, Some("alice"), Needs::Nothing),
            (false, None, None, Needs::Nothing),
            (false, Some(Failure::Offline), Some("alice"), Needs::Nothing),
            (false, Some(Failure::Offline), None, Needs::Profile),
            (false, refused(Problem::BadPassword), Some("alice"), Needs::Password),
            (false, refused(Problem::BadPassword), None, Needs::Password),
            (false, refused(Problem::OtherInstallation), Some("alice"), Needs::Profile),
            (false, refused(Problem::NotEnrolled), Some("alice"), Needs::Nothing),
            (false, refused(Problem::Revoked), Some("alice"), Needs::Nothing),
            (false, refused(Problem::Tls), Some("alice"), Needs::Nothing),
            (false, refused(Problem::NoDatabase), None, Needs::Profile),
        ] {
            let problem = failure.map(|failure| BacklogError { operation: "connect", failure, message: String::new() });
            let link = LinkState { online, problem, next_attempt_in_ms: None, last_contact: None };
            assert_eq!(needs(&link, reviewer), expected, "{online} {failure:?} {reviewer:?}");
        }
    }
}
