//! What was anchored outside the database cannot be cut off or written anew, not even by somebody who knows the key of the seal.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use countersign_admin::Database;
use countersign_admin::audit::{Verify, anchor, export_keys, verify};
use countersign_domain::seal::PublicKey;
use countersign_testkit::postgres::TestDatabase;

use super::day::Day;
use super::forging::{rechain, tamper};
use super::verified;

/// The last two records of a chain are leases, on which nothing else hangs: without anchors, nothing would be missed.
const CUT: &str = "DELETE FROM countersign.audit_event a USING countersign.partition p
                   WHERE a.partition_key = 'd' AND p.partition_key = 'd' AND a.chain_seq > p.chain_seq - 2;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_end_with_a_new_head_is_found_by_its_anchor_alone() -> anyhow::Result<()> {
    let day = Day::work().await?;
    let directory = tempfile::tempdir()?;
    let (file, key) = (directory.path().join("anchors"), directory.path().join("key"));
    let database = day.installation.for_admin()?;
    let first = anchor(&database, &file, &key).await?;
    assert_eq!((first.anchor, first.heads), (1, 6));
    let (workstation, desk) = day.installation.workstation(&day.bob).await?;
    drop((workstation, desk));
    let second = anchor(&database, &file, &key).await?;
    assert_eq!((second.anchor, second.heads), (2, 1), "only the installation's chain went on");
    day.installation.owner.close().await;

    let mut pinned = [0; 32];
    hex::decode_to_slice(&first.public_key, &mut pinned)?;
    let what = Verify { anchors: Some(file.clone()), anchor_key: Some(PublicKey(pinned)), ..Verify::default() };
    let report = verified(day.database(), &what).await?;
    assert!(report.holds() && report.counts.anchored_heads == 7, "{:#?}", report.first);
    let other = Verify { anchor_key: Some(PublicKey([1; 32])), ..what.clone() };
    assert_eq!(verified(day.database(), &other).await?.findings, 2, "every line is of another key");

    for (cut, says) in [
        (CUT.to_owned() + &rechain("d", 1, true), "and it is gone"),
        (
            "UPDATE countersign.audit_event SET actor = 'somebody' WHERE partition_key = 'd' AND event = 'RELEASED';"
                .to_owned()
                + &rechain("d", 1, true),
            "with another hash",
        ),
    ] {
        let copy = day.copy().await?;
        tamper(&copy, &cut).await?;
        let without = verified(&copy, &Verify::default()).await?;
        assert!(without.holds(), "whoever knows the key is found by an anchor alone: {:#?}", without.first);
        let report = verified(&copy, &what).await?;
        assert!(
            report.first.iter().any(|one| one.chain.as_deref() == Some("d") && one.what.contains(says)),
            "{:#?}",
            report.first
        );
        let refused = anchor(&Database::from_url(&copy.admin_url())?, &file, &key).await;
        assert!(refused.is_err_and(|error| error.to_string().contains("the chain d was anchored")));
        copy.close().await?;
    }
    edited_files(day.database(), &file, &key).await?;
    keys_of_one_alone(day.database(), directory.path()).await
}

/// A key that others can read is no key, and one that signs nothing is not kept.
async fn keys_of_one_alone(database: &TestDatabase, directory: &std::path::Path) -> anyhow::Result<()> {
    let admin = Database::from_url(&database.admin_url())?;
    let (file, key) = (directory.join("other"), directory.join("other-key"));
    std::fs::write(&file, "{}\n")?;
    assert!(anchor(&admin, &file, &key).await.is_err());
    assert!(!key.exists(), "it has signed nothing");
    std::fs::remove_file(&file)?;
    anchor(&admin, &file, &key).await?;
    let what = Verify { anchors: Some(file.clone()), ..Verify::default() };
    let report = verified(database, &what).await?;
    assert!(report.holds() && report.describe(false).contains("their key was taken from the file itself"));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644))?;
    let open = "it can be read by others";
    assert!(anchor(&admin, &file, &key).await.is_err_and(|error| error.to_string().contains(open)));
    let keys = directory.join("keys.json");
    export_keys(&admin, &keys).await?;
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o644))?;
    let refused = verify(&admin, &Verify { keys: Some(keys), ..Verify::default() }).await;
    let refused = refused.expect_err("others can read the keys");
    assert!(refused.exit_code() == 2 && refused.to_string().contains("others"), "{refused}");
    Ok(())
}

/// A file that was changed is no file to go on with, and says so.
async fn edited_files(database: &TestDatabase, file: &std::path::Path, key: &std::path::Path) -> anyhow::Result<()> {
    let whole = std::fs::read_to_string(file)?;
    let lines: Vec<&str> = whole.lines().collect();
    for (edited, says) in [
        (whole.replace("\"records\":", "\"records\":1"), "its signature is not that of its key"),
        (format!("{}\n", lines[1]), "it does not follow the line before it"),
        (format!("{}\n{}\n", lines[0], lines[0]), "it does not follow the line before it"),
        (whole.trim_end().to_owned(), "it is torn"),
    ] {
        std::fs::File::create(file)?.write_all(edited.as_bytes())?;
        let report = verified(database, &Verify { anchors: Some(file.to_owned()), ..Verify::default() }).await?;
        assert!(report.first.iter().any(|one| one.what.contains(says)), "{says}: {:#?}", report.first);
        let refused = anchor(&Database::from_url(&database.admin_url())?, file, key).await;
        assert!(refused.is_err_and(|error| error.to_string().contains(says)), "{says}");
        assert_eq!(std::fs::read_to_string(file)?, edited, "nothing was appended");
    }
    Ok(())
}
