//! The rules of a suggestion, in their order. The first that applies says the route; those behind it that ask for a look as well say why
//! too, and what a kind only remarks comes last.

use serde::Serialize;

use super::{Route, Suggestion, Thresholds};
use crate::exception::{Content, MatchDecision, RoutingTier};

/// What a kind adds to a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name.
    pub rule: &'static str,
    /// What it looked at: names and values.
    pub inputs: Vec<(&'static str, String)>,
    /// What it found, in the reviewer's words.
    pub reason: String,
    /// Whether a reviewer should look, although the variance asks for nothing; else it is only remarked.
    pub asks_for_a_look: bool,
}

/// How a suggestion came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What was suggested.
    pub suggestion: Suggestion,
    /// Every rule, in the order in which they are asked.
    pub rules: Vec<Applied>,
}

/// One rule, asked about one exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Its name.
    pub rule: &'static str,
    /// What it looked at: names and values.
    pub inputs: Vec<(&'static str, String)>,
    /// The route that it would take; `None`: it only remarks.
    pub route: Option<Route>,
    /// Whether it applies to this exception.
    pub applies: bool,
    /// Whether it said the route.
    pub decides: bool,
    /// What it says, in the reviewer's words, where it applies.
    pub reason: String,
}

/// Scores one exception and says which rules were asked, with what, and which of them applied.
pub fn explain(content: &Content, thresholds: &Thresholds) -> Explanation {
    let mut rules = ordered(content, thresholds);
    let deciding = rules.iter().position(|rule| rule.applies && rule.route.is_some());
    // The last rule applies to everything.
    let deciding = deciding.unwrap_or_default();
    rules[deciding].decides = true;
    let route = rules[deciding].route.unwrap_or(Route::RouteReview);
    let also = |rule: &&Applied| {
        rule.applies && (rule.route.is_none() || rule.route == Some(Route::RouteReview) && route == Route::RouteReview)
    };
    let first = rules[deciding].reason.clone();
    let others = |remarks: bool| {
        rules
            .iter()
            .filter(move |rule| !rule.decides && rule.route.is_none() == remarks)
            .filter(also)
            .map(|rule| rule.reason.clone())
    };
    let reasons = std::iter::once(first).chain(others(false)).chain(others(true)).collect();
    let suggestion = Suggestion { route, reasons, policy_version: thresholds.version };
    Explanation { suggestion, rules }
}

fn ordered(content: &Content, thresholds: &Thresholds) -> Vec<Applied> {
    let money = content.variance;
    let rounded = money.rounded().abs();
    let amount = |amount: rust_decimal::Decimal| format!("{} {}", amount.normalize(), money.currency);
    let variance = || ("Variance", format!("{} {}", money.text(), money.currency));
    let tier = || ("Tier", content.routing_tier.as_str().to_owned());
    let rule =
        |rule, inputs, route, applies, reason: String| Applied { rule, inputs, route, applies, decides: false, reason };
    let (large, tolerance) = (amount(thresholds.escalate_above), amount(thresholds.tolerance));
    let standard = content.routing_tier == RoutingTier::Standard;
    let mut rules = vec![rule(
        "Over the threshold in the standard tier",
        vec![variance(), ("Threshold", large.clone()), tier()],
        Some(Route::Escalate),
        rounded > thresholds.escalate_above && standard,
        format!("The variance is over {large} in the standard tier."),
    )];
    rules.extend(content.kind.module().findings(content, thresholds).into_iter().map(|found| {
        let route = found.asks_for_a_look.then_some(Route::RouteReview);
        rule(found.rule, found.inputs, route, true, found.reason)
    }));
    let review = Some(Route::RouteReview);
    rules.extend([
        rule(
            "Zero variance",
            vec![variance()],
            Some(Route::AutoResolve),
            rounded.is_zero(),
            "The variance is zero.".to_owned(),
        ),
        rule(
            "No other side",
            vec![("Match decision", content.match_decision.as_str().to_owned())],
            review,
            content.match_decision == MatchDecision::Unmatched,
            "The matching engine found no other side.".to_owned(),
        ),
        rule(
            "Above the standard tier",
            vec![tier()],
            review,
            !standard,
            format!("It came in the {} tier.", content.routing_tier.as_str()),
        ),
        rule(
            "Over the tolerance",
            vec![variance(), ("Tolerance", tolerance.clone())],
            review,
            rounded > thresholds.tolerance,
            format!("The variance is over the tolerance of {tolerance}."),
        ),
        rule(
            "Nothing against it",
            vec![variance(), ("Tolerance", tolerance.clone())],
            Some(Route::AutoApprove),
            true,
            format!("The variance is within the tolerance of {tolerance}."),
        ),
    ]);
    rules
}
