//! Gathers chunks and hands them to the lanes: small arrivals to one, heavy ones to another, so that small ones flow past.

use std::collections::{BTreeSet, HashMap};

use countersign_backlog::failure::Step;
use countersign_domain::code::{Code, FailureClass};
use countersign_domain::hash;
use tokio::sync::mpsc;

use crate::text::shown;
use crate::{AdminError, Database};

use super::EnqueueReport;
use super::chunk::{Answer, CHUNK_BYTES, CHUNK_ITEMS, DeadLetter, Item};
use super::lane::{Connection, Done, Lane};

/// An arrival with more bytes takes the lane of the heavy ones.
const HEAVY_BYTES: usize = 1024 * 1024;
/// Chunks of small ones that wait, besides the one that is being gathered and the one that is being taken in.
const SMALL_WAITING: usize = 1;
/// Heavy ones that wait; after that, reading waits.
const HEAVY_WAITING: usize = 1;

pub(crate) struct Intake<'a> {
    database: &'a Database,
    origin: &'a str,
    keeping: Connection,
    small: Lane,
    heavy: Option<Lane>,
    done: mpsc::UnboundedReceiver<Done>,
    tell: mpsc::UnboundedSender<Done>,
    items: Bounded<Item>,
    letters: Bounded<DeadLetter>,
    report: EnqueueReport,
    /// First lines of the chunks that are under way in the lane of the small ones.
    under_way: BTreeSet<u64>,
    /// Lines under way in the other lane, and how many there are of each partition: what follows them in their partition follows them there.
    heavy_lines: BTreeSet<u64>,
    behind: HashMap<String, usize>,
}

/// A list with a bound on its bytes.
struct Bounded<T> {
    list: Vec<T>,
    bytes: usize,
}

impl<T> Bounded<T> {
    const EMPTY: Self = Self { list: Vec::new(), bytes: 0 };

    fn has_room(&self, bytes: usize) -> bool {
        self.list.is_empty() || (self.list.len() < CHUNK_ITEMS && self.bytes + bytes <= CHUNK_BYTES)
    }

    fn push(&mut self, item: T, bytes: usize) {
        self.list.push(item);
        self.bytes += bytes;
    }

    fn take(&mut self) -> Vec<T> {
        self.bytes = 0;
        std::mem::take(&mut self.list)
    }
}

impl<'a> Intake<'a> {
    pub(crate) async fn connect(database: &'a Database, origin: &'a str) -> Result<Self, AdminError> {
        let connection = Connection::open(database).await;
        let connection = connection.map_err(|error| database.error("connecting", Step::Connect, &error))?;
        let (tell, done) = mpsc::unbounded_channel();
        Ok(Self {
            database,
            origin,
            keeping: Connection::later(database),
            small: Lane::open(connection, SMALL_WAITING, tell.clone()),
            heavy: None,
            done,
            tell,
            items: Bounded::EMPTY,
            letters: Bounded::EMPTY,
            report: EnqueueReport::default(),
            under_way: BTreeSet::new(),
            heavy_lines: BTreeSet::new(),
            behind: HashMap::new(),
        })
    }

    pub(crate) fn report(&self) -> &EnqueueReport {
        &self.report
    }

    /// Says how far the input got. An input of which nothing went in failed as a whole.
    pub(crate) fn interrupted(&self, error: AdminError) -> AdminError {
        let open = [
            self.under_way.first().copied(),
            self.heavy_lines.first().copied(),
            self.items.list.first().map(|item| item.line),
            self.letters.list.iter().map(|letter| letter.line).min(),
        ];
        let line = open.into_iter().flatten().min().map_or(self.report.lines, |first| first.saturating_sub(1));
        if line == 0 {
            return error;
        }
        AdminError::Interrupted { origin: shown(self.origin), line, source: Box::new(error) }
    }

    pub(crate) fn blank(&mut self) {
        self.report.lines += 1;
        self.report.blank += 1;
    }

    /// Adds an arrival. Whether something was sent for it.
    pub(crate) async fn item(&mut self, item: Item) -> Result<bool, AdminError> {
        self.report.lines += 1;
        let bytes = item.body.len();
        if bytes > HEAVY_BYTES || self.behind.contains_key(&item.partition) {
            self.heavy(item).await?;
            return Ok(true);
        }
        let full = !self.items.has_room(bytes);
        if full {
            self.flush().await?;
        }
        self.items.push(item, bytes);
        Ok(full)
    }

    /// Adds a dead letter. Whether something was sent for it.
    pub(crate) async fn dead_letter(&mut self, letter: DeadLetter) -> Result<bool, AdminError> {
        self.report.lines += 1;
        self.report.refused += 1;
        let full = !self.letters.has_room(letter.original.len());
        if full {
            self.send_letters().await?;
        }
        self.keep(letter);
        Ok(full)
    }

    pub(crate) async fn finish(mut self) -> Result<EnqueueReport, AdminError> {
        let all = async {
            self.flush().await?;
            self.settle(|intake| intake.under_way.is_empty() && intake.heavy_lines.is_empty()).await?;
            self.send_letters().await
        };
        let all = all.await;
        all.map_err(|error| self.interrupted(error))?;
        self.small.close().await;
        if let Some(heavy) = self.heavy {
            heavy.close().await;
        }
        self.keeping.close().await;
        Ok(self.report)
    }

    /// Hands the chunk over, and takes the answers that are there.
    async fn flush(&mut self) -> Result<(), AdminError> {
        let items = self.items.take();
        if let Some(first) = items.first() {
            self.under_way.insert(first.line);
            if !self.small.send(items).await {
                return self.settle(|intake| intake.under_way.is_empty()).await;
            }
        }
        while let Ok(done) = self.done.try_recv() {
            self.answered(done).await?;
        }
        Ok(())
    }

    async fn heavy(&mut self, item: Item) -> Result<(), AdminError> {
        if !self.behind.contains_key(&item.partition) {
            // What came before it in its partition goes in before it.
            self.flush().await?;
            self.settle(|intake| intake.under_way.is_empty()).await?;
        }
        *self.behind.entry(item.partition.clone()).or_default() += 1;
        self.heavy_lines.insert(item.line);
        let (database, tell) = (self.database, &self.tell);
        let lane =
            self.heavy.get_or_insert_with(|| Lane::open(Connection::later(database), HEAVY_WAITING, tell.clone()));
        if !lane.send(vec![item]).await {
            return self.settle(|intake| intake.heavy_lines.is_empty()).await;
        }
        Ok(())
    }

    /// Waits for answers until that is enough.
    async fn settle(&mut self, enough: impl Fn(&Self) -> bool) -> Result<(), AdminError> {
        while !enough(self) {
            let Some(done) = self.done.recv().await else { break };
            self.answered(done).await?;
        }
        Ok(())
    }

    async fn answered(&mut self, done: Done) -> Result<(), AdminError> {
        let answers = done.map_err(|error| self.database.error("enqueue", Step::Version, &error))?;
        if let Some((first, _)) = answers.first()
            && !self.under_way.remove(&first.line)
        {
            for (item, _) in &answers {
                self.heavy_lines.remove(&item.line);
                if let Some(left) = self.behind.get_mut(&item.partition) {
                    *left -= 1;
                    if *left == 0 {
                        self.behind.remove(&item.partition);
                    }
                }
            }
        }
        for (item, answer) in answers {
            self.answer(item, answer).await?;
        }
        Ok(())
    }

    async fn answer(&mut self, item: Item, answer: Answer) -> Result<(), AdminError> {
        let Answer { outcome, detail, field, cause } = answer;
        match outcome.as_str() {
            "ENQUEUED" => self.report.enqueued += 1,
            "RELEASED" => self.report.released += 1,
            "CORRECTED" => self.report.corrected += 1,
            "DUPLICATE" => {
                self.report.duplicates += 1;
                self.report.duplicates_with_other_content += u64::from(detail.is_some());
            }
            outcome => {
                let refused = outcome == "REFUSED";
                *(if refused { &mut self.report.refused } else { &mut self.report.conflicts }) += 1;
                let letter = DeadLetter {
                    line: item.line,
                    hash: hash::sha256(&item.original),
                    size: item.original.len() as u64,
                    original: item.original,
                    code: if refused { Code::PoisonMessage.as_str() } else { "CONFLICT" },
                    class: if refused { FailureClass::Structural } else { FailureClass::Business },
                    field,
                    reason: detail.unwrap_or_else(|| format!("the database answered {outcome}")),
                    key: Some(item.key),
                    cause,
                };
                if !self.letters.has_room(letter.original.len()) {
                    self.send_letters().await?;
                }
                self.keep(letter);
            }
        }
        Ok(())
    }

    fn keep(&mut self, letter: DeadLetter) {
        let bytes = letter.original.len();
        self.letters.push(letter, bytes);
    }

    async fn send_letters(&mut self) -> Result<(), AdminError> {
        let letters = self.letters.take();
        if letters.is_empty() {
            return Ok(());
        }
        let sent = self.keeping.keep(self.origin, &letters).await;
        for new in sent.map_err(|error| self.database.error("keep dead letters", Step::Version, &error))? {
            *(if new { &mut self.report.dead_letters_new } else { &mut self.report.dead_letters_seen_before }) += 1;
        }
        Ok(())
    }
}
