//! The structured log: what the engine has to tell, one event each. `docs/operations.md` lists them with their fields.

use countersign_domain::code::{Code, FailureClass};
use countersign_domain::scoring::Route;
use countersign_engine::{Happened, Ids, Record, Trace};

/// A line in words.
pub(crate) fn write(record: &Record) {
    let code = record.code.map(Code::as_str);
    if let Some((trace_id, source_hash, match_decision)) = &record.item {
        tracing::info!(event = record.event, code, %trace_id, source_hash, match_decision, "{}", record.message);
    } else {
        tracing::info!(event = record.event, code, "{}", record.message);
    }
}

/// The figures of one exception's record; what a kind of record has none of is left out.
#[derive(Default)]
struct Fields {
    depth: Option<u64>,
    worker: Option<u64>,
    route: Option<&'static str>,
    operation: Option<&'static str>,
    attempt: Option<u64>,
    attempts: Option<u64>,
    delay_ms: Option<u64>,
    class: Option<&'static str>,
    age_ms: Option<u64>,
}

/// A line about one exception.
pub(crate) fn trace(trace: &Trace) {
    let none = Fields::default();
    let fields = match trace.happened {
        Happened::Enqueued { depth } => Fields { depth: u64::try_from(depth).ok(), ..none },
        Happened::Evaluated { worker, route } => {
            Fields { worker: Some(worker.into()), route: Some(Route::as_str(route)), ..none }
        }
        Happened::RetryScheduled { operation, attempt, delay_ms } => {
            Fields { operation: Some(operation), attempt: Some(attempt.into()), delay_ms: Some(delay_ms), ..none }
        }
        Happened::DeadLettered { operation, attempts, class } => Fields {
            operation: Some(operation),
            attempts: Some(attempts.into()),
            class: Some(FailureClass::as_str(class)),
            ..none
        },
        Happened::ConsumerLag { age_ms } => Fields { age_ms: Some(age_ms), ..none },
        Happened::DuplicateSkipped | Happened::DrainTimeout | Happened::LostTask => none,
    };
    let Fields { depth, worker, route, operation, attempt, attempts, delay_ms, class, age_ms } = fields;
    let ids = trace.ids.as_ref();
    tracing::info!(
        event = trace.happened.event(),
        code = trace.happened.code().map(Code::as_str),
        exception = trace.exception.0,
        trace_id = ids.map(|Ids { trace_id, .. }| tracing::field::display(trace_id)),
        source_hash = ids.map(|ids| ids.source_hash.as_str()),
        match_decision = ids.map(|ids| ids.match_decision),
        depth,
        worker,
        route,
        operation,
        attempt,
        attempts,
        delay_ms,
        class,
        age_ms,
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io;
    use std::sync::{Arc, Mutex};

    use countersign_domain::id::ExceptionId;
    use serde_json::{Map, Value};
    use uuid::Uuid;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no test panics while it writes").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The fields of one record as they are in the log.
    fn logged(what: impl FnOnce()) -> Map<String, Value> {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, what);
        let text = String::from_utf8(lines.0.lock().expect("nobody writes any more").clone()).expect("JSON is text");
        let line: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("one line of JSON, {error}: {text}"));
        line["fields"].as_object().expect("a record has fields").clone()
    }

    fn names(fields: &Map<String, Value>) -> BTreeSet<&str> {
        fields.keys().map(String::as_str).collect()
    }

    #[test]
    fn every_record_of_an_exception_has_its_fields_and_no_others() {
        let ids = Ids { trace_id: Uuid::from_u128(7), source_hash: "ab".repeat(32), match_decision: "PARTIAL" };
        let score = "score";
        let class = FailureClass::Transient;
        for (happened, own) in [
            (Happened::Enqueued { depth: 3 }, &["depth"][..]),
            (Happened::Evaluated { worker: 1, route: Route::RouteReview }, &["worker", "route"]),
            (Happened::DuplicateSkipped, &[]),
            (
                Happened::RetryScheduled { operation: score, attempt: 1, delay_ms: 2_000 },
                &["operation", "attempt", "delay_ms"],
            ),
            (
                Happened::DeadLettered { operation: score, attempts: 3, class },
                &["operation", "attempts", "class", "code"],
            ),
            (Happened::DrainTimeout, &["code"]),
            (Happened::LostTask, &["code"]),
            (Happened::ConsumerLag { age_ms: 900_000 }, &["age_ms", "code"]),
        ] {
            let event = happened.event();
            let of = |ids: Option<Ids>| Trace { happened: happened.clone(), exception: ExceptionId(4), ids };
            let fields = logged(|| trace(&of(Some(ids.clone()))));
            let common = ["event", "exception", "trace_id", "source_hash", "match_decision"];
            assert_eq!(names(&fields), common.into_iter().chain(own.iter().copied()).collect(), "{event}");
            assert_eq!((&fields["event"], &fields["exception"]), (&Value::from(event), &Value::from(4)));
            assert_eq!(fields["trace_id"], Value::from(ids.trace_id.to_string()));
            assert_eq!(fields.get("code").and_then(Value::as_str), happened.code().map(Code::as_str));
            // Of what cannot be read there may be nothing to name but the exception.
            let nameless = logged(|| trace(&of(None)));
            assert_eq!(
                names(&nameless),
                ["event", "exception"].into_iter().chain(own.iter().copied()).collect(),
                "{event}"
            );
        }
    }
}
