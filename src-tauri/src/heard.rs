//! What the database last told of the backlog and the close, for while it cannot be asked. It is kept in memory alone.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_domain::id::ExceptionId;
use countersign_engine::port::{CaptureDay, Close, Overview, Picture};

/// How many pictures are kept; each has at most 4 MB.
const PICTURES: usize = 8;

/// What was heard under one profile.
#[derive(Debug, Default)]
struct Told {
    profile: String,
    overview: Option<Overview>,
    close: Option<(Close, Vec<CaptureDay>)>,
    pictures: VecDeque<(ExceptionId, Picture)>,
}

/// What was heard last. Under another profile nothing of it is told.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<Told>);

impl Heard {
    pub(crate) fn overview(&self, profile: &str) -> Option<Overview> {
        self.of(profile).overview.clone()
    }

    pub(crate) fn keep_overview(&self, profile: &str, overview: Overview) {
        self.of(profile).overview = Some(overview);
    }

    pub(crate) fn close(&self, profile: &str) -> Option<(Close, Vec<CaptureDay>)> {
        self.of(profile).close.clone()
    }

    pub(crate) fn keep_close(&self, profile: &str, close: Close, capture: Vec<CaptureDay>) {
        self.of(profile).close = Some((close, capture));
    }

    pub(crate) fn picture(&self, profile: &str, id: ExceptionId) -> Option<Picture> {
        self.of(profile).pictures.iter().find(|(of, _)| *of == id).map(|(_, picture)| picture.clone())
    }

    pub(crate) fn keep_picture(&self, profile: &str, id: ExceptionId, picture: Picture) {
        let mut told = self.of(profile);
        told.pictures.push_front((id, picture));
        told.pictures.truncate(PICTURES);
    }

    /// The reviewer has left.
    pub(crate) fn forget(&self) {
        *self.told() = Told::default();
    }

    fn of(&self, profile: &str) -> MutexGuard<'_, Told> {
        let mut told = self.told();
        if told.profile != profile {
            *told = Told { profile: profile.to_owned(), ..Told::default() };
        }
        told
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        // Each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::samples::at;

    #[test]
    fn what_was_heard_is_told_under_its_own_profile_until_the_reviewer_leaves() {
        let (heard, overview) = (Heard::default(), Overview { at: at(8), lines: Vec::new(), more: 0 });
        heard.keep_overview("a", overview.clone());
        assert_eq!(heard.overview("a"), Some(overview.clone()));
        heard.forget();
        assert_eq!(heard.overview("a"), None);
        heard.keep_overview("a", overview);
        assert_eq!(heard.overview("b"), None);
        assert_eq!(heard.overview("a"), None, "b has taken its place");
    }

    #[test]
    fn the_latest_pictures_are_kept() {
        let heard = Heard::default();
        let picture = Picture { media_type: "image/png".into(), bytes: vec![1], page_width: 1, page_height: 1 };
        for id in 1..=9 {
            heard.keep_picture("a", ExceptionId(id), picture.clone());
        }
        assert_eq!(heard.picture("a", ExceptionId(1)), None);
        assert_eq!(heard.picture("a", ExceptionId(2)), Some(picture));
    }
}
