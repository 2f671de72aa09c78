//! The gates, one field at a time and two: what is refused, why, and that one fault never hides behind words about another.

mod common;

use common::malformed::{Row, base, malformed};
use common::{change, good};
use countersign_domain::exception::Kind;
use countersign_domain::gate::{Rejection, judge};

const SHAPES: [&str; 5] = ["recon_break", "sales_claim", "by_lines", "apart", "receipt"];

fn refusal(name: &str, rows: &[&Row]) -> Rejection {
    let mut arrival = base(name);
    for (_, pointer, to, ..) in rows {
        change(&mut arrival, pointer, to);
    }
    judge(arrival.to_string().as_bytes()).expect_err(&format!("{rows:?}"))
}

#[test]
fn every_good_arrival_that_is_broken_here_passes() {
    for name in SHAPES {
        judge(base(name).to_string().as_bytes()).unwrap_or_else(|rejection| panic!("{name}: {rejection:?}"));
    }
}

#[test]
fn what_is_malformed_is_refused_with_its_field_its_cause_and_the_exact_reason() {
    let table = malformed();
    assert!(table.len() >= 60, "{}", table.len());
    for kind in Kind::ALL {
        assert!(table.iter().filter(|row| row.0 == kind.as_str()).count() >= 15, "{kind:?}");
    }
    for row in &table {
        let (name, _, _, gate, cause, field, reason) = row;
        let rejection = refusal(name, &[row]);
        assert_eq!((rejection.gate, rejection.cause), (*gate, *cause), "{row:?}: {rejection:?}");
        assert_eq!(rejection.field.as_deref(), Some(*field), "{row:?}: {rejection:?}");
        assert_eq!(rejection.reason, *reason, "{row:?}");
    }
}

#[test]
fn of_two_faults_one_is_told_as_if_it_were_alone() {
    let table = malformed();
    let mut pairs = 0;
    for name in SHAPES {
        let rows: Vec<&Row> = table.iter().filter(|row| row.0 == name).collect();
        for (place, one) in rows.iter().enumerate() {
            for other in &rows[place + 1..] {
                // A fault inside another is not there any more.
                if one.1.starts_with(other.1) || other.1.starts_with(one.1) {
                    continue;
                }
                pairs += 1;
                let both = refusal(name, &[one, other]);
                let told = [one, other].into_iter().any(|(.., gate, cause, field, _)| {
                    (both.gate, both.cause, both.field.as_deref()) == (*gate, *cause, Some(*field))
                });
                assert!(told, "{one:?}\n{other:?}\n{both:?}");
                // In another currency the same amount is wrong in other words, and both may be wrong about one field.
                if one.1 != "/currency" && other.1 != "/currency" && one.5 != other.5 {
                    assert!(both.reason == one.6 || both.reason == other.6, "{one:?}\n{other:?}\n{both:?}");
                }
            }
        }
    }
    assert!(pairs > 2_000, "{pairs}");
}

/// A refusal is the arrival's own: what is delivered beside it is judged as if it were alone.
#[test]
fn no_malformed_arrival_blocks_its_neighbours() {
    for kind in Kind::ALL {
        let fine = good(kind.as_str()).to_string();
        let rows = malformed();
        let lines = rows.iter().map(|row| {
            let mut arrival = base(row.0);
            change(&mut arrival, row.1, &row.2);
            arrival.to_string()
        });
        let lines: Vec<String> = lines.flat_map(|bad| [fine.clone(), bad]).collect();
        let passed = lines.iter().filter(|line| judge(line.as_bytes()).is_ok()).count();
        assert_eq!((passed, lines.len()), (rows.len(), 2 * rows.len()));
    }
}
