//! Who may sign what: the database decides, whatever a workstation believes.

#[path = "authority/command_line.rs"]
mod command_line;
#[path = "authority/delegation.rs"]
mod delegation;
#[path = "authority/duties.rs"]
mod duties;
#[path = "authority/enrolment.rs"]
mod enrolment;
#[path = "authority/explanations.rs"]
mod explanations;
#[path = "authority/four_eyes.rs"]
mod four_eyes;
#[path = "authority/limits.rs"]
mod limits;
#[path = "authority/names.rs"]
mod names;
#[path = "authority/office.rs"]
mod office;
#[path = "authority/periods.rs"]
mod periods;
#[path = "authority/policies.rs"]
mod policies;
#[path = "authority/reversals.rs"]
mod reversals;
#[path = "authority/snapshots.rs"]
mod snapshots;
