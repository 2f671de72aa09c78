//! What a decision does to the books, for each kind: from arrival to effect, with figures worked out by hand.

#[path = "effects/audit.rs"]
mod audit;
#[path = "effects/entered.rs"]
mod entered;
#[path = "effects/hostile.rs"]
mod hostile;
#[path = "effects/interrupted.rs"]
mod interrupted;
#[path = "effects/limits.rs"]
mod limits;
#[path = "authority/office.rs"]
mod office;
#[path = "effects/paper.rs"]
mod paper;
#[path = "effects/second.rs"]
mod second;
#[path = "effects/stories.rs"]
mod stories;
#[path = "effects/upgraded.rs"]
mod upgraded;
#[path = "effects/written.rs"]
mod written;
