import type { ReceiptRow } from "../../generated/ReceiptRow";

function receipt(number: number, minutes: number, part: Partial<ReceiptRow>): ReceiptRow {
  return {
    number: String(number),
    at: new Date(Date.now() - minutes * 60_000).toISOString(),
    submitted: 0,
    committed: 0,
    refused: 0,
    duplicate: 0,
    nets: [],
    policy_version: 7,
    other_policy: null,
    ...part,
  };
}

function net(currency: string, minor_units: number, count: number, amount: string) {
  return { currency, minor_units, count, net: amount };
}

/** Receipts of an earlier hour, newest first. */
export function earlierReceipts(): ReceiptRow[] {
  return [
    receipt(4127, 2, {
      submitted: 21,
      committed: 20,
      refused: 1,
      nets: [net("EUR", 2, 7, "-1204.55"), net("JPY", 0, 2, "48000"), net("USD", 2, 11, "18310.02")],
    }),
    receipt(4119, 16, {
      submitted: 6,
      committed: 5,
      duplicate: 1,
      nets: [net("USD", 2, 5, "-77.10")],
      other_policy: "4 were decided under another policy than version 7",
    }),
    receipt(4102, 41, { submitted: 48, committed: 48, nets: [net("USD", 2, 48, "902114.00")] }),
  ];
}
