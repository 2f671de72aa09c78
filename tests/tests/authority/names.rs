//! The ways to type a name are one, and whoever shares a name with somebody is that person.

use countersign_admin::reviewer::{self, Rights, Scope};
use countersign_domain::sign_off::Outcome;

use crate::office::{Office, Paper, Seat};

async fn also(office: &Office, who: &Seat, names: &[&str]) -> anyhow::Result<()> {
    let also = Scope::Only(names.iter().map(|name| (*name).to_owned()).collect());
    Ok(reviewer::set(&office.supervisor, who.user(), &Rights { also, ..Rights::default() }).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preparer_is_known_however_the_name_was_typed() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    also(&office, &alice, &["\u{3a3}\u{3af}\u{3c3}\u{3c5}\u{3c6}\u{3bf}\u{3c2}", "\u{e9}va", "zo\u{eb}"]).await?;
    let typed = [
        alice.user().to_uppercase(),
        format!("{} ", alice.user()),
        format!("{}\u{200b}", alice.user()),
        alice.user().replace('a', "\u{ff41}"),
        "\u{3a3}\u{38a}\u{3a3}\u{3a5}\u{3a6}\u{39f}\u{3a3}".to_owned(),
        "\u{c9}VA".to_owned(),
        "zoe\u{308}".to_owned(),
    ];
    let papers: Vec<String> = (1_u64..).zip(&typed).map(|(number, _)| format!("p{number}")).collect();
    let papers: Vec<Paper<'_>> = (1_u64..)
        .zip(&typed)
        .zip(&papers)
        .map(|((number, name), partition)| Paper {
            prepared_by: vec![name.clone()],
            ..Paper::new(number, partition, 100)
        })
        .collect();
    office.take_in(&papers).await?;
    let handed: Vec<i64> = alice.lease().await?.iter().map(|item| item.id.0).collect();
    assert_eq!(handed, [0_i64; 0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_person_is_one_along_every_chain_of_names() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office.four_eyes(&[("*", "0")]).await?;
    let seats = [office.seat("one").await?, office.seat("two").await?, office.seat("three").await?];
    also(&office, &seats[0], &[seats[1].user()]).await?;
    also(&office, &seats[1], &["upstream"]).await?;
    also(&office, &seats[2], &["Upstream"]).await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    assert_eq!(seats[0].approve(&seats[0].lease().await?).await?, [Outcome::AwaitingSecond]);
    office.installation.lapse().await?;
    assert!(seats[2].lease().await?.is_empty(), "she has signed it under another login");
    let other = office.seat("other").await?;
    assert_eq!(other.approve(&other.lease().await?).await?, [Outcome::Committed]);
    Ok(())
}
