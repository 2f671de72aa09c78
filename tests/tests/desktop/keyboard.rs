//! What a reviewer presses, counted.

use std::cell::Cell;

use thirtyfour::prelude::*;

/// The keyboard of one window. A chord such as Ctrl+A is one keystroke, and so is each letter of a word.
pub(crate) struct Keyboard<'a> {
    window: &'a WebDriver,
    strokes: Cell<usize>,
}

impl<'a> Keyboard<'a> {
    pub(crate) fn new(window: &'a WebDriver) -> Self {
        Self { window, strokes: Cell::new(0) }
    }

    pub(crate) fn strokes(&self) -> usize {
        self.strokes.get()
    }

    pub(crate) async fn press(&self, key: impl Into<TypingData>) -> anyhow::Result<()> {
        self.count(1);
        self.window.action_chain().send_keys(key).perform().await?;
        Ok(())
    }

    pub(crate) async fn chord(&self, held: Key, key: impl Into<TypingData>) -> anyhow::Result<()> {
        self.count(1);
        let chain = self.window.action_chain().key_down(held.clone()).send_keys(key).key_up(held);
        chain.perform().await?;
        Ok(())
    }

    pub(crate) async fn write(&self, text: &str) -> anyhow::Result<()> {
        self.count(text.chars().count());
        self.window.action_chain().send_keys(text).perform().await?;
        Ok(())
    }

    fn count(&self, strokes: usize) {
        self.strokes.set(self.strokes.get() + strokes);
    }
}
