//! A receipt as JSON, with every field. The layout is described in `docs/files.md`.

use crate::receipt::BatchReceipt;

/// Writes a receipt, indented and with a line feed at its end.
pub fn receipt_json(receipt: &BatchReceipt) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec_pretty(receipt)?;
    bytes.push(b'\n');
    Ok(bytes)
}
