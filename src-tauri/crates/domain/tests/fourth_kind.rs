//! A kind that nobody ships, in one module: it is judged, keyed, scored, shown and decided by what that module says, and nothing else had
//! to be changed for it. `tests/tests/fourth_kind.rs` takes the same kind from arrival to effect through the database.

#[path = "fourth_kind/intercompany.rs"]
mod intercompany;

use countersign_domain::calculation::calculation;
use countersign_domain::dead_letter::Cause;
use countersign_domain::evidence::evidence;
use countersign_domain::exception::{Content, Kind};
use countersign_domain::gate::{self, Gate, Rejection};
use countersign_domain::kind::Effect;
use countersign_domain::scoring::{Route, Thresholds, explain, score};
use intercompany::{INTERCOMPANY, KINDS, arrival};
use serde_json::Value;

fn judged(document: &Value) -> Result<Content, Rejection> {
    gate::judge_among(document.to_string().as_bytes(), &KINDS).map(|arrival| arrival.content)
}

#[test]
fn it_passes_the_gates_of_an_installation_that_knows_it_and_of_no_other() {
    let document = arrival(&[], "3");
    let content = judged(&document).expect("a good arrival");
    assert_eq!(
        (content.kind, content.kind.as_str(), content.variance.text().as_str()),
        (INTERCOMPANY, "intercompany", "3")
    );
    let body = gate::judge_among(document.to_string().as_bytes(), &KINDS).expect("a good arrival").body;
    assert_eq!(gate::read_body_among(&body, &KINDS).expect("what was taken in can be read"), content);
    let refused = gate::judge(document.to_string().as_bytes()).expect_err("this release does not ship it");
    assert_eq!((refused.cause, refused.field.as_deref()), (Cause::UnknownValue, Some("kind")));
    assert_eq!(refused.reason, "`intercompany` is none of recon_break, sales_claim, receipt");
    // The others are judged as ever.
    assert!(Kind::ALL.iter().all(|kind| *kind != INTERCOMPANY));
}

#[test]
fn its_own_gates_and_its_key_refuse_with_field_and_cause() {
    for (payload, cause, field, reason) in [
        (("owed_to", "DE01"), Cause::Field, "payload.owed_to", "expected two entities, got `DE01` twice"),
        (("books_of_debtor", "1.5"), Cause::Amount, "payload.books_of_debtor", "`1.5` has 1 decimal places, JPY has 0"),
    ] {
        let refused = judged(&arrival(&[payload], "3")).expect_err(field);
        assert_eq!((refused.cause, refused.field.as_deref(), refused.reason.as_str()), (cause, Some(field), reason));
    }
    let other_day = judged(&arrival(&[("day", "2026-08-31")], "3")).expect_err("another day has another key");
    assert_eq!((other_day.gate, other_day.cause), (Gate::Own, Cause::Key));
    let mut missing = arrival(&[], "3");
    missing["payload"].as_object_mut().expect("an object").remove("day");
    assert_eq!(judged(&missing).expect_err("no day").field.as_deref(), Some("payload.day"));
}

#[test]
fn its_findings_its_evidence_and_its_effects_are_those_of_its_module() {
    let content = judged(&arrival(&[], "3")).expect("a good arrival");
    assert_eq!(score(&content, &Thresholds::default()).route, Route::AutoApprove);
    let opposite = judged(&arrival(&[("books_of_debtor", "-1200")], "3")).expect("a good arrival");
    let explained = explain(&opposite, &Thresholds::default());
    assert_eq!(explained.suggestion.route, Route::RouteReview);
    assert_eq!(explained.suggestion.reasons, ["Both believe that the other one owes."]);
    assert!(explained.rules.iter().any(|rule| rule.rule == "Direction of the debt" && rule.decides));
    let shown = evidence(&content);
    assert_eq!((shown.left, shown.right, shown.lines.len()), ("Debtor", "Creditor", 2));
    assert!(shown.lines.iter().all(|line| shown.differs(line)));
    assert_eq!(calculation(&content)[0].result, "3");
    let posting = Effect::Posting { amount: content.variance, what: "elimination of the difference" };
    assert_eq!(content.kind.module().approving(&content), Some(posting));
    assert_eq!(content.kind.module().rejecting(&content), Effect::Routing { to: "group accounting" });
}
