import type { Profile } from "../../generated/Profile";
import type { TlsMode } from "../../generated/TlsMode";

/** What stands in the form's fields: text, until it is read as a profile. */
export interface ProfileForm {
  name: string;
  host: string;
  port: string;
  database: string;
  user: string;
  tls: TlsMode;
  rootCertificate: string;
  clientCertificate: string;
  clientKey: string;
}

export function formOf(profile: Profile | null): ProfileForm {
  return {
    name: profile?.name ?? "",
    host: profile?.host ?? "",
    port: String(profile?.port ?? 5432),
    database: profile?.database ?? "",
    user: profile?.user ?? "",
    tls: profile?.tls ?? "verify-full",
    rootCertificate: profile?.root_certificate ?? "",
    clientCertificate: profile?.client_certificate ?? "",
    clientKey: profile?.client_key ?? "",
  };
}

export type Reading = { profile: Profile } | { problem: string };

/** Reads the fields as a profile, or says which one is wrong. Where a connection may go is decided on the other side. */
export function readProfile(form: ProfileForm): Reading {
  const text = {
    name: form.name.trim(),
    host: form.host.trim(),
    database: form.database.trim(),
    user: form.user.trim(),
  };
  const missing = Object.entries(text).find(([, value]) => value === "");
  if (missing !== undefined) return { problem: `The ${missing[0]} is missing.` };
  const port = /^\d{1,5}$/.test(form.port.trim()) ? Number.parseInt(form.port, 10) : 0;
  if (port < 1 || port > 65_535) return { problem: "The port is a number from 1 to 65535." };
  const file = (path: string) => (path.trim() === "" || form.tls === "disable" ? null : path.trim());
  return {
    profile: {
      ...text,
      port,
      tls: form.tls,
      root_certificate: file(form.rootCertificate),
      client_certificate: file(form.clientCertificate),
      client_key: file(form.clientKey),
    },
  };
}

export function sameProfile(a: Profile | null, b: Profile): boolean {
  return (
    a !== null &&
    a.name === b.name &&
    a.host === b.host &&
    a.port === b.port &&
    a.database === b.database &&
    a.user === b.user &&
    a.tls === b.tls &&
    a.root_certificate === b.root_certificate &&
    a.client_certificate === b.client_certificate &&
    a.client_key === b.client_key
  );
}
