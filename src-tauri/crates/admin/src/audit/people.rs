//! Who is who, as it was at any moment: logins that share a name are of one person.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use countersign_domain::person::folded;

use super::history::CALL_MICROS;

/// The names of a person, folded.
pub(crate) type Names = Arc<BTreeSet<String>>;

/// When a login was given which other names.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// By login: the instants, and the names that held from then on, the login's own among them.
    logins: BTreeMap<String, Vec<(i64, BTreeSet<String>)>>,
    /// All instants, in their order.
    changes: Vec<i64>,
    /// What was asked for before, by the login and how many changes there had been.
    known: HashMap<(String, usize, usize), Names>,
}

impl People {
    /// From `at` on, `login` is also known under these names.
    pub(crate) fn set(&mut self, at: i64, login: &str, also: &[String]) {
        let names = also.iter().map(String::as_str).chain([login]).map(folded).collect();
        self.logins.entry(login.to_owned()).or_default().push((at, names));
        self.changes.push(at);
        self.known.clear();
    }

    /// Every name that the person behind a login surely had for a call that ended at a moment: what was set while it may have been
    /// under way counts only if it changed nothing. `countersign.names_of` in the database says the same of now.
    pub(crate) fn names(&mut self, login: &str, at: i64) -> Names {
        let began = at.saturating_sub(CALL_MICROS);
        let before = self.changes.partition_point(|change| *change <= began);
        let until = self.changes.partition_point(|change| *change <= at).max(before);
        let asked = (login.to_owned(), before, until);
        if let Some(known) = self.known.get(&asked) {
            return Arc::clone(known);
        }
        let mut names = self.names_at(login, began);
        for change in &self.changes[before..until] {
            let then = self.names_at(login, *change);
            names.retain(|name| then.contains(name));
        }
        let names = Arc::new(names);
        self.known.insert(asked, Arc::clone(&names));
        names
    }

    fn names_at(&self, login: &str, at: i64) -> BTreeSet<String> {
        let mut names = BTreeSet::from([folded(login)]);
        let mut others: Vec<&BTreeSet<String>> = self
            .logins
            .values()
            .filter_map(|changes| changes.iter().rev().find(|(since, _)| *since <= at))
            .map(|(_, names)| names)
            .collect();
        loop {
            let before = others.len();
            others.retain(|also| {
                let same = !also.is_disjoint(&names);
                if same {
                    names.extend(also.iter().cloned());
                }
                !same
            });
            if others.len() == before {
                return names;
            }
        }
    }
}

/// What two lists of names have in common.
pub(crate) fn common<'a>(names: &BTreeSet<String>, others: impl IntoIterator<Item = &'a String>) -> Option<&'a str> {
    others.into_iter().map(String::as_str).find(|other| names.contains(&folded(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = CALL_MICROS;

    fn people() -> People {
        let mut people = People::default();
        people.set(10 * MINUTE, "Alice", &["a.smith".to_owned()]);
        people.set(20 * MINUTE, "alice2", &["A.Smith\u{200b}".to_owned(), "al".to_owned()]);
        people.set(30 * MINUTE, "al3", &[" AL ".to_owned()]);
        people.set(40 * MINUTE, "Alice", &[]);
        people
    }

    #[test]
    fn names_are_those_of_their_time_and_lead_to_one_another() {
        let mut people = people();
        let mut names = |login: &str, at: i64| people.names(login, at * MINUTE).iter().cloned().collect::<Vec<_>>();
        assert_eq!(names("alice", 5), ["alice"]);
        assert_eq!(names("Alice", 15), ["a.smith", "alice"]);
        assert_eq!(names("A.Smith", 15), ["a.smith", "alice"]);
        assert_eq!(names("alice", 25), ["a.smith", "al", "alice", "alice2"]);
        assert_eq!(names("al3", 35), ["a.smith", "al", "al3", "alice", "alice2"]);
        assert_eq!(names("alice", 45), ["alice"]);
        assert_eq!(names("alice2", 45), ["a.smith", "al", "al3", "alice2"]);
        let found = people.names("alice", 15 * MINUTE);
        assert_eq!(common(&found, &["x".to_owned(), "A.SMITH".to_owned()]), Some("A.SMITH"));
    }

    #[test]
    fn a_call_that_was_under_way_is_judged_by_what_surely_held() {
        let mut people = people();
        let mut count = |login: &str, at: i64| people.names(login, at).len();
        assert_eq!(count("alice", 10 * MINUTE), 1, "it may have begun before");
        assert_eq!(count("alice", 11 * MINUTE), 2);
        assert_eq!(count("alice", 40 * MINUTE + 1), 1, "the names may have been gone");
    }
}
