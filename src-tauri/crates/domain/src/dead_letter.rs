//! Why something is a dead letter, in the words of finance.

use crate::exception::names;

names! {
    /// What a dead letter has in common with others: the desk works through one cause at a time.
    Cause {
        /// It cannot be read at all.
        Unreadable = "UNREADABLE",
        /// Its layout is of a version that is not supported.
        SchemaVersion = "SCHEMA_VERSION",
        /// A field is missing, unknown, or not of the type it should be.
        Field = "FIELD",
        /// A value is none of those that are known.
        UnknownValue = "UNKNOWN_VALUE",
        /// A key or name is empty, too long, or has control characters.
        Name = "NAME",
        /// A date or an instant is not valid.
        Date = "DATE",
        /// A currency is not in ISO 4217, or was withdrawn.
        Currency = "CURRENCY",
        /// An amount is no exact decimal of its currency.
        Amount = "AMOUNT",
        /// The key is not the one of this content.
        Key = "KEY",
        /// The source hash is not the one of this content.
        SourceHash = "SOURCE_HASH",
        /// The agreement's version is not pinned.
        Agreement = "AGREEMENT",
        /// Nobody knows the vendor.
        Vendor = "VENDOR",
        /// Line items are missing or do not add up.
        LineItems = "LINE_ITEMS",
        /// Nothing was read from the receipt.
        EmptyExtraction = "EMPTY_EXTRACTION",
        /// It contradicts what is decided, or lies elsewhere.
        Conflict = "CONFLICT",
        /// A workstation could not score it.
        Scoring = "SCORING",
        /// A decision that the database can never take.
        SignOff = "SIGN_OFF",
        /// Anything else; what an earlier release kept has no other cause.
        Other = "OTHER",
    }
}

impl Cause {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unreadable => "Cannot be read as an arrival",
            Self::SchemaVersion => "Layout of an unsupported version",
            Self::Field => "A field is missing or not as expected",
            Self::UnknownValue => "A value that nobody knows",
            Self::Name => "A key or name that cannot be used",
            Self::Date => "A date that is not valid",
            Self::Currency => "A currency that is not in use",
            Self::Amount => "An amount that is not exact in its currency",
            Self::Key => "The key does not belong to the content",
            Self::SourceHash => "The source hash does not belong to the content",
            Self::Agreement => "The agreement's version is not pinned",
            Self::Vendor => "The vendor is not known",
            Self::LineItems => "Line items are missing or do not add up",
            Self::EmptyExtraction => "Nothing was read from the receipt",
            Self::Conflict => "Contradicts what is decided or lies elsewhere",
            Self::Scoring => "A workstation could not score it",
            Self::SignOff => "A decision the database cannot take",
            Self::Other => "Something else",
        }
    }
}
