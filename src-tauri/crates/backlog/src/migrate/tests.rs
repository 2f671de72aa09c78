use std::path::Path;

use super::{Applied, MIGRATIONS, MigrateError, latest, pending, sha256};

fn remembered(count: usize) -> Vec<Applied> {
    MIGRATIONS
        .iter()
        .take(count)
        .map(|migration| Applied {
            version: migration.version,
            name: migration.name.into(),
            sha256: sha256(migration.sql),
        })
        .collect()
}

#[test]
fn every_file_of_the_directory_is_compiled_in_with_its_number() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../migrations/postgres");
    let mut files: Vec<String> = std::fs::read_dir(directory)
        .expect("the directory of migrations is there")
        .map(|entry| entry.expect("its entries can be read").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let compiled: Vec<String> = MIGRATIONS.iter().map(|migration| format!("{}.sql", migration.name)).collect();
    assert_eq!(files, compiled);
    for (number, migration) in (1..).zip(MIGRATIONS) {
        assert_eq!(migration.version, number);
        assert!(migration.name.starts_with(&format!("{number:04}_")), "{}", migration.name);
    }
}

#[test]
fn what_is_pending_is_what_was_not_applied() {
    for count in 0..=MIGRATIONS.len() {
        assert_eq!(pending(&remembered(count)).expect("a known state").len(), MIGRATIONS.len() - count);
    }
}

#[test]
fn a_newer_database_is_refused() {
    let mut applied = remembered(MIGRATIONS.len());
    applied.push(Applied { version: latest() + 1, name: "later".into(), sha256: Vec::new() });
    assert!(matches!(pending(&applied), Err(MigrateError::Newer { .. })));
}

#[test]
fn a_changed_or_missing_migration_is_refused() {
    let mut applied = remembered(2);
    applied[0].sha256 = sha256("SELECT 1");
    assert!(matches!(pending(&applied), Err(MigrateError::Changed { name }) if name == "0001_tables"));
    let mut applied = remembered(3);
    applied.remove(1);
    assert!(matches!(pending(&applied), Err(MigrateError::Missing { name: "0002_audit_and_arrivals" })));
}

#[test]
fn line_ends_do_not_change_a_checksum() {
    assert_eq!(sha256("SELECT 1;\r\nSELECT 2;\r\n"), sha256("SELECT 1;\nSELECT 2;\n"));
}
