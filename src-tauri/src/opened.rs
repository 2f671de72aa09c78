//! Which exceptions the reviewer has looked at in full.

use std::collections::{HashSet, VecDeque};

use countersign_domain::id::{ContentHash, ExceptionId};

/// How many are remembered; the oldest gives way. More than a deck can hold.
const REMEMBERED: usize = 10_000;

/// The contents that were opened. An exception that comes back with another content was not.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    known: HashSet<(ExceptionId, ContentHash)>,
    order: VecDeque<(ExceptionId, ContentHash)>,
}

impl Opened {
    /// Remembers one.
    pub(crate) fn note(&mut self, id: ExceptionId, content: ContentHash) {
        if !self.known.insert((id, content)) {
            return;
        }
        self.order.push_back((id, content));
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// How many of these were opened.
    pub(crate) fn count(&self, contents: &[(ExceptionId, ContentHash)]) -> usize {
        contents.iter().filter(|content| self.known.contains(content)).count()
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::hash::content_hash;

    use super::*;

    #[test]
    fn another_content_was_not_opened_and_the_oldest_gives_way() {
        let mut opened = Opened::default();
        let (one, other) = ((ExceptionId(1), content_hash("a")), (ExceptionId(1), content_hash("b")));
        opened.note(one.0, one.1);
        opened.note(one.0, one.1);
        assert_eq!(opened.count(&[one, other]), 1);
        for id in 0..REMEMBERED {
            opened.note(ExceptionId(i64::try_from(id).expect("small") + 2), content_hash("a"));
        }
        assert_eq!(opened.count(&[one]), 0);
        assert_eq!(opened.order.len(), REMEMBERED);
    }
}
