//! What a log may not hold: nothing of an exception's content.
