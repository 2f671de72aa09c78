//! What a sales claim carries.

use serde::Deserialize;

/// A retailer's deduction against the agreement. Its key is the SHA-256, in lower-case hex, of
/// `retailer_invoice|line_item_hash|promo_tier|claim_period`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("oneOf" = [{"required": ["line_items"], "properties": {"line_items": {"type": "array", "minItems": 1}, "line_items_sha256": {"type": "null"}}}, {"required": ["line_items_sha256"], "properties": {"line_items": {"type": "null"}, "line_items_sha256": {"type": "string"}}}])))]
pub struct SalesClaim {
    /// The retailer's invoice that the deduction is on.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::key_part"))]
    pub retailer_invoice: String,
    /// The vendor, as the register of vendors names it.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::name"))]
    pub vendor_id: String,
    /// The vendor's name, to be shown.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_name"))]
    pub vendor_name: Option<String>,
    /// What period the claim is for.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::key_part"))]
    pub claim_period: String,
    /// The tier of the promotion.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::key_part"))]
    pub promo_tier: String,
    /// The producer's hash of the line items.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::key_part"))]
    pub line_item_hash: String,
    /// The agreement.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_name"))]
    pub agreement_ref: Option<String>,
    /// The version of the agreement that was in force: pinned when the claim is made, never resolved later.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::agreement_version"))]
    pub agreement_version: u32,
    /// How many units, or of what amount, the rate is applied to.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub qualifying_units: Option<String>,
    /// The agreement's rate; none where it has none for this claim.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub tier_rate: Option<String>,
    /// What the rate is of, such as `per_unit` or `percent_of_invoice`; it is shown.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_name"))]
    pub rate_basis: Option<String>,
    /// What the retailer took off, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::decimal"))]
    pub claimed_amount: String,
    /// What the matching engine says the agreement gives, in the currency's minor units.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub contract_amount: Option<String>,
    /// How many line items the claim has.
    pub line_item_count: u64,
    /// The line items. They may be fewer than `line_item_count`, to be looked at; but all of them, where each has its own `units` and
    /// `tier_rate`, because then the accrual is their sum.
    #[serde(default)]
    pub line_items: Option<Vec<LineItem>>,
    /// The SHA-256 of the line items, in lower-case hex, where they come apart from the claim. Then it carries none itself, and the
    /// accrual is `qualifying_units` times `tier_rate`.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_sha256"))]
    pub line_items_sha256: Option<String>,
}

/// One line of a claim. Each field may be absent; what else a line has is kept and shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LineItem {
    /// What qualifies for the rate of this line.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub units: Option<String>,
    /// The agreement's rate for this line.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub tier_rate: Option<String>,
    /// What was sold or taken back.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub quantity: Option<String>,
    /// The price of one, exact.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub unit_price: Option<String>,
    /// The list price of one, exact.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub list_price: Option<String>,
    /// The amount of the line, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub line_amount: Option<String>,
    /// What coupons took off, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub coupon: Option<String>,
    /// What the retailer added to the coupons, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub retailer_match: Option<String>,
    /// What was billed, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub billed: Option<String>,
    /// What was paid, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub paid: Option<String>,
    /// The discount that was taken, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub discount: Option<String>,
    /// What was adjusted, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub adjustment: Option<String>,
}

impl LineItem {
    /// Its exact decimals, by name.
    pub(super) fn decimals(&self) -> [(&'static str, Option<&String>); 5] {
        [
            ("units", self.units.as_ref()),
            ("tier_rate", self.tier_rate.as_ref()),
            ("quantity", self.quantity.as_ref()),
            ("unit_price", self.unit_price.as_ref()),
            ("list_price", self.list_price.as_ref()),
        ]
    }

    /// Its amounts in the currency, by name.
    pub(super) fn amounts(&self) -> [(&'static str, Option<&String>); 7] {
        [
            ("line_amount", self.line_amount.as_ref()),
            ("coupon", self.coupon.as_ref()),
            ("retailer_match", self.retailer_match.as_ref()),
            ("billed", self.billed.as_ref()),
            ("paid", self.paid.as_ref()),
            ("discount", self.discount.as_ref()),
            ("adjustment", self.adjustment.as_ref()),
        ]
    }
}
