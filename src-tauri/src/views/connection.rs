//! A connection that was tried out.

use countersign_backlog::inspect::{Finding, Outcome, Step};
use countersign_wire::{ConnectionTest, TestLine, TestState};

/// What every step found.
pub(crate) fn connection_test(findings: Vec<Finding>) -> ConnectionTest {
    let good = findings.iter().all(|finding| matches!(finding.outcome, Outcome::Passed | Outcome::Warned));
    ConnectionTest { lines: findings.into_iter().map(line).collect(), good }
}

/// The name of a step, for the program.
pub(crate) fn step_name(step: Step) -> &'static str {
    words(step).0
}

/// How a step went.
fn state(outcome: Outcome) -> TestState {
    match outcome {
        Outcome::Passed => TestState::Passed,
        Outcome::Warned => TestState::Warned,
        Outcome::Failed => TestState::Failed,
        Outcome::Skipped => TestState::Skipped,
    }
}

fn line(finding: Finding) -> TestLine {
    let (step, label) = words(finding.step);
    TestLine {
        step: step.to_owned(),
        label: label.to_owned(),
        state: state(finding.outcome),
        message: finding.message,
        remedy: finding.remedy,
    }
}

fn words(step: Step) -> (&'static str, &'static str) {
    match step {
        Step::Name => ("NAME", "Find the server"),
        Step::Port => ("PORT", "Reach the port"),
        Step::Tls => ("TLS", "Check the certificate"),
        Step::Login => ("LOGIN", "Sign in"),
        Step::Role => ("ROLE", "Look up the role"),
        Step::Schema => ("SCHEMA", "Compare the schema"),
        Step::Clock => ("CLOCK", "Compare the clocks"),
        Step::Enrolment => ("ENROLMENT", "Look up this workstation"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_good_enough_and_a_step_that_was_not_tried_is_not() {
        let with = |outcome| {
            let found = |step| Finding { step, outcome: Outcome::Passed, message: "found".into(), remedy: None };
            let mut findings: Vec<Finding> = Step::ALL.into_iter().map(found).collect();
            findings[6].outcome = outcome;
            connection_test(findings)
        };
        for (outcome, good) in
            [(Outcome::Passed, true), (Outcome::Warned, true), (Outcome::Failed, false), (Outcome::Skipped, false)]
        {
            assert_eq!(with(outcome).good, good, "{outcome:?}");
        }
        let lines = with(Outcome::Passed).lines;
        let steps: Vec<&str> = lines.iter().map(|line| line.step.as_str()).collect();
        assert_eq!(steps, ["NAME", "PORT", "TLS", "LOGIN", "ROLE", "SCHEMA", "CLOCK", "ENROLMENT"]);
    }
}
