use super::*;

/// A workstation that is well.
const WELL: Seen = Seen { online: true, deck: 40, attention: 0, unsent: 0, first_lease_ends_in_ms: Some(900_000) };

fn at(second: u64) -> Duration {
    Duration::from_secs(second)
}

/// What is told to somebody who looks away.
fn away(telling: &mut Telling, seen: Seen, second: u64) -> Option<(Kind, String)> {
    telling.look(seen, at(second), false, true)
}

#[test]
fn nothing_is_told_while_all_is_well_or_somebody_looks_or_nobody_wants_to_know() {
    let mut telling = Telling::default();
    assert_eq!(away(&mut telling, WELL, 0), None);
    let refused = Seen { attention: 2, ..WELL };
    assert_eq!(telling.look(refused, at(5), true, true), None);
    // It was seen in the window.
    assert_eq!(away(&mut telling, refused, 10), None);
    let mut unwanted = Telling::default();
    assert_eq!(unwanted.look(refused, at(0), false, false), None);
}

#[test]
fn each_thing_is_told_once_with_counts_alone() {
    let offline = Seen { online: false, ..WELL };
    for (seen, kind, words) in [
        (Seen { attention: 1, ..WELL }, Kind::Attention, "1 decision needs your attention."),
        (Seen { attention: 3, ..WELL }, Kind::Attention, "3 decisions need your attention."),
        (
            Seen { first_lease_ends_in_ms: Some(120_001), ..offline },
            Kind::Leases,
            "Leases begin to lapse in 3 minutes and cannot be renewed without the network.",
        ),
    ] {
        let mut telling = Telling::default();
        assert_eq!(away(&mut telling, WELL, 0), None);
        assert_eq!(away(&mut telling, seen, 5), Some((kind, words.to_owned())));
        for second in (10..4_000).step_by(5).take_while(|second| *second < 600) {
            assert_eq!(away(&mut telling, seen, second), None, "{second}");
        }
    }
}

#[test]
fn an_outage_is_told_when_it_lasts_and_a_second_one_again() {
    let mut telling = Telling::default();
    let offline = Seen { online: false, unsent: 2, ..WELL };
    assert_eq!(away(&mut telling, offline, 0), None);
    assert_eq!(away(&mut telling, offline, 599), None);
    let (kind, text) = away(&mut telling, offline, 600).expect("ten minutes");
    assert_eq!(kind, Kind::Offline);
    assert_eq!(
        text,
        "No connection to the database for 10 minutes. 2 decisions are kept on this computer and sent by themselves later."
    );
    assert_eq!(away(&mut telling, offline, 2_000), None);
    assert_eq!(away(&mut telling, WELL, 2_005), None);
    assert_eq!(away(&mut telling, offline, 2_010), None);
    assert!(away(&mut telling, offline, 2_610).is_some());
}

#[test]
fn a_deck_that_fills_again_is_told_and_one_that_fills_first_is_not() {
    let mut telling = Telling::default();
    let empty = Seen { deck: 0, ..WELL };
    assert_eq!(away(&mut telling, empty, 0), None);
    assert_eq!(away(&mut telling, WELL, 5), None);
    assert_eq!(away(&mut telling, empty, 10), None);
    assert_eq!(away(&mut telling, WELL, 15), Some((Kind::DeckFilled, "The deck has 40 exceptions again.".to_owned())));
    assert_eq!(away(&mut telling, WELL, 400), None);
}

#[test]
fn more_than_one_thing_is_told_one_after_the_other_and_one_kind_seldom() {
    let mut telling = Telling::default();
    assert_eq!(away(&mut telling, WELL, 0), None);
    let both = Seen { online: false, attention: 1, first_lease_ends_in_ms: Some(60_000), ..WELL };
    assert_eq!(away(&mut telling, both, 5).map(|told| told.0), Some(Kind::Leases));
    assert_eq!(away(&mut telling, both, 10), None);
    assert_eq!(away(&mut telling, both, 35).map(|told| told.0), Some(Kind::Attention));
    // Another refusal is news, but not within five minutes.
    let more = Seen { attention: 2, ..both };
    assert_eq!(away(&mut telling, more, 100), None);
    assert_eq!(away(&mut telling, more, 335), Some((Kind::Attention, "1 decision needs your attention.".to_owned())));
}
