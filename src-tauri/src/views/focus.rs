//! What fills the deck, in the window's words and back.

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::focus;
use countersign_domain::money::{Currency, parse_decimal};
use countersign_engine::{Engine, Now};
use countersign_wire::{CommandError, ExtendReply, Focus, FocusView};

use super::{count, error, instant, span};

/// What is shown of no focus.
const EVERYTHING: &str = "Everything";

/// The focus in force.
pub(crate) fn focus(engine: &Engine, _: Now) -> FocusView {
    match engine.focus() {
        Some(focus) => FocusView { focus: Some(view(focus)), label: label(focus), outside: count(engine.outside()) },
        None => no_focus(),
    }
}

/// Without an open journal there is none.
pub(crate) fn no_focus() -> FocusView {
    FocusView { focus: None, label: EVERYTHING.to_owned(), outside: 0 }
}

/// A focus in a few words.
pub(crate) fn label(focus: &focus::Focus) -> String {
    let kinds: Vec<String> = focus.kinds.iter().map(|kind| kind.module().plural().to_owned()).collect();
    let tiers: Vec<String> = focus.tiers.iter().map(|tier| tier.as_str().to_owned()).collect();
    let lists = [&focus.entities, &kinds, &tiers, &focus.counterparties, &focus.currencies];
    let amount = match (focus.amount_from, focus.amount_to) {
        (None, None) => None,
        (Some(from), None) => Some(format!("from {from}")),
        (None, Some(to)) => Some(format!("up to {to}")),
        (Some(from), Some(to)) => Some(format!("{from} to {to}")),
    };
    let due = match (focus.due_from, focus.due_to) {
        (None, None) => None,
        (Some(from), None) => Some(format!("due from {from}")),
        (None, Some(to)) => Some(format!("due by {to}")),
        (Some(from), Some(to)) => Some(format!("due {from} to {to}")),
    };
    let at_most = focus.at_most.map(|most| format!("at most {most}"));
    let said = lists.into_iter().filter_map(|list| shortened(list)).chain(amount).chain(due).chain(at_most);
    let said: Vec<String> = said.collect();
    if said.is_empty() { EVERYTHING.to_owned() } else { said.join(", ") }
}

fn shortened(list: &[String]) -> Option<String> {
    match list {
        [] => None,
        [one] => Some(one.clone()),
        [first, rest @ ..] => Some(format!("{first} and {} more", rest.len())),
    }
}

fn view(focus: &focus::Focus) -> Focus {
    Focus {
        entities: focus.entities.clone(),
        kinds: focus.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
        tiers: focus.tiers.iter().map(|tier| tier.as_str().to_owned()).collect(),
        counterparties: focus.counterparties.clone(),
        currencies: focus.currencies.clone(),
        amount_from: focus.amount_from.map(|amount| amount.to_string()),
        amount_to: focus.amount_to.map(|amount| amount.to_string()),
        due_from: focus.due_from.map(|day| day.to_string()),
        due_to: focus.due_to.map(|day| day.to_string()),
        at_most: focus.at_most,
    }
}

/// A focus as the engine takes it. One that lets everything through is one, too.
pub(crate) fn read_focus(focus: Focus) -> Result<focus::Focus, CommandError> {
    for (what, list) in [("kinds", &focus.kinds), ("tiers", &focus.tiers)] {
        if list.len() > focus::NAMES {
            return Err(unreadable(&format!("{} {what} are named", list.len())));
        }
    }
    for code in &focus.currencies {
        code.parse::<Currency>().map_err(|reason| unreadable(&reason.to_string()))?;
    }
    let decimal = |text: Option<String>| {
        text.map(|text| parse_decimal(&text).map_err(|reason| unreadable(&reason.to_string()))).transpose()
    };
    let day = |text: Option<String>| {
        let read = |text: String| {
            let shown: String = text.chars().take(40).collect();
            text.parse::<NaiveDate>().map_err(|_| unreadable(&format!("`{shown}` is no day such as 2026-10-05")))
        };
        text.map(read).transpose()
    };
    let focus = focus::Focus {
        entities: focus.entities,
        kinds: focus
            .kinds
            .iter()
            .map(|kind| kind.parse().map_err(|reason: String| unreadable(&reason)))
            .collect::<Result<_, _>>()?,
        tiers: focus
            .tiers
            .iter()
            .map(|tier| tier.parse().map_err(|reason: String| unreadable(&reason)))
            .collect::<Result<_, _>>()?,
        counterparties: focus.counterparties,
        currencies: focus.currencies,
        amount_from: decimal(focus.amount_from)?,
        amount_to: decimal(focus.amount_to)?,
        due_from: day(focus.due_from)?,
        due_to: day(focus.due_to)?,
        at_most: focus.at_most,
    };
    Ok(focus)
}

fn unreadable(reason: &str) -> CommandError {
    error("FOCUS_UNREADABLE", format!("{reason}; the focus stays as it was."))
}

/// What extending came to.
pub(crate) fn extended(
    asked_ms: u32,
    stand: usize,
    lost: usize,
    granted_ms: Option<u32>,
    at: DateTime<Utc>,
) -> ExtendReply {
    let until = granted_ms.map(|granted_ms| at + chrono::Duration::milliseconds(i64::from(granted_ms)));
    let stands = match granted_ms {
        None => "You hold no lease that could be extended.".to_owned(),
        Some(granted_ms) if granted_ms < asked_ms => {
            format!("What you hold stays yours for {}, the longest that policy allows.", span(u64::from(granted_ms)))
        }
        Some(granted_ms) => format!("What you hold stays yours for {}.", span(u64::from(granted_ms))),
    };
    let lost_words = match lost {
        0 => None,
        1 => Some("1 partition was taken by a colleague before; its exceptions left the deck.".to_owned()),
        many => Some(format!("{many} partitions were taken by colleagues before; their exceptions left the deck.")),
    };
    let message = [Some(stands), lost_words].into_iter().flatten().collect::<Vec<_>>().join(" ");
    ExtendReply { partitions: count(stand), lost: count(lost), until: until.map(instant), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::samples::at;

    fn named(entities: &[&str], tiers: &[&str]) -> Focus {
        let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        Focus { entities: owned(entities), tiers: owned(tiers), ..Focus::default() }
    }

    #[test]
    fn a_focus_is_told_in_a_few_words() {
        let said = |focus| label(&read_focus(focus).expect("a focus that reads"));
        assert_eq!(said(Focus::default()), "Everything");
        assert_eq!(said(named(&["us-doi-rents"], &["priority"])), "us-doi-rents, priority");
        assert_eq!(said(named(&["us-doi-rents", "b", "c"], &["priority"])), "us-doi-rents and 2 more, priority");
        let amounts = Focus { amount_from: Some("100".into()), amount_to: Some("250.50".into()), ..Focus::default() };
        assert_eq!(said(amounts), "100 to 250.50");
        let due = Focus { due_to: Some("2026-10-31".into()), at_most: Some(50), ..Focus::default() };
        assert_eq!(said(due), "due by 2026-10-31, at most 50");
    }

    #[test]
    fn a_focus_comes_back_as_it_was_asked_for() {
        let asked = Focus {
            kinds: vec!["receipt".into()],
            currencies: vec!["EUR".into()],
            amount_from: Some("10.50".into()),
            due_from: Some("2026-10-01".into()),
            ..named(&["a"], &["escalated"])
        };
        assert_eq!(view(&read_focus(asked.clone()).expect("it reads")), asked);
    }

    #[test]
    fn what_does_not_read_is_told() {
        for (focus, words) in [
            (Focus { kinds: vec!["claims".into()], ..Focus::default() }, "`claims`"),
            (Focus { currencies: vec!["Euro".into()], ..Focus::default() }, "Euro"),
            (Focus { amount_from: Some("1,5".into()), ..Focus::default() }, "1,5"),
            (Focus { due_to: Some("tomorrow".into()), ..Focus::default() }, "`tomorrow`"),
        ] {
            let problem = read_focus(focus).expect_err("it does not read");
            assert!(problem.message.contains(words), "{}", problem.message);
        }
    }

    #[test]
    fn an_extension_tells_what_policy_cut_short_and_what_was_lost() {
        let hour = 3_600_000;
        let all = extended(hour, 3, 0, Some(hour), at(8));
        assert_eq!((all.partitions, all.until.as_deref()), (3, Some("2026-10-05T09:00:00.000Z")));
        assert_eq!(all.message, "What you hold stays yours for 1 hour.");
        let cut = extended(4 * hour, 3, 1, Some(2 * hour), at(8));
        assert!(cut.message.contains("2 hours, the longest that policy allows"), "{}", cut.message);
        assert!(cut.message.contains("1 partition was taken"), "{}", cut.message);
        assert_eq!(extended(hour, 0, 0, None, at(8)).until, None);
    }
}
