//! The supervisor's commands, as a process: what they print, and how they end.

use countersign_tests::admin::Admin;

use crate::office::{Office, grant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_command_says_what_it_did_or_what_is_wrong() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let (user, password) = office.installation.database().login("sam").await?;
    grant(&office.installation, "supervisor", &user).await?;
    let admin = Admin::at(office.installation.database().url_for(&user, &password))?;
    let (who, desk) = (alice.user(), alice.desk.0.to_string());
    let (nobody, _) = office.installation.database().login("newcomer").await?;
    for (arguments, code, words) in [
        (&["reviewer", "add", &nobody][..], 0, "GRANT countersign_reviewer TO"),
        (&["reviewer", "add", "no such login"], 1, "--create-login"),
        (&["reviewer", "set", who, "--also", "a.s", "--kind", "receipt", "--tier", "standard"], 0, "is set"),
        (&["reviewer", "set", who], 1, "nothing is named"),
        (&["reviewer", "set", who, "--also", "a.s "], 1, "the other name `a.s ` begins or ends with a blank"),
        (&["reviewer", "set", who, "--also", "a\u{200b}s"], 1, "characters that do not show"),
        (&["reviewer", "set", who, "--entity", "\u{a0}acct-1"], 1, "the ledger entity"),
        (&["reviewer", "set", who, "--kind", "x"], 2, "is none of recon_break"),
        (&["reviewer", "set", who, "--kind", "receipt", "--any-kind"], 2, "cannot be used with"),
        (&["reviewer", "limit", who, "USD", "--largest", "100.50", "--per-period", "1000"], 0, "up to 100.50 each"),
        (&["reviewer", "limit", who, "*", "--none"], 0, "no limits"),
        (&["reviewer", "limit", who, "*", "--largest", "5"], 0, "without such a limit of its own"),
        (&["reviewer", "limit", who, "USD"], 2, "--largest"),
        (&["reviewer", "limit", who, "usd", "--none"], 2, "not an ISO 4217 currency"),
        (&["reviewer", "limit", who, "USD", "--largest", "-1"], 2, "not negative"),
        (&["reviewer", "limit", who, "USD", "--largest", "1e3"], 2, "not a plain decimal"),
        (&["reviewer", "limit", &user, "USD", "--none"], 1, "for themselves"),
        (&["reviewer", "list"], 0, "receipt; standard"),
        (&["role", "grant", who, "auditor"], 1, "the owner of the database"),
        (&["role", "grant", who, "reviewer"], 2, "reviewer add"),
        (&["role", "revoke", who, "auditor"], 1, "the owner of the database"),
        (&["role", "revoke", who, "reviewer"], 2, "reviewer disable"),
        (&["role", "list"], 0, "supervisor"),
        (&["policy", "show"], 0, "Version 1, set"),
        (&["policy", "show", "--version", "9"], 1, "policy history"),
        (&["policy", "set", "/nowhere/policy.json", "--comment", "x"], 2, "No such file"),
        (&["period", "add", "*", "Oct", "2026-10-01", "2026-10-31"], 0, "is open"),
        (&["period", "add", "*", "Oct", "2026-10-01", "2026-10-32"], 2, "a day such as"),
        (&["period", "add", "*", "Nov", "2026-11-30", "2026-11-01"], 1, "is before the first"),
        (&["period", "close", "*", "Oct", "--reason", "done"], 0, "is closed now"),
        (&["period", "close", "*", "Oct"], 2, "--reason"),
        (&["period", "reopen", "*", "Sep", "--reason", "x"], 1, "there is no period"),
        (&["period", "list"], 0, "closed"),
        (&["workstation", "list"], 0, "confirmed"),
        (&["workstation", "confirm", &desk, "xyz"], 2, "16 hex digits"),
        (&["workstation", "confirm", "x", "0f1e-2d3c-4b5a-6978"], 2, "invalid value"),
        (&["workstation", "revoke", &desk, "--reason", "lost"], 0, "turned away"),
        (&["partition", "list", "--held"], 0, "No partitions"),
        (&["partition", "take", "p"], 2, "--reason"),
        (&["partition", "take", "p", "--reason", "x"], 1, "none of these partitions"),
        (&["partition", "assign", "p", "--to", "nobody", "--reason", "x"], 1, "no active reviewer"),
        (&["reverse", "no such key", "--reason", "x"], 1, "no exception"),
        (&["status"], 0, "Awaiting a second"),
        (&["dead-letters", "list"], 0, "No dead letters"),
    ] {
        let ran = admin.run(arguments).await?;
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code == code && said.contains(words), "{arguments:?} ended with {}: {said}", ran.code);
    }
    let lists: [&[&str]; 8] = [
        &["reviewer", "list"],
        &["role", "list"],
        &["policy", "show"],
        &["policy", "history"],
        &["period", "list"],
        &["workstation", "list"],
        &["partition", "list"],
        &["status"],
    ];
    for list in lists {
        admin.json(list).await?;
    }
    Ok(())
}

/// A policy is put in force by whoever says so, and what it changes is shown first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_is_shown_before_it_is_set() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (user, password) = office.installation.database().login("sam").await?;
    grant(&office.installation, "supervisor", &user).await?;
    let admin = Admin::at(office.installation.database().url_for(&user, &password))?;
    let mut document = admin.json(&["policy", "show"]).await?["document"].clone();
    document["four_eyes"] = serde_json::json!([{"currency": "USD", "at_or_above": "5000"}]);
    let set = ["policy", "set", "-", "--comment", "two from 5000 on"];
    let asked = admin.run_with(&set, &[], document.to_string().as_bytes()).await?;
    assert!(asked.code == 1 && asked.stderr.contains("--yes") && asked.stderr.contains("four_eyes[0]"), "{asked:?}");
    let confirmed = [&set[..], &["--yes"]].concat();
    let done = admin.run_with(&confirmed, &[], document.to_string().as_bytes()).await?;
    assert!(done.code == 0 && done.stdout.ends_with("Version 2 is in force.\n"), "{done:?}");
    document["four_eyes"][0]["currency"] = "US".into();
    let wrong = admin.run_with(&confirmed, &[], document.to_string().as_bytes()).await?;
    assert!(wrong.code == 1 && wrong.stderr.contains("four_eyes[0].currency"), "{wrong:?}");
    Ok(())
}

/// Roles belong to the whole cluster, and what somebody did about them here is on record here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn granting_and_revoking_a_role_is_on_record() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let owner = Admin::at(office.installation.database().admin_url())?;
    let (user, password) = office.installation.database().login("ada").await?;
    let ada = Admin::at(office.installation.database().url_for(&user, &password))?;
    // This one has it from elsewhere.
    let (known, _) = office.installation.database().login("kim").await?;
    grant(&office.installation, "auditor", &known).await?;
    for (arguments, code, words) in [
        (["role", "grant", &user, "supervisor"], 0, "is supervisor now"),
        (["role", "grant", &user, "supervisor"], 0, "was supervisor already"),
        (["role", "grant", &known, "auditor"], 0, "was auditor already"),
    ] {
        let ran = owner.run(&arguments).await?;
        assert!(ran.code == code && ran.stdout.contains(words), "{arguments:?}: {ran:?}");
    }
    assert_eq!(office.recorded("ROLE_GRANTED").await?, 3);
    assert_eq!(ada.run(&["status"]).await?.code, 0);
    for (arguments, code, words) in [
        (["role", "revoke", &user, "supervisor"], 0, "is supervisor no more"),
        (["role", "revoke", &user, "supervisor"], 0, "was no supervisor"),
        (["role", "revoke", "nobody at all", "auditor"], 1, "no login nobody at all"),
    ] {
        let ran = owner.run(&arguments).await?;
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code == code && said.contains(words), "{arguments:?}: {said}");
    }
    assert_eq!(ada.run(&["status"]).await?.code, 1);
    let sql = "SELECT string_agg(concat_ws(' ', event, actor = session_user, partition_key = '', detail ->> 'role', detail ->> 'new'), '; ' ORDER BY chain_seq)
               FROM countersign.audit_event WHERE event LIKE 'ROLE%'";
    assert_eq!(
        office.ask::<String>(sql).await?,
        "ROLE_GRANTED t t countersign_supervisor true; ROLE_GRANTED t t countersign_supervisor false; \
         ROLE_GRANTED t t countersign_auditor false; ROLE_REVOKED t t countersign_supervisor"
    );

    // Through another role it is still there, and said to be.
    let group = format!("{known}_group");
    let through =
        format!("CREATE ROLE \"{group}\"; GRANT countersign_auditor TO \"{group}\"; GRANT \"{group}\" TO \"{known}\"");
    sqlx::raw_sql(sqlx::AssertSqlSafe(through)).execute(&office.installation.owner).await?;
    let still = owner.run(&["role", "revoke", &known, "auditor"]).await?;
    // Roles belong to the whole server, which outlives this test.
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("DROP ROLE \"{group}\""))).execute(&office.installation.owner).await?;
    assert!(still.code == 0 && still.stdout.contains("all the same"), "{still:?}");
    Ok(())
}

/// Whoever may not do something hears who may.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_right_is_told_by_the_role_that_has_it() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let mut admins = Vec::new();
    for role in ["supervisor", "auditor"] {
        let (user, password) = office.installation.database().login(role).await?;
        grant(&office.installation, role, &user).await?;
        admins.push(Admin::at(office.installation.database().url_for(&user, &password))?);
    }
    let (user, password) = office.installation.database().login("nobody").await?;
    let (supervisor, auditor) = (&admins[0], &admins[1]);
    let nobody = &Admin::at(office.installation.database().url_for(&user, &password))?;
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("keys.json").to_string_lossy().into_owned();
    let (owner, producer) = ("the owner of the database", "countersign_producer");
    let (signs, looks) =
        ("It takes the role countersign_supervisor (", "countersign_supervisor or countersign_auditor");
    for (admin, arguments, words) in [
        (supervisor, &["audit", "verify"][..], "countersign_auditor"),
        (supervisor, &["receipt", "show", "1"], "countersign_auditor"),
        (supervisor, &["audit", "rotate-key"], owner),
        (supervisor, &["audit", "export-keys", &file], owner),
        (supervisor, &["role", "revoke", "x", "auditor"], owner),
        (supervisor, &["enqueue", "-"], producer),
        (auditor, &["enqueue", "-"], producer),
        (auditor, &["migrate"], owner),
        (auditor, &["period", "add", "*", "Oct", "2026-10-01", "2026-10-31"], signs),
        (nobody, &["status"], looks),
        (nobody, &["dead-letters", "list"], looks),
    ] {
        let ran = admin.run_with(arguments, &[], b"no arrival\n").await?;
        // What cannot be looked at proves nothing, and is not what 1 says of a stream.
        let code = if matches!(arguments, ["audit", "verify"] | ["receipt", ..]) { 2 } else { 1 };
        assert!(
            ran.code == code && ran.stderr.contains(words),
            "{arguments:?} ended with {}: {}",
            ran.code,
            ran.stderr
        );
        let auditors = words.ends_with("countersign_auditor");
        assert_eq!(ran.stderr.contains("countersign_auditor"), auditors, "{arguments:?}: {}", ran.stderr);
    }
    Ok(())
}
