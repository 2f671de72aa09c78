//! The desk from the command line, in the words of finance.

use countersign_tests::admin::{Admin, Ran};
use countersign_tests::owner;
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::world::{World, good, key, line, withdrawn};

async fn desk(admin: &Admin, arguments: &[&str]) -> anyhow::Result<Ran> {
    admin.run(&[&["dead-letters"], arguments].concat()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_supervisor_lists_shows_corrects_rehearses_and_sends_in() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (sue, admin) = world.supervisor("sue").await?;
    let mut date = good(2, "p");
    date["submitted_at"] = json!("2026-13-01T00:00:00Z");
    world.send(&[line(&withdrawn(1, "p")), line(&date), b"not JSON".to_vec()]).await?;
    let list = desk(&admin, &["list"]).await?;
    for words in [
        "A currency that is not in use (CURRENCY): 1 open, 0 taken; the oldest is 0 h old; 1 without an amount",
        "A date that is not valid (DATE): 1 open, 0 taken; the oldest is 0 h old; the close lacks USD 0.22",
        "Cannot be read as an arrival (UNREADABLE): 1 open",
        "standard input:1",
    ] {
        assert!(list.stdout.contains(words), "`{words}` is not in {}", list.stdout);
    }
    let all = admin.json(&["dead-letters", "list"]).await?;
    let id = |key: &str| {
        let letter = all.as_array().into_iter().flatten().find(|letter| letter["idempotency_key"] == json!(key));
        letter.and_then(|letter| letter["id"].as_i64()).expect("it is listed").to_string()
    };
    let (currency, date) = (id(&key(1)), id(&key(2)));
    let only = admin.json(&["dead-letters", "list", "--cause", "DATE", "--entity", "p", "--status", "open"]).await?;
    assert_eq!(only.as_array().map(Vec::len), Some(1), "{only}");

    let shown = desk(&admin, &["show", &currency]).await?;
    let marked: Vec<&str> = shown.stdout.lines().filter(|line| line.starts_with('>')).collect();
    assert!(
        matches!(marked.as_slice(), [line] if line.contains("currency") && line.contains("HRK")),
        "{}",
        shown.stdout
    );
    let fixed = desk(&admin, &["fix", &currency, "--set", "currency=EUR"]).await?;
    assert_eq!(fixed.code, 0, "{fixed:?}");
    assert!(fixed.stdout.contains("  - currency HRK\n  + currency EUR\n"), "{}", fixed.stdout);
    assert!(fixed.stdout.contains("Sent in now, it goes in as a new exception."), "{}", fixed.stdout);
    let shown = desk(&admin, &["show", &currency]).await?.stdout;
    assert!(
        shown.contains("Correction 1 by ") && shown.contains(&sue) && shown.contains("  - currency HRK"),
        "{shown}"
    );
    assert!(shown.contains("kept as a dead letter") && shown.contains("corrected: revision 1"), "{shown}");

    let rehearsed = desk(&admin, &["rehearse", &currency, &date]).await?;
    assert_eq!(rehearsed.code, 1, "one would stay: {rehearsed:?}");
    assert!(rehearsed.stdout.contains("1 of 2 would go in now, 1 would stay."), "{}", rehearsed.stdout);
    assert_eq!(world.count("SELECT count(*) FROM countersign.exception").await?, 0);
    let replayed = desk(&admin, &["replay", "--cause", "CURRENCY"]).await?;
    assert_eq!(replayed.code, 0, "{replayed:?}");
    assert!(replayed.stdout.contains("1 of 1 went in, 0 stay."), "{}", replayed.stdout);
    let again = admin.json(&["dead-letters", "replay", &currency]).await?;
    assert_eq!((&again[0]["outcome"], &again[0]["passes"]), (&json!("ENQUEUED"), &json!(true)));
    assert!(!desk(&admin, &["list"]).await?.stdout.contains("CURRENCY"), "what is done is not listed");
    assert!(desk(&admin, &["list", "--done"]).await?.stdout.contains("CURRENCY"));
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_is_corrected_by_a_file_or_in_an_editor_and_not_by_mistake() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (_, admin) = world.supervisor("sue").await?;
    world.send(&[line(&withdrawn(1, "p")), b"\xff\xfe".to_vec()]).await?;
    let all = admin.json(&["dead-letters", "list"]).await?;
    let id = |cause: &str| {
        let letter = all.as_array().into_iter().flatten().find(|letter| letter["cause"] == json!(cause));
        letter.and_then(|letter| letter["id"].as_i64()).expect("it is listed").to_string()
    };
    let (currency, bytes) = (id("CURRENCY"), id("UNREADABLE"));
    let row = {
        world.send(&[b"US01,12.50,HRK".to_vec()]).await?;
        let sql = "SELECT id FROM countersign.dead_letter ORDER BY id DESC LIMIT 1";
        owner::number(&world.installation.owner, sql).await?.to_string()
    };
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("mended.json");
    std::fs::write(&file, format!("{}\n", good(5, "p")))?;
    let file = file.to_str().expect("a path in UTF-8");
    for (arguments, words) in [
        (vec!["fix", &currency, "--set", "currency"], "expected a field and its value"),
        (vec!["fix", &currency, "--set", "nowhere.to.be=x"], "nowhere.to.be"),
        (vec!["fix", &currency, "--set-json", "currency=nonsense"], "currency"),
        (vec!["fix", &bytes, "--set", "currency=EUR"], "use --file"),
        (vec!["fix", &row, "--set", "currency=EUR"], "send that in again, as it was sent in: it goes in by itself"),
        (vec!["fix", "999999", "--set", "currency=EUR"], "not everything"),
        (vec!["fix", &currency, "--file", "/nowhere/at/all"], "/nowhere/at/all"),
        (vec!["show", "999999"], "there is no dead letter 999999"),
        (vec!["replay"], "required"),
    ] {
        let ran = desk(&admin, &arguments).await?;
        assert!(ran.code != 0 && ran.stderr.contains(words), "{arguments:?}: {ran:?}");
    }
    assert_eq!(world.count("SELECT count(*) FROM countersign.dead_letter_revision").await?, 0);
    let taken = world.count("SELECT count(*) FROM countersign.dead_letter WHERE status <> 'OPEN'").await?;
    assert_eq!(taken, 0, "what was not corrected is put back");
    let ran = desk(&admin, &["fix", &bytes, "--file", file]).await?;
    assert!(ran.code == 0 && ran.stdout.contains("goes in as a new exception"), "{ran:?}");

    let edit = |editor: &'static str| {
        let (admin, currency) = (admin.clone(), currency.clone());
        async move { admin.run_with(&["dead-letters", "fix", &currency], &[("VISUAL", editor)], b"").await }
    };
    let ran = edit("true").await?;
    assert!(ran.code == 1 && ran.stderr.contains("nothing was changed in the editor"), "{ran:?}");
    let ran = edit("false").await?;
    assert!(ran.code == 1 && ran.stderr.contains("nothing was changed"), "{ran:?}");
    let ran = edit("sed -i s/HRK/EUR/").await?;
    assert!(ran.code == 0 && ran.stdout.contains("+ currency EUR"), "{ran:?}");
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_desk_is_opened_by_a_supervisor_and_an_auditor_looks_and_does_not_touch() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.reviewer("dora").await?;
    let (sue, admin) = world.supervisor("sue").await?;
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    for (switch, words) in
        [("--on", "may work at the desk"), ("--on", "as before"), ("--off", "may not work"), ("--on", "may work")]
    {
        let ran = admin.run(&["reviewer", "dead-letters", &dora.login.user, switch]).await?;
        assert!(ran.code == 0 && ran.stdout.contains(words), "{switch}: {ran:?}");
    }
    assert_eq!(dora.letters().await?.len(), 1);
    let reviewers = admin.json(&["reviewer", "list"]).await?;
    assert_eq!(reviewers[0]["remediates"], json!(true), "{reviewers}");
    let ran = admin.run(&["reviewer", "dead-letters", &sue, "--on"]).await?;
    assert!(ran.code == 1 && ran.stderr.contains("Another supervisor"), "{ran:?}");
    let (user, password) = world.installation.database().login("auditor").await?;
    let grant = format!("GRANT countersign_auditor TO \"{user}\"");
    sqlx::raw_sql(AssertSqlSafe(grant)).execute(&world.installation.owner).await?;
    let auditor = Admin::at(world.installation.database().url_for(&user, &password))?;
    assert!(desk(&auditor, &["list"]).await?.stdout.contains("CURRENCY"));
    let ran = desk(&auditor, &["take", "1"]).await?;
    assert!(ran.code == 1 && ran.stderr.contains("countersign_supervisor"), "{ran:?}");
    let nowhere = Admin::at("postgres://sue:secret@127.0.0.1:1/close".to_owned())?;
    let ran = desk(&nowhere, &["take", "1"]).await?;
    assert!(ran.code == 2 && !ran.stderr.contains("secret"), "{ran:?}");
    world.holds().await
}
