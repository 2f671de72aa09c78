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

export type ProfileField = keyof ProfileForm;

/** What is wrong with which field, and what to do. */
export type Problems = Partial<Record<ProfileField, string>>;

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

export type Reading = { profile: Profile } | { problems: Problems };

const MISSING = {
  name: "Give the connection a name, so that you recognise it.",
  host: "Enter the host’s name or address, or the directory of a socket.",
  database: "Enter the name of the database.",
  user: "Enter the login you were given.",
} as const;

/** Reads the fields as a profile, or says which ones are wrong. Where a connection may go is decided on the other side. */
export function readProfile(form: ProfileForm): Reading {
  const text = {
    name: form.name.trim(),
    host: form.host.trim(),
    database: form.database.trim(),
    user: form.user.trim(),
  };
  const problems: Problems = {};
  for (const [field, words] of Object.entries(MISSING) as [keyof typeof MISSING, string][]) {
    if (text[field] === "") problems[field] = words;
  }
  const port = /^\d{1,5}$/.test(form.port.trim()) ? Number.parseInt(form.port, 10) : 0;
  if (port < 1 || port > 65_535) problems.port = "The port is a number from 1 to 65535.";
  const file = (path: string) => (path.trim() === "" || form.tls === "disable" ? null : path.trim());
  const certificate = file(form.clientCertificate);
  const key = file(form.clientKey);
  if (certificate !== null && key === null) problems.clientKey = "A client certificate needs its key.";
  if (certificate === null && key !== null)
    problems.clientCertificate = "A client key needs its certificate.";
  if (Object.keys(problems).length > 0) return { problems };
  return {
    profile: {
      ...text,
      port,
      tls: form.tls,
      root_certificate: file(form.rootCertificate),
      client_certificate: certificate,
      client_key: key,
    },
  };
}

/** The step of a connection test that a field decides about, so that a failure is shown where it is put right. */
export const FIELD_OF_STEP: Record<string, ProfileField> = {
  NAME: "host",
  PORT: "port",
  TLS: "rootCertificate",
  LOGIN: "user",
};

const PARTS = [
  "name",
  "host",
  "port",
  "database",
  "user",
  "tls",
  "root_certificate",
  "client_certificate",
  "client_key",
] as const satisfies readonly (keyof Profile)[];

export function sameProfile(a: Profile | null, b: Profile): boolean {
  return a !== null && PARTS.every((part) => a[part] === b[part]);
}
