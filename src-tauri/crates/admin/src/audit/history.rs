//! What was in force when, from the installation's own chain: tables can be changed, what is chained cannot.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::policy::Policy;
use countersign_domain::record::Record;
use countersign_domain::seal::PublicKey;
use serde::Deserialize;
use serde_json::Value;
use sqlx::types::Uuid;

use super::calendar::{Calendar, PeriodDetail};
use super::finding::Finding;
use super::people::People;
use super::rights::{LimitDetail, ReviewerDetail, Rights};

/// A call that had begun before a change may end after it: what it read at its beginning counts. No call takes this long.
pub(crate) const CALL_MICROS: i64 = 60_000_000;

/// A workstation's key as a supervisor confirmed it.
#[derive(Debug, Clone)]
pub(crate) struct Enrolled {
    pub(crate) at: i64,
    pub(crate) key: PublicKey,
    pub(crate) reviewer: String,
}

/// A policy as a record put it in force.
#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) at: i64,
    pub(crate) by: Option<String>,
    pub(crate) policy: Policy,
    pub(crate) document: Value,
    pub(crate) comment: String,
}

/// That sealing began, and what was signed before.
#[derive(Debug, Clone)]
pub(crate) struct Sealing {
    pub(crate) at: i64,
    pub(crate) sign_offs: u64,
    pub(crate) keys: String,
}

/// That a workstation was revoked.
#[derive(Debug)]
pub(crate) struct Revoked {
    pub(crate) at: i64,
    pub(crate) reason: String,
}

/// Everything the installation's chain says.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) enrolled: BTreeMap<(Uuid, u32), Enrolled>,
    pub(crate) revoked: BTreeMap<Uuid, Revoked>,
    pub(crate) policies: BTreeMap<u32, Put>,
    pub(crate) calendar: Calendar,
    retired: BTreeMap<i32, i64>,
    pub(crate) people: People,
    pub(crate) rights: Rights,
    /// There is one in every database of this release.
    pub(crate) sealing: Vec<Sealing>,
    /// When approvals of claims began to carry what they post, and each kind its own effect.
    figures: Option<i64>,
    /// Logins that did something before sealing began: earlier releases left no record of some reviewers.
    early: BTreeSet<String>,
}

#[derive(Deserialize)]
struct EnrolledDetail {
    enrolment: u32,
    public_key: String,
    reviewer: String,
}

#[derive(Deserialize)]
struct LoginDetail {
    login: String,
}

#[derive(Deserialize)]
struct RemediatesDetail {
    login: String,
    remediates: bool,
}

#[derive(Deserialize)]
struct RevokedDetail {
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
struct SealingDetail {
    sign_offs: u64,
    keys_sha256: String,
}

#[derive(Deserialize)]
struct PolicyDetail {
    version: u32,
    document: Value,
    #[serde(default)]
    comment: String,
}

#[derive(Deserialize)]
struct RotatedDetail {
    old: i32,
}

const UNREADABLE: &str = "What it put in force is not known, so that what came after it cannot be judged by it";

impl History {
    /// Takes a record of the installation's chain in, in their order.
    pub(crate) fn take(&mut self, record: &Record<'_>) -> Option<Finding> {
        self.read(record).err().map(|why| {
            Finding::new(format!("the record does not read: {why}"), UNREADABLE)
                .record(record.chain, record.number)
                .event(record.event)
                .by(record.actor)
                .at(record.at)
        })
    }

    fn read(&mut self, record: &Record<'_>) -> Result<(), String> {
        fn detail<'a, T: Deserialize<'a>>(record: &Record<'a>) -> Result<T, String> {
            serde_json::from_str(record.detail.unwrap_or("null")).map_err(|error| error.to_string())
        }
        if self.sealing.is_empty() && record.event != "SEALING_BEGAN" && !self.early.contains(record.actor) {
            self.early.insert(record.actor.to_owned());
        }
        match record.event {
            "WORKSTATION_ENROLLED" => {
                let EnrolledDetail { enrolment, public_key, reviewer } = detail(record)?;
                let workstation = record.workstation.ok_or("it names no workstation")?;
                let mut key = [0; 32];
                hex::decode_to_slice(public_key, &mut key).map_err(|error| error.to_string())?;
                let enrolled = Enrolled { at: record.at, key: PublicKey(key), reviewer };
                if self.enrolled.insert((workstation, enrolment), enrolled).is_some() {
                    return Err(format!("enrolment {enrolment} of this workstation was confirmed before"));
                }
            }
            "WORKSTATION_REVOKED" => {
                let RevokedDetail { reason } = detail(record)?;
                let workstation = record.workstation.ok_or("it names no workstation")?;
                self.revoked.insert(workstation, Revoked { at: record.at, reason });
            }
            "REVIEWER_ADDED" | "REVIEWER_SET" => {
                let detail: ReviewerDetail = detail(record)?;
                self.people.set(record.at, &detail.login, detail.also.as_deref().unwrap_or_default());
                self.rights.set(record.at, detail);
            }
            "REVIEWER_DISABLED" => {
                let LoginDetail { login } = detail(record)?;
                self.rights.disable(record.at, &login);
            }
            "REVIEWER_REMEDIATES" => {
                let RemediatesDetail { login, remediates } = detail(record)?;
                self.rights.remediates(record.at, &login, remediates);
            }
            "LIMIT_SET" => self.rights.limit(record.at, detail::<LimitDetail>(record)?),
            "POLICY_SET" => {
                let PolicyDetail { version, document, comment } = detail(record)?;
                let policy = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
                let put = Put { at: record.at, by: Some(record.actor.to_owned()), policy, document, comment };
                if self.policies.insert(version, put).is_some() {
                    return Err(format!("the policy {version} was put in force before"));
                }
            }
            "PERIOD_ADDED" => self.calendar.add(record.at, detail::<PeriodDetail>(record)?)?,
            "PERIOD_MOVED" | "PERIOD_REOPENED" => self.calendar.moved(record.at, detail::<PeriodDetail>(record)?)?,
            "SEALING_BEGAN" => {
                let SealingDetail { sign_offs, keys_sha256 } = detail(record)?;
                self.sealing.push(Sealing { at: record.at, sign_offs, keys: keys_sha256 });
            }
            "FIGURES_BEGAN" => {
                self.figures.get_or_insert(record.at);
            }
            "AUDIT_KEY_ROTATED" => {
                let RotatedDetail { old } = detail(record)?;
                self.retired.insert(old, record.at);
            }
            _ => {}
        }
        Ok(())
    }

    /// The policy that an installation begins with is the one that no record put in force.
    pub(crate) fn installed_policy(&mut self, policy: Policy) {
        let mut document = serde_json::to_value(&policy).unwrap_or_default();
        // It was installed before there was such a part, which has its defaults since.
        if let Some(fields) = document.as_object_mut() {
            fields.remove("review");
            fields.remove("capture");
        }
        let put = Put { at: i64::MIN, by: None, policy, document, comment: "as installed".to_owned() };
        self.policies.entry(1).or_insert(put);
    }

    pub(crate) fn enrolled(&self, workstation: Uuid, enrolment: u32) -> Option<&Enrolled> {
        self.enrolled.get(&(workstation, enrolment))
    }

    pub(crate) fn revoked(&self, workstation: Uuid) -> Option<i64> {
        self.revoked.get(&workstation).map(|revoked| revoked.at)
    }

    /// When decisions began to be sealed. Without that record, all of them have to be.
    pub(crate) fn sealing_since(&self) -> i64 {
        self.sealing.first().map_or(i64::MIN, |sealing| sealing.at)
    }

    /// Whether something was signed, or took effect, before figures were. Without that record, everything is from after.
    pub(crate) fn before_figures(&self, at: i64) -> bool {
        self.figures.is_some_and(|since| at < since)
    }

    /// Whether a reviewer without a record may be from before there were such records.
    pub(crate) fn early(&self, login: &str) -> bool {
        !self.sealing.is_empty() && self.early.contains(login)
    }

    /// Whether a key of the seal had been retired by the time it was used.
    pub(crate) fn retired(&self, key: i32, at: i64) -> bool {
        self.retired.get(&key).is_some_and(|retired| at > retired.saturating_add(CALL_MICROS))
    }

    /// The policy of a version, and whether it was in force at a moment.
    pub(crate) fn policy(&self, version: u32, at: i64) -> Option<(&Policy, bool)> {
        let Put { at: since, policy, .. } = self.policies.get(&version)?;
        let until = version.checked_add(1).and_then(|next| self.policies.get(&next)).map_or(i64::MAX, |next| next.at);
        Some((policy, *since <= at && at <= until.saturating_add(CALL_MICROS)))
    }
}
