//! How the window looks and behaves for this reviewer on this computer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[ts(export)]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }
    };
}

choice! {
    /// The colours.
    Theme {
        /// As the desktop says.
        #[default]
        System,
        /// Dark on light.
        Light,
        /// Light on dark.
        Dark,
        /// Black, white and strong lines.
        HighContrast,
    }
}

choice! {
    /// How close rows are.
    Density {
        /// 24 px.
        Compact,
        /// 28 px.
        #[default]
        Regular,
        /// 36 px.
        Comfortable,
    }
}

choice! {
    /// How negative amounts are written.
    Negatives {
        /// `(1,234.56)`
        #[default]
        Parentheses,
        /// `−1,234.56`
        Minus,
    }
}

choice! {
    /// Separators of numbers.
    NumberStyle {
        /// As the desktop's language has them.
        #[default]
        System,
        /// `1,234.56`
        CommaPoint,
        /// `1.234,56`
        PointComma,
        /// `1 234,56`
        SpaceComma,
        /// `1’234.56`
        ApostrophePoint,
    }
}

choice! {
    /// Whether things move.
    Motion {
        /// As the desktop says.
        #[default]
        System,
        /// Nothing moves.
        Reduced,
        /// Progress may move.
        Full,
    }
}

/// What a reviewer prefers. A file holds it; what does not read there is as if it were not set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(default)]
pub struct Preferences {
    /// The colours.
    pub theme: Theme,
    /// How close rows are.
    pub density: Density,
    /// How negative amounts are written.
    pub negatives: Negatives,
    /// Separators of numbers.
    pub numbers: NumberStyle,
    /// Whether things move.
    pub motion: Motion,
    /// The size of everything, in percent; 50 to 300.
    pub zoom_percent: u32,
    /// Whether the desktop is told of what wants attention while the window has no focus.
    pub notifications: bool,
    /// Keys by action, where they are not the shipped ones.
    pub keymap: BTreeMap<String, String>,
    /// Columns, saved views and the like: a JSON document that only the window reads, at most 200,000 bytes.
    pub layout: String,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            density: Density::default(),
            negatives: Negatives::default(),
            numbers: NumberStyle::default(),
            motion: Motion::default(),
            zoom_percent: 100,
            notifications: true,
            keymap: BTreeMap::new(),
            layout: String::new(),
        }
    }
}
