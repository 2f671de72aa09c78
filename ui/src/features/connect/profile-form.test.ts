import { expect, test } from "vitest";
import { formOf, type ProfileField, readProfile, sameProfile } from "./profile-form";

const FORM = { ...formOf(null), name: "Close", host: "/run/postgresql", database: "close", user: "me" };

test("a filled form reads as a profile, without the spaces around", () => {
  const files = {
    rootCertificate: " /etc/ca.pem ",
    clientCertificate: " /etc/me.pem",
    clientKey: "/etc/me.key ",
  };
  expect(readProfile({ ...FORM, host: " ledger.example ", ...files })).toEqual({
    profile: {
      name: "Close",
      host: "ledger.example",
      port: 5432,
      database: "close",
      user: "me",
      tls: "verify-full",
      root_certificate: "/etc/ca.pem",
      client_certificate: "/etc/me.pem",
      client_key: "/etc/me.key",
    },
  });
});

test.each([
  ["name", { name: "  " }, /a name/],
  ["host", { host: "" }, /host’s name or address/],
  ["database", { database: "" }, /name of the database/],
  ["user", { user: "\t" }, /login/],
  ["port", { port: "54x2" }, /1 to 65535/],
  ["port", { port: "65536" }, /1 to 65535/],
  ["port", { port: "0" }, /1 to 65535/],
  ["clientKey", { clientCertificate: "/me.pem" }, /needs its key/],
  ["clientCertificate", { clientKey: "/me.key" }, /needs its certificate/],
])("a wrong %s is said at that field, and at no other", (field, part, message) => {
  const reading = readProfile({ ...FORM, ...part });
  if ("profile" in reading) throw new Error("it was taken for a profile");
  expect(Object.keys(reading.problems)).toEqual([field]);
  expect(reading.problems[field as ProfileField]).toMatch(message);
});

test("everything that is missing is said at once", () => {
  const reading = readProfile({ ...formOf(null), port: "" });
  expect("problems" in reading && Object.keys(reading.problems).sort()).toEqual([
    "database",
    "host",
    "name",
    "port",
    "user",
  ]);
});

test("without TLS there are no certificates", () => {
  const files = {
    rootCertificate: "/etc/ca.pem",
    clientCertificate: "/etc/me.pem",
    clientKey: "/etc/me.key",
  };
  const reading = readProfile({ ...FORM, tls: "disable", ...files });
  expect(reading).toMatchObject({
    profile: { root_certificate: null, client_certificate: null, client_key: null },
  });
});

test("a profile goes through the form unchanged", () => {
  const reading = readProfile({ ...FORM, port: "6432", clientCertificate: "/me.pem", clientKey: "/me.key" });
  if ("problems" in reading) throw new Error(JSON.stringify(reading.problems));
  const again = readProfile(formOf(reading.profile));
  expect("profile" in again && sameProfile(reading.profile, again.profile)).toBe(true);
  expect(sameProfile(reading.profile, { ...reading.profile, client_key: "/other.key" })).toBe(false);
});
