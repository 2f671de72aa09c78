//! Why an exception got its suggestion, as a supervisor asks for it.

use countersign_domain::policy::{Policy, Scoring};
use countersign_domain::scoring::Route;
use countersign_engine::deck_item;
use countersign_tests::admin::Admin;
use secrecy::ExposeSecret as _;

use crate::office::{Office, Paper, grant};

/// 100.00 is over the tolerance of 5 that is in force at first, and within the 500 of the next version; over the threshold of 50 of the
/// last one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suggestion_is_explained_under_the_version_in_force_and_under_any_other() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let paper = Paper::new(1, "p", 10_000);
    office.take_in(std::slice::from_ref(&paper)).await?;
    let id: i64 = office.ask("SELECT id FROM countersign.exception").await?;
    let key: String = office.ask("SELECT idempotency_key FROM countersign.exception").await?;
    let explain = async |exception: &str, version| {
        countersign_admin::policy::explain(&office.supervisor, exception, version).await
    };
    let first = explain(&key, None).await?;
    assert_eq!((first.exception, first.key.as_str(), first.content_version), (id, key.as_str(), 1));
    assert_eq!(explain(&id.to_string(), None).await?, first, "by its identifier as by its key");
    let suggestion = &first.explanation.suggestion;
    assert_eq!((suggestion.route, suggestion.policy_version), (Route::RouteReview, 1));
    assert_eq!(suggestion.reasons, ["The variance is over the tolerance of 5 USD."]);

    let scoring = |escalate_above: i64, tolerance: i64| Scoring {
        escalate_above: escalate_above.into(),
        tolerance: tolerance.into(),
    };
    let lenient = office.policy(&Policy { scoring: scoring(50_000, 500), ..Policy::default() }).await?;
    let strict = office.policy(&Policy { scoring: scoring(50, 5), ..Policy::default() }).await?;
    for (version, route, reason) in [
        (Some(1), Route::RouteReview, "The variance is over the tolerance of 5 USD."),
        (Some(lenient), Route::AutoApprove, "The variance is within the tolerance of 500 USD."),
        (Some(strict), Route::Escalate, "The variance is over 50 USD in the standard tier."),
        (None, Route::Escalate, "The variance is over 50 USD in the standard tier."),
    ] {
        let suggestion = explain(&key, version).await?.explanation.suggestion;
        assert_eq!((suggestion.route, suggestion.policy_version), (route, version.unwrap_or(strict)));
        assert_eq!(suggestion.reasons[0], reason);
    }

    // What a workstation suggests is what is explained.
    let alice = office.seat("alice").await?;
    let items = alice.lease().await?;
    let thresholds = Policy { scoring: scoring(50, 5), ..Policy::default() }.thresholds(strict);
    let shown = deck_item(&items[0], &thresholds).map_err(|unscored| anyhow::Error::msg(unscored.reason))?.suggestion;
    assert_eq!(shown, explain(&key, None).await?.explanation.suggestion);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_prints_every_rule_and_says_what_there_is_not() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office.take_in(&[Paper::new(1, "p", 10_000)]).await?;
    let key: String = office.ask("SELECT idempotency_key FROM countersign.exception").await?;
    let (user, password) = office.installation.database().login("sam").await?;
    grant(&office.installation, "supervisor", &user).await?;
    let admin = Admin::at(office.installation.database().url_for(&user, &password))?;
    let ran = admin.run(&["policy", "explain", &key]).await?;
    for words in [
        "recon_break, version 1 of its content",
        "Suggestion under policy version 1: ROUTE_REVIEW (Review)",
        "The variance is over the tolerance of 5 USD.",
        "Over the threshold in the standard tier  no       ESCALATE",
        "Over the tolerance                       decides  ROUTE_REVIEW",
        "Variance 100.00 USD, Tolerance 5 USD",
    ] {
        assert!(ran.code == 0 && ran.stdout.contains(words), "{words} is not in\n{}{}", ran.stdout, ran.stderr);
    }
    let json = admin.json(&["policy", "explain", &key]).await?;
    assert_eq!(json["suggestion"]["route"], "ROUTE_REVIEW");
    assert_eq!(json["rules"].as_array().map(Vec::len), Some(6));
    for (arguments, words) in [
        (&["policy", "explain", "nothing"][..], "no exception with the key or the identifier nothing"),
        (&["policy", "explain", "99999999999999999999"], "no exception"),
        (&["policy", "explain", &key, "--version", "9"], "there is no policy version 9"),
    ] {
        let ran = admin.run(arguments).await?;
        assert!(ran.code == 1 && ran.stderr.contains(words), "{arguments:?}: {ran:?}");
    }
    // Whoever signs does not look into what others may sign.
    let alice = office.installation.reviewer("alice").await?;
    let admin = Admin::at(office.installation.database().url_for(&alice.user, alice.password.expose_secret()))?;
    assert_ne!(admin.run(&["policy", "explain", &key]).await?.code, 0);
    Ok(())
}
