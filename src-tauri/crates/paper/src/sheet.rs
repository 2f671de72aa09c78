//! The sheet of a deck: its rows and its columns.

use std::borrow::Cow;
use std::fmt;

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::exception::{Kind, MatchDecision, RoutingTier};
use countersign_domain::id::{ContentHash, ExceptionId};
use countersign_domain::money::Money;
use countersign_domain::visible::visible;

/// The most characters of a cell. Spreadsheets take 32,767.
pub const CELL_CHARS: usize = 32_000;

/// One exception of the deck.
#[derive(Clone, PartialEq, Eq)]
pub struct SheetRow {
    /// The exception's identifier.
    pub id: ExceptionId,
    /// The version that is shown.
    pub version: u32,
    /// The content that is shown.
    pub content: ContentHash,
    /// The idempotency key.
    pub key: String,
    /// Where it comes from.
    pub kind: Kind,
    /// The ledger entity.
    pub entity: String,
    /// The other side.
    pub counterparty: String,
    /// The variance.
    pub variance: Money,
    /// When it was submitted.
    pub submitted_at: DateTime<Utc>,
    /// Whole days since then.
    pub age_days: u32,
    /// The day that says which close period it belongs to.
    pub business_date: NaiveDate,
    /// When it has to be decided.
    pub due_on: Option<NaiveDate>,
    /// How urgent it is.
    pub tier: RoutingTier,
    /// What the matching engine said.
    pub match_decision: MatchDecision,
    /// What policy suggests, in a word or two.
    pub suggestion: String,
    /// The state of its row, in a few words.
    pub state: String,
    /// Items of one group are decided together.
    pub group: Option<String>,
    /// The unit of ordering.
    pub partition: String,
    /// Its place in it.
    pub seq: i64,
}

// Without what the exception says.
impl fmt::Debug for SheetRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SheetRow({} v{} at {} of {})", self.id, self.version, self.seq, self.variance.currency)
    }
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// `APPROVE`, `REJECT` or nothing: to be filled in.
    Decision,
    /// A reason code: to be filled in.
    Reason,
    /// Free text: to be filled in.
    Comment,
    /// The exception's identifier.
    Exception,
    /// The ledger entity.
    Entity,
    /// The other side.
    Counterparty,
    /// The variance.
    Variance,
    /// ISO 4217.
    Currency,
    /// Where it comes from.
    Kind,
    /// How urgent it is.
    Tier,
    /// What the matching engine said.
    Match,
    /// What policy suggests.
    Suggestion,
    /// The state of the row.
    State,
    /// The day that says which close period it belongs to.
    BusinessDate,
    /// When it has to be decided.
    Due,
    /// The day on which it was submitted, in UTC.
    Submitted,
    /// Whole days since then.
    AgeDays,
    /// What is decided together.
    Group,
    /// The unit of ordering.
    Partition,
    /// The place in it.
    Number,
    /// The idempotency key.
    Key,
    /// The version that was exported.
    Version,
    /// The content that was exported.
    Content,
}

impl Column {
    /// All, in their order. What is filled in comes first, what only the import needs last.
    pub const ALL: [Self; 23] = [
        Self::Decision,
        Self::Reason,
        Self::Comment,
        Self::Exception,
        Self::Entity,
        Self::Counterparty,
        Self::Variance,
        Self::Currency,
        Self::Kind,
        Self::Tier,
        Self::Match,
        Self::Suggestion,
        Self::State,
        Self::BusinessDate,
        Self::Due,
        Self::Submitted,
        Self::AgeDays,
        Self::Group,
        Self::Partition,
        Self::Number,
        Self::Key,
        Self::Version,
        Self::Content,
    ];

    /// Without these a file says nothing that could be signed.
    pub const REQUIRED: [Self; 4] = [Self::Decision, Self::Exception, Self::Version, Self::Content];

    /// The heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Decision => "Decision",
            Self::Reason => "Reason",
            Self::Comment => "Comment",
            Self::Exception => "Exception",
            Self::Entity => "Entity",
            Self::Counterparty => "Counterparty",
            Self::Variance => "Variance",
            Self::Currency => "Currency",
            Self::Kind => "Kind",
            Self::Tier => "Tier",
            Self::Match => "Match",
            Self::Suggestion => "Suggestion",
            Self::State => "State",
            Self::BusinessDate => "Business date",
            Self::Due => "Due",
            Self::Submitted => "Submitted",
            Self::AgeDays => "Age (days)",
            Self::Group => "Group",
            Self::Partition => "Partition",
            Self::Number => "Number",
            Self::Key => "Key",
            Self::Version => "Version",
            Self::Content => "Content SHA-256",
        }
    }
}

/// What a cell holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Nothing.
    Empty,
    /// Text, whatever it looks like.
    Text(Cow<'a, str>),
    /// An amount.
    Amount(Money),
    /// A whole number.
    Count(i64),
    /// A plain date.
    Date(NaiveDate),
}

/// Text as a cell holds it: what cannot be seen is spelled out, and what is too long is cut.
pub fn cell_text(text: &str) -> Cow<'_, str> {
    let shown = visible(text);
    match shown.char_indices().nth(CELL_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &shown[..end])),
        None => shown,
    }
}

impl SheetRow {
    /// What a column holds.
    pub fn cell(&self, column: Column) -> Cell<'_> {
        let text = |text: &'static str| Cell::Text(Cow::Borrowed(text));
        let outside = |text| Cell::Text(cell_text(text));
        match column {
            Column::Decision | Column::Reason | Column::Comment => Cell::Empty,
            Column::Exception => Cell::Text(Cow::Owned(self.id.to_string())),
            Column::Entity => outside(&self.entity),
            Column::Counterparty => outside(&self.counterparty),
            Column::Variance => Cell::Amount(self.variance),
            Column::Currency => text(self.variance.currency.code()),
            Column::Kind => text(self.kind.as_str()),
            Column::Tier => text(self.tier.as_str()),
            Column::Match => text(self.match_decision.as_str()),
            Column::Suggestion => outside(&self.suggestion),
            Column::State => outside(&self.state),
            Column::BusinessDate => Cell::Date(self.business_date),
            Column::Due => self.due_on.map_or(Cell::Empty, Cell::Date),
            Column::Submitted => Cell::Date(self.submitted_at.date_naive()),
            Column::AgeDays => Cell::Count(self.age_days.into()),
            Column::Group => self.group.as_deref().map_or(Cell::Empty, outside),
            Column::Partition => outside(&self.partition),
            Column::Number => Cell::Count(self.seq),
            Column::Key => outside(&self.key),
            Column::Version => Cell::Count(self.version.into()),
            Column::Content => Cell::Text(Cow::Owned(self.content.0.to_string())),
        }
    }
}
