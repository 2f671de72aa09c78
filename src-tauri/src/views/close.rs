//! The backlog, the close, and when it will be done.

use std::collections::BTreeMap;

use chrono::{DateTime, Local, TimeDelta, TimeZone, Utc};
use countersign_domain::money::{Currency, Money, with_digits};
use countersign_domain::standing::{PeriodState, Standing};
use countersign_domain::totals::{self, Total};
use countersign_engine::port::{self, Close, Hour, Overview, OverviewLine};
use countersign_wire::{
    BacklogGroup, BacklogLine, BacklogTotal, BacklogView, BurnPoint, CaptureDay, CloseLine, ClosePeriod, CloseView,
    CommandError, Projection,
};
use rust_decimal::{Decimal, RoundingStrategy};

use super::{error, instant, span};

/// One hour, in minutes.
const HOUR: i64 = 60;
/// What is projected from less than this, in minutes, is a guess.
const ENOUGH: i64 = 2 * HOUR;
/// A backlog that takes longer than this, in minutes, does not shrink in any way that helps.
const TOO_LONG: i64 = 365 * 24 * HOUR;

/// What is pending.
pub(crate) fn backlog(overview: Overview, stale: Option<&str>) -> Result<BacklogView, CommandError> {
    let all = || overview.lines.iter();
    Ok(BacklogView {
        as_of: instant(overview.at),
        stale: stale.map(str::to_owned),
        groups: groups(&overview.lines)?,
        free: added(all().map(|line| line.free)),
        held: added(all().map(|line| line.held)),
        mine: added(all().map(|line| line.mine)),
        lines: overview.lines.into_iter().map(line).collect(),
        more: overview.more,
    })
}

/// Adds the lines up by entity and tier, over all kinds.
fn groups(lines: &[OverviewLine]) -> Result<Vec<BacklogGroup>, CommandError> {
    let mut members: BTreeMap<(&str, &str), Vec<&OverviewLine>> = BTreeMap::new();
    for line in lines {
        members.entry((&line.entity, line.tier.as_str())).or_default().push(line);
    }
    members.into_iter().map(|((entity, tier), lines)| group(entity, tier, &lines)).collect()
}

fn group(entity: &str, tier: &str, lines: &[&OverviewLine]) -> Result<BacklogGroup, CommandError> {
    let sums = |amount: fn(&OverviewLine) -> Money| {
        totals::totals(lines.iter().map(|line| amount(line))).map_err(|currency| {
            let what = format!("The {currency} amounts of {entity}, {tier}, are too large to be added up exactly.");
            error("TOO_LARGE", format!("{what} Ask the operator to look at them in the database."))
        })
    };
    let (free, held) = (sums(|line| line.free_amount)?, sums(|line| line.held_amount)?);
    let of = |currency: Currency| lines.iter().filter(move |line| line.free_amount.currency == currency);
    let total = |(currency, free): (Currency, Total)| BacklogTotal {
        currency: currency.code().to_owned(),
        minor_units: currency.minor_units(),
        free: added(of(currency).map(|line| line.free)),
        free_amount: with_digits(free.debits, currency),
        held: added(of(currency).map(|line| line.held)),
        held_amount: with_digits(held.get(&currency).copied().unwrap_or_default().debits, currency),
    };
    Ok(BacklogGroup {
        entity: entity.to_owned(),
        tier: tier.to_owned(),
        free: added(lines.iter().map(|line| line.free)),
        held: added(lines.iter().map(|line| line.held)),
        mine: added(lines.iter().map(|line| line.mine)),
        totals: free.into_iter().map(total).collect(),
    })
}

fn added(counts: impl Iterator<Item = u32>) -> u32 {
    counts.fold(0, u32::saturating_add)
}

fn line(line: OverviewLine) -> BacklogLine {
    BacklogLine {
        entity: line.entity,
        kind: line.kind.as_str().to_owned(),
        tier: line.tier.as_str().to_owned(),
        currency: line.free_amount.currency.code().to_owned(),
        minor_units: line.free_amount.currency.minor_units(),
        free: line.free,
        free_amount: line.free_amount.text(),
        held: line.held,
        held_amount: line.held_amount.text(),
        mine: line.mine,
    }
}

/// The period that closes next: the one with the first deadline, or where nobody has set one, with the first last day.
pub(crate) fn next_period(standing: &Standing) -> Option<(ClosePeriod, Option<DateTime<Utc>>)> {
    let open = standing.periods.iter().filter(|period| period.state != PeriodState::Closed);
    let next = open.min_by_key(|period| (period.closes_at.is_none(), period.closes_at, period.last_day))?;
    let state = match next.state {
        PeriodState::Open => "open",
        PeriodState::Closing => "closing",
        PeriodState::Closed => "closed",
    };
    let period =
        ClosePeriod { name: next.name.clone(), state: state.to_owned(), closes_at: next.closes_at.map(instant) };
    Some((period, next.closes_at))
}

/// The beginning of this workstation's day.
pub(crate) fn midnight(now: DateTime<Local>) -> DateTime<Utc> {
    let midnight = now.date_naive().and_time(chrono::NaiveTime::MIN);
    // Where clocks go forward at midnight, the day begins later.
    let began = (0..4).find_map(|hour| Local.from_local_datetime(&(midnight + TimeDelta::hours(hour))).earliest());
    began.unwrap_or(now).with_timezone(&Utc)
}

/// The close at a glance.
pub(crate) fn close(
    close: Close,
    capture: Vec<port::CaptureDay>,
    period: Option<(ClosePeriod, Option<DateTime<Utc>>)>,
    stale: Option<&str>,
) -> CloseView {
    let left = close.lines.iter().map(|line| line.left).fold(0, u32::saturating_add);
    let (period, deadline) = period.map_or((None, None), |(period, deadline)| (Some(period), deadline));
    CloseView {
        as_of: instant(close.at),
        stale: stale.map(str::to_owned),
        period,
        left,
        signed_today: close.lines.iter().map(|line| line.signed).fold(0, u32::saturating_add),
        mine_today: close.lines.iter().map(|line| line.mine).fold(0, u32::saturating_add),
        projection: projection(&close.hours, close.at, left, deadline),
        capture: capture.into_iter().map(capture_day).collect(),
        lines: close
            .lines
            .into_iter()
            .map(|line| CloseLine {
                entity: line.entity,
                tier: line.tier.as_str().to_owned(),
                left: line.left,
                held: line.held,
                signed_today: line.signed,
                mine_today: line.mine,
            })
            .collect(),
        burn_down: close
            .hours
            .into_iter()
            .map(|hour| BurnPoint {
                at: instant(hour.until),
                left: hour.left,
                arrived: hour.arrived,
                decided: hour.decided,
            })
            .collect(),
    }
}

fn capture_day(day: port::CaptureDay) -> CaptureDay {
    let port::CaptureDay { day, receipts, drifting, share, alert } = day;
    CaptureDay { day: day.to_string(), receipts, drifting, share, alert }
}

/// When nothing will be left, if it goes on as it did.
///
/// The pace is the decided less the arrived of the hours in which somebody decided something. When it is done follows from the whole
/// time since the first of these hours, with the pauses and with what arrived in them: people will sleep again.
fn projection(hours: &[Hour], at: DateTime<Utc>, left: u32, deadline: Option<DateTime<Utc>>) -> Option<Projection> {
    let minutes = |hour: &Hour| {
        let over = (at - (hour.until - TimeDelta::hours(1))).num_minutes();
        over.clamp(0, HOUR)
    };
    let net = |hour: &Hour| i64::from(hour.decided) - i64::from(hour.arrived);
    let since: Vec<&Hour> = hours.iter().skip_while(|hour| hour.decided == 0).collect();
    let worked: Vec<&Hour> = since.iter().copied().filter(|hour| hour.decided > 0).collect();
    let worked_minutes: i64 = worked.iter().map(|hour| minutes(hour)).sum();
    if worked_minutes == 0 {
        return None;
    }
    let worked_net: i64 = worked.iter().map(|hour| net(hour)).sum();
    let per_hour = (Decimal::from(worked_net * HOUR) / Decimal::from(worked_minutes))
        .round_dp_with_strategy(1, RoundingStrategy::MidpointAwayFromZero);
    let (all_minutes, all_net): (i64, i64) =
        since.iter().fold((0, 0), |(time, sum), hour| (time + minutes(hour), sum + net(hour)));
    let per_hour = format!("{per_hour:.1}");
    if left > 0 && all_minutes < ENOUGH {
        let words =
            format!("Too early to tell when nothing will be left: {} of work so far.", minutes_text(all_minutes));
        return Some(Projection { per_hour, done_at: None, in_time: None, words });
    }
    let takes = if left == 0 {
        Some(0)
    } else {
        let takes = (all_net > 0).then(|| i64::from(left).saturating_mul(all_minutes) / all_net);
        takes.filter(|takes| *takes <= TOO_LONG)
    };
    let done_at = takes.map(|takes| at + TimeDelta::minutes(takes));
    let in_time = deadline.map(|deadline| done_at.is_some_and(|done_at| done_at <= deadline));
    let words = words(&per_hour, takes, done_at, deadline, left);
    Some(Projection { per_hour, done_at: done_at.map(instant), in_time, words })
}

fn minutes_text(minutes: i64) -> String {
    span(u64::try_from(minutes).unwrap_or(0) * 60_000)
}

fn words(
    per_hour: &str,
    takes: Option<i64>,
    done_at: Option<DateTime<Utc>>,
    deadline: Option<DateTime<Utc>>,
    left: u32,
) -> String {
    if left == 0 {
        return "Nothing is left.".to_owned();
    }
    let (Some(takes), Some(done_at)) = (takes, done_at) else {
        return "At this pace it does not get done: about as many arrive as are decided.".to_owned();
    };
    let minutes = minutes_text;
    let pace = format!("{per_hour} fewer with each hour of work");
    let done = format!("with pauses as before, nothing is left in {}", minutes(takes));
    match deadline {
        None => format!("{pace}; {done}."),
        Some(deadline) if done_at <= deadline => {
            format!("{pace}; {done}, {} before the deadline.", minutes((deadline - done_at).num_minutes()))
        }
        Some(deadline) => {
            format!("{pace}; {done}, {} after the deadline.", minutes((done_at - deadline).num_minutes()))
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::exception::{Kind, RoutingTier};

    use super::*;
    use crate::views::samples::at;

    fn hours(told: &[(u32, u32)]) -> Vec<Hour> {
        let hour = |(n, (arrived, decided)): (usize, &(u32, u32))| Hour {
            until: at(u32::try_from(n).expect("few") + 1),
            arrived: *arrived,
            decided: *decided,
            left: 0,
        };
        told.iter().enumerate().map(hour).collect()
    }

    fn pending(entity: &str, kind: Kind, (free, amount): (u32, &str), held: &str, currency: &str) -> OverviewLine {
        let money = |text: &str| Money {
            amount: text.parse().expect("an amount"),
            currency: currency.parse().expect("a currency"),
        };
        OverviewLine {
            entity: entity.to_owned(),
            kind,
            tier: RoutingTier::Standard,
            free,
            free_amount: money(amount),
            held: 2,
            held_amount: money(held),
            mine: 1,
        }
    }

    #[test]
    fn the_backlog_adds_up_over_kinds_and_never_over_currencies() {
        let lines = vec![
            pending("de-01", Kind::ReconBreak, (3, "9007199254740993.10"), "0.20", "USD"),
            pending("de-01", Kind::Receipt, (4, "0.05"), "1.00", "USD"),
            pending("de-01", Kind::Receipt, (0, "0"), "500", "JPY"),
            pending("fr-01", Kind::Receipt, (1, "7"), "0", "JPY"),
        ];
        let view = backlog(Overview { at: at(8), lines, more: 0 }, None).expect("small sums");
        let counts = |group: &BacklogGroup| (group.entity.clone(), group.free, group.held, group.mine);
        assert_eq!(
            view.groups.iter().map(counts).collect::<Vec<_>>(),
            [("de-01".to_owned(), 7, 6, 3), ("fr-01".to_owned(), 1, 2, 1)]
        );
        assert_eq!((view.free, view.held, view.mine), (8, 8, 4));
        let sums = |total: &BacklogTotal| {
            let BacklogTotal { currency, free, free_amount, held, held_amount, .. } = total.clone();
            (currency, (free, free_amount), (held, held_amount))
        };
        let words = |text: &str| text.to_owned();
        assert_eq!(
            view.groups[0].totals.iter().map(sums).collect::<Vec<_>>(),
            [
                (words("JPY"), (0, words("0")), (2, words("500"))),
                (words("USD"), (7, words("9007199254740993.15")), (4, words("1.20"))),
            ]
        );
    }

    #[test]
    fn what_cannot_be_added_up_exactly_is_said() {
        // Each can be held exactly; eight of them have one digit more.
        let lines = vec![pending("de-01", Kind::Receipt, (1, "9999999999999999999999999999"), "0", "JPY"); 8];
        let refused = backlog(Overview { at: at(8), lines, more: 0 }, None).expect_err("too large");
        assert_eq!(refused.code, "TOO_LARGE");
        assert!(refused.message.contains("JPY amounts of de-01, standard"), "{}", refused.message);
    }

    #[test]
    fn the_pace_is_net_of_arrivals_over_the_hours_of_work() {
        // Nobody worked in the first hour and in the third.
        let hours = hours(&[(50, 0), (5, 25), (2, 0), (3, 13)]);
        let told = projection(&hours, at(4), 28, Some(at(20))).expect("there is something to go by");
        assert_eq!(told.per_hour, "15.0", "30 in two hours of work");
        assert_eq!(told.done_at, Some(instant(at(7))), "28 in three hours, pauses included, and 28 are left");
        assert_eq!(told.in_time, Some(true));
        assert_eq!(
            told.words,
            "15.0 fewer with each hour of work; with pauses as before, nothing is left in 3 hours, 13 hours before the deadline."
        );
        let late = projection(&hours, at(4), 28, Some(at(6))).expect("there is something to go by");
        assert_eq!(late.in_time, Some(false));
        assert!(late.words.ends_with("1 hour after the deadline."), "{}", late.words);
        assert_eq!(projection(&hours, at(4), 28, None).expect("something").in_time, None);
    }

    #[test]
    fn the_hour_that_is_not_over_counts_as_far_as_it_went() {
        let told = projection(&hours(&[(0, 10), (0, 10)]), at(1) + TimeDelta::minutes(30), 10, None);
        assert_eq!(told.expect("something").per_hour, "13.3", "20 in an hour and a half");
    }

    #[test]
    fn less_than_two_hours_are_too_few_to_tell() {
        let told = hours(&[(9, 0), (0, 10), (0, 10)]);
        let early = projection(&told, at(2) + TimeDelta::minutes(59), 10, Some(at(9))).expect("somebody worked");
        assert_eq!((early.done_at, early.in_time), (None, None));
        assert!(early.words.starts_with("Too early to tell"), "{}", early.words);
        let enough = projection(&told, at(3), 10, Some(at(9))).expect("somebody worked");
        assert_eq!((enough.done_at, enough.in_time), (Some(instant(at(4))), Some(true)));
    }

    #[test]
    fn a_backlog_that_does_not_shrink_has_no_end() {
        let told = projection(&hours(&[(20, 10), (0, 5)]), at(2), 100, Some(at(9))).expect("somebody worked");
        assert_eq!((told.per_hour.as_str(), told.done_at, told.in_time), ("-2.5", None, Some(false)));
        assert!(told.words.contains("does not get done"), "{}", told.words);
        let hardly = projection(&hours(&[(0, 1)]), at(1), 4_000_000_000, None).expect("somebody worked");
        assert_eq!(hardly.done_at, None);
    }

    #[test]
    fn without_work_there_is_nothing_to_go_by() {
        assert_eq!(projection(&hours(&[(5, 0), (1, 0)]), at(2), 6, None), None);
        assert_eq!(projection(&[], at(2), 6, None), None);
        let done = projection(&hours(&[(0, 5)]), at(1), 0, Some(at(2))).expect("somebody worked");
        assert_eq!((done.words.as_str(), done.in_time), ("Nothing is left.", Some(true)));
    }

    #[test]
    fn the_day_begins_at_midnight_here() {
        let now = Local::now();
        let began = midnight(now).with_timezone(&Local);
        assert_eq!(began.date_naive(), now.date_naive());
        assert!(began <= now);
    }
}
