import { expect, test } from "vitest";
import { coalesce } from "./coalesce";

test("requests during a run cause exactly one more run", async () => {
  const finish: (() => void)[] = [];
  const request = coalesce(() => new Promise<void>((resolve) => finish.push(resolve)));
  request();
  request();
  request();
  expect(finish).toHaveLength(1);
  finish[0]?.();
  await Promise.resolve().then(() => undefined);
  await new Promise((resolve) => setTimeout(resolve));
  expect(finish).toHaveLength(2);
  finish[1]?.();
  await new Promise((resolve) => setTimeout(resolve));
  expect(finish).toHaveLength(2);
});

test("a run that fails does not end the following", async () => {
  let runs = 0;
  const request = coalesce(async () => {
    runs += 1;
    throw new Error("offline");
  });
  request();
  await new Promise((resolve) => setTimeout(resolve));
  request();
  await new Promise((resolve) => setTimeout(resolve));
  expect(runs).toBe(2);
});
