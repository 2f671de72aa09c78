//! What was approved is undone by a new exception that others sign.

use countersign_admin::{AdminError, reversal};
use countersign_domain::sign_off::Outcome;

use crate::office::{Office, Paper, grant, supervisor};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_posting_is_reversed_by_others_than_those_who_made_it() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob, carol) = (office.seat("alice").await?, office.seat("bob").await?, office.seat("carol").await?);
    // The one who asks for it is a reviewer too.
    let dora = office.seat("dora").await?;
    grant(&office.installation, "supervisor", dora.user()).await?;
    let url =
        office.installation.database().url_for(dora.user(), secrecy::ExposeSecret::expose_secret(&dora.login.password));
    let as_dora = countersign_admin::Database::from_url(&url)?;
    office.four_eyes(&[("USD", "10.00")]).await?;
    office.take_in(&[Paper::new(1, "p", 1_250)]).await?;
    let key = Paper::new(1, "p", 0).key();
    let pending = reversal::reverse(&as_dora, &key, "a mistake").await.expect_err("it is undecided");
    assert!(pending.to_string().contains("undecided"), "{pending}");

    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond]);
    office.installation.lapse().await?;
    let his = bob.lease().await?;
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed]);
    office.installation.lapse().await?;

    let reversed = reversal::reverse(&as_dora, &key, "a mistake").await?;
    assert_eq!((reversed.amount.as_str(), reversed.currency.as_str()), ("-12.50", "USD"));
    assert_eq!(reversed.barred.len(), 3, "{reversed:?}");
    let words = reversal::describe(&reversed);
    assert!(words.contains(alice.user()) && words.contains(bob.user()) && words.contains(dora.user()), "{words}");
    for seat in [&alice, &bob, &dora] {
        assert!(seat.lease().await?.is_empty(), "{}", seat.user());
    }
    let hers = carol.lease().await?;
    for seat in [&alice, &bob, &dora] {
        assert_eq!(seat.approve(&hers).await?, [Outcome::Preparer], "{}", seat.user());
    }
    assert_eq!(carol.approve(&hers).await?, [Outcome::AwaitingSecond]);
    office.installation.lapse().await?;
    let erin = office.seat("erin").await?;
    let last = erin.lease().await?;
    assert_eq!(erin.approve(&last).await?, [Outcome::Committed]);
    let sums: String = office
        .ask("SELECT string_agg(amount::text, ' ' ORDER BY effect_no) || ' ' || sum(amount) FROM countersign.posting")
        .await?;
    assert_eq!(sums, "12.50 -12.50 0.00");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_one_reversal_at_most_and_none_of_what_was_not_posted() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 1_250), Paper::new(2, "p", 700), Paper::new(3, "p", 800)]).await?;
    let items = alice.lease().await?;
    alice.send(&[alice.approval(&items[0]), alice.rejection(&items[1])]).await?;
    let key = |number| Paper::new(number, "p", 0).key();
    let refused = |error: AdminError, words: &str| {
        assert!(error.to_string().contains(words) && error.exit_code() == 1, "{error}");
    };
    refused(reversal::reverse(&office.supervisor, &key(2), "x").await.expect_err("rejected"), "was rejected");
    refused(reversal::reverse(&office.supervisor, &key(3), "x").await.expect_err("pending"), "undecided");
    refused(reversal::reverse(&office.supervisor, "no such key", "x").await.expect_err("unknown"), "no exception");
    refused(reversal::reverse(&office.supervisor, &key(1), " ").await.expect_err("no reason"), "--reason");
    reversal::reverse(&office.supervisor, &key(1), "x").await?;
    let another = supervisor(&office.installation).await?;
    for who in [&office.supervisor, &another] {
        refused(reversal::reverse(who, &key(1), "y").await.expect_err("a second one"), "asked for already");
    }
    // With a key of its own, by whoever brings arrivals in.
    let paper = |number, of: u64, cents| Paper { reverses: Some(key(of)), ..Paper::new(number, "p", cents) };
    let outcomes = office
        .send(&[
            paper(10, 1, -1_250),
            paper(11, 2, -700),
            paper(12, 3, -800),
            Paper { reverses: Some("no such key".into()), ..Paper::new(13, "p", -1) },
        ])
        .await?;
    assert_eq!(outcomes, ["CONFLICT"; 4]);
    Ok(())
}

/// What does not undo exactly that effect is none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reversal_undoes_exactly_what_it_names() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 1_250)]).await?;
    let items = alice.lease().await?;
    alice.approve(&items).await?;
    let good = Paper { reverses: Some(Paper::new(1, "p", 0).key()), ..Paper::new(10, "p", -1_250) };
    for (what, paper) in [
        ("the amount", Paper { cents: -1_249, ..good.clone() }),
        ("the sign", Paper { cents: 1_250, ..good.clone() }),
        ("the currency", Paper { currency: "EUR", ..good.clone() }),
        ("the entity", Paper { entity: "other", ..good.clone() }),
        ("the partition", Paper { partition: "q", ..good.clone() }),
    ] {
        assert_eq!(office.send(&[paper]).await?, ["CONFLICT"], "{what}");
    }
    assert_eq!(office.send(&[good.clone(), Paper { number: 11, ..good.clone() }]).await?, ["ENQUEUED", "CONFLICT"]);
    // Corrected in its words, and in nothing that is posted.
    let corrected = Paper { revision: 2, ..good.clone() };
    assert_eq!(office.send(&[Paper { cents: -1_000, ..corrected.clone() }]).await?, ["CONFLICT"]);
    assert_eq!(office.send(&[Paper { reverses: None, ..corrected.clone() }]).await?, ["CONFLICT"]);
    assert_eq!(office.send(&[corrected]).await?, ["CORRECTED"]);
    assert!(alice.lease().await?.is_empty(), "she signed what it undoes, also after the correction");
    Ok(())
}
