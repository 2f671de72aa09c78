//! The simulated backlog and the real one do the same.

use countersign_domain::id::{ExceptionId, WorkstationId};
use countersign_engine::port::Hello;
use countersign_testkit::conformance::{self, Facts, Seat, World};
use countersign_testkit::installation::{Installation, Login};
use countersign_testkit::sim::SimBacklog;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use uuid::Uuid;

struct Simulated(SimBacklog);

impl World for Simulated {
    type Backlog = SimBacklog;

    async fn workstation(&self, reviewer: &str) -> Seat<SimBacklog> {
        let backlog = Arc::new(self.0.seen_by(reviewer));
        Seat { backlog, workstation: WorkstationId(Uuid::new_v4()), reviewer: reviewer.to_owned() }
    }

    async fn enqueue(&self, bodies: &[String]) -> Vec<String> {
        bodies.iter().map(|body| self.0.database().enqueue(body).to_owned()).collect()
    }

    async fn lapse(&self) {
        self.0.advance_ms(60_001);
    }

    async fn facts(&self, key: &str) -> Facts {
        let database = self.0.database();
        let item = database.items().find(|item| item.key == key).expect("it was enqueued");
        Facts {
            decided: item.decided.is_some(),
            effect: item.effect.map(|effect| i64::try_from(effect).expect("few effects")),
        }
    }

    async fn given_up(&self) -> Vec<(ExceptionId, u32)> {
        self.0.database().letters().map(|(letter, _)| (letter.exception, letter.attempts)).collect()
    }
}

struct Real {
    installation: Installation,
    logins: Mutex<BTreeMap<String, Login>>,
}

impl World for Real {
    type Backlog = countersign_backlog::PgBacklog;

    async fn workstation(&self, reviewer: &str) -> Seat<Self::Backlog> {
        let mut logins = self.logins.lock().await;
        if !logins.contains_key(reviewer) {
            logins.insert(reviewer.to_owned(), self.installation.reviewer(reviewer).await.expect("a login"));
        }
        let login = &logins[reviewer];
        let (backlog, workstation) = self.installation.workstation(login).await.expect("hello");
        Seat { backlog, workstation, reviewer: login.user.clone() }
    }

    async fn enqueue(&self, bodies: &[String]) -> Vec<String> {
        self.installation.register_vendors(&bodies.join("\n")).await.expect("vendors");
        self.installation.enqueue(bodies).await.expect("enqueue")
    }

    async fn lapse(&self) {
        self.installation.lapse().await.expect("lapse");
    }

    async fn facts(&self, key: &str) -> Facts {
        let sql = "SELECT e.state <> 'PENDING', coalesce(p.effect_no, r.effect_no, d.effect_no)
                   FROM countersign.exception e
                   LEFT JOIN countersign.posting p ON p.exception_id = e.id LEFT JOIN countersign.routing r ON r.exception_id = e.id
                   LEFT JOIN countersign.dispute d ON d.exception_id = e.id
                   WHERE e.idempotency_key = $1";
        let (decided, effect) =
            sqlx::query_as(sql).bind(key).fetch_one(&self.installation.owner).await.expect("it was enqueued");
        Facts { decided, effect }
    }

    async fn given_up(&self) -> Vec<(ExceptionId, u32)> {
        let sql = "SELECT exception_id, attempts FROM countersign.dead_letter WHERE workstation IS NOT NULL";
        let letters: Vec<(i64, i32)> =
            sqlx::query_as(sql).fetch_all(&self.installation.owner).await.expect("the owner may");
        letters.into_iter().map(|(id, attempts)| (ExceptionId(id), attempts.unsigned_abs())).collect()
    }
}

macro_rules! conformance {
    ($($case:ident),+ $(,)?) => {
        mod simulated {
            $(#[tokio::test]
            async fn $case() {
                super::conformance::$case(super::Simulated(super::SimBacklog::new("nobody"))).await;
            })+
        }

        mod real {
            $(#[tokio::test]
            async fn $case() {
                let installation = super::Installation::create().await.expect("a migrated database");
                super::conformance::$case(super::Real { installation, logins: super::Mutex::default() }).await;
            })+
        }
    };
}

conformance!(
    a_lease_hands_out_partitions_in_their_order,
    two_workstations_never_hold_one_partition,
    what_is_held_comes_first,
    a_lost_answer_is_handed_out_anew,
    preparers_are_shut_out,
    a_focus_hands_out_what_it_wants,
    what_a_focus_passes_over_is_not_lost,
    a_group_comes_into_a_focus_whole,
    a_group_is_never_cut,
    a_preparer_signs_nothing_of_the_group,
    what_was_never_leased_cannot_be_signed,
    a_lapsed_but_untaken_lease_still_commits,
    a_lapsed_and_taken_lease_is_superseded,
    a_renewal_takes_up_what_nobody_took,
    what_is_given_back_can_be_claimed_at_once,
    a_decision_sent_twice_has_one_effect,
    effects_follow_the_order_of_places,
    the_first_decision_stands,
    a_changed_exception_is_not_signed,
    a_redelivery_changes_nothing,
    an_old_delivery_does_not_undo_a_correction,
    what_does_not_exist_is_not_eligible,
    an_epoch_belongs_to_its_workstation,
    a_focus_hands_out_what_is_inside,
    a_decision_is_good_as_its_workstation_sealed_it,
    a_lease_can_be_handed_to_a_colleague,
    a_claim_is_approved_with_its_accrual_and_no_other_figure,
    a_receipt_may_be_corrected_and_a_break_may_not,
    what_is_given_up_twice_is_one_letter,
);

/// Keeps the port's greeting in the suite's sight.
#[tokio::test]
async fn somebody_who_is_no_reviewer_is_told_so() {
    use countersign_engine::port::{Backlog as _, Failure, Problem};
    let hello = Hello {
        workstation: WorkstationId(Uuid::new_v4()),
        name: "t".into(),
        app_version: "0".into(),
        settings: "{}".into(),
    };
    let simulated = SimBacklog::new("").hello(&hello).await.expect_err("no reviewer");
    let installation = Installation::create().await.expect("a migrated database");
    let login = installation.reviewer("gone").await.expect("a login");
    let (backlog, _) = installation.workstation(&login).await.expect("hello");
    sqlx::query("UPDATE countersign.reviewer SET active = false")
        .execute(&installation.owner)
        .await
        .expect("the owner may");
    let real = backlog.hello(&hello).await.expect_err("not active any more");
    assert_eq!(
        (simulated.failure, real.failure),
        (Failure::Refused(Problem::NotAReviewer), Failure::Refused(Problem::NotAReviewer))
    );
}
