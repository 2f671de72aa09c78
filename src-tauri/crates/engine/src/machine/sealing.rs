//! Signing and sealing decisions.

use countersign_domain::id::SignOffKey;
use countersign_domain::seal::{Seal, Statement};
use countersign_domain::sign_off::SignOff;

use super::Engine;

impl Engine {
    /// Decisions of an earlier release were not sealed when they were made.
    pub(super) fn sealed(&self, idempotency_key: &str, sign_off: SignOff) -> SignOff {
        if sign_off.seal.is_some() {
            return sign_off;
        }
        let policy_version = self.standing.as_ref().map_or(sign_off.policy_version, |standing| standing.policy_version);
        let sign_off = SignOff { policy_version, ..sign_off };
        let seal = self.keys.seal(&self.statement(idempotency_key, &sign_off));
        SignOff { seal, ..sign_off }
    }

    /// Seals what is unanswered under the latest enrolment. The signature says that this workstation made the decision as it stands:
    /// one that was changed on the disk has another, and keeps the seal that no longer fits.
    pub(super) fn reseal(&mut self) {
        let stale: Vec<(SignOffKey, Seal)> = self
            .outbox
            .entries()
            .filter(|pending| pending.unanswered())
            .filter_map(|pending| {
                let sign_off = &pending.entry.sign_off;
                let (old, new) = (sign_off.seal?, self.keys.seal(&self.statement(&pending.entry.item.key, sign_off))?);
                (old != new && old.signature == new.signature).then_some((sign_off.key, new))
            })
            .collect();
        for (key, seal) in stale {
            if let Some(pending) = self.outbox.get_mut(key) {
                pending.entry.sign_off.seal = Some(seal);
            }
        }
    }

    fn statement<'a>(&'a self, idempotency_key: &'a str, sign_off: &'a SignOff) -> Statement<'a> {
        Statement {
            idempotency_key,
            content: sign_off.content,
            decision: sign_off.decision,
            reason: sign_off.reason.as_deref(),
            comment: sign_off.comment.as_deref(),
            reviewer: self.reviewer.as_deref().unwrap_or_default(),
            workstation: self.workstation,
            policy_version: sign_off.policy_version,
            decided_at: sign_off.decided_at,
            figure: sign_off.figure,
        }
    }
}
