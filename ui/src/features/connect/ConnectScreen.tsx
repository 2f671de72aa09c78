import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../../components/Button";
import { Choice } from "../../components/Choice";
import field from "../../components/field.module.css";
import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import type { TlsMode } from "../../generated/TlsMode";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { LeavingPanel } from "../leaving/LeavingPanel";
import { useFrame } from "../shell/frame-store";
import styles from "./ConnectScreen.module.css";
import { formOf, type ProfileForm, readProfile, sameProfile } from "./profile-form";

const TLS_MODES: readonly { id: TlsMode; label: string }[] = [
  { id: "verify-full", label: "Verify certificate and host name" },
  { id: "disable", label: "None (socket or loopback only)" },
];

export function ConnectScreen({ session }: { session: SessionView }) {
  const ipc = useIpc();
  const client = useQueryClient();
  const workOffline = useFrame((state) => state.workOffline);
  const [form, setForm] = useState(() => formOf(session.profile));
  const [password, setPassword] = useState("");
  const [remember, setRemember] = useState(false);
  const [problem, setProblem] = useState<string | null>(session.link.problem?.message ?? null);
  const [connecting, setConnecting] = useState(false);
  const change = (part: Partial<ProfileForm>) => setForm((before) => ({ ...before, ...part }));
  // Who has just signed out is known, and so is where to.
  const asksPassword = session.needs === "PASSWORD" || session.leaving !== null;

  const submit = async () => {
    const reading = readProfile(form);
    if ("problem" in reading) return setProblem(reading.problem);
    const { profile } = reading;
    setProblem(null);
    setConnecting(true);
    const keep = (value: SessionView) =>
      client.setQueryData(["session"], { value, askedAtMs: performance.now() });
    try {
      const saved = session.profiles.find(({ name }) => name === profile.name) ?? null;
      if (!sameProfile(saved, profile)) keep(await ipc.saveProfile(profile));
      const connected = await ipc.connect(profile.name, password === "" ? null : password, remember);
      keep(connected);
      setPassword("");
      if (connected.needs !== "NOTHING")
        setProblem(connected.link.problem?.message ?? "The password is needed.");
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
    } finally {
      setConnecting(false);
    }
  };

  return (
    <main className={styles.page}>
      <form
        className={styles.card}
        data-testid="connect-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!connecting) void submit();
        }}
      >
        <h1>Countersign</h1>
        <p className={styles.lead}>
          {asksPassword ? "Sign in to the backlog." : "Where is the backlog of exceptions, and who are you?"}
        </p>
        {session.profiles.length > 1 && (
          <Choice
            label="Saved connections"
            options={session.profiles.map(({ name }) => ({ id: name, label: visibleText(name) }))}
            value={session.profiles.some(({ name }) => name === form.name) ? form.name : null}
            onChange={(name) =>
              setForm(formOf(session.profiles.find((profile) => profile.name === name) ?? null))
            }
            data-testid="connect-profiles"
          />
        )}
        <div className={styles.fields}>
          <Line
            label="Name"
            name="name"
            value={form.name}
            onChange={(name) => change({ name })}
            wide
            placeholder="Month-end close"
            autoFocus={!asksPassword}
          />
          <Line
            label="Host or socket directory"
            name="host"
            value={form.host}
            onChange={(host) => change({ host })}
            wide
          />
          <Line label="Port" name="port" value={form.port} onChange={(port) => change({ port })} />
          <Line
            label="Database"
            name="database"
            value={form.database}
            onChange={(database) => change({ database })}
            wide
          />
          <Line label="User" name="user" value={form.user} onChange={(user) => change({ user })} wide />
          <div className={styles.all}>
            <Choice
              label="TLS"
              options={TLS_MODES}
              value={form.tls}
              onChange={(tls) => change({ tls: TLS_MODES.find(({ id }) => id === tls)?.id ?? "verify-full" })}
              data-testid="connect-tls"
            />
          </div>
          <div className={styles.all}>
            <Line
              label="Root certificate (PEM file)"
              name="root-certificate"
              value={form.rootCertificate}
              onChange={(rootCertificate) => change({ rootCertificate })}
              disabled={form.tls === "disable"}
              placeholder="The system’s own are used without it"
            />
          </div>
          <div className={styles.all}>
            <Line
              label="Client certificate (PEM file)"
              name="client-certificate"
              value={form.clientCertificate}
              onChange={(clientCertificate) => change({ clientCertificate })}
              disabled={form.tls === "disable"}
              placeholder="Only where the database asks for one"
            />
          </div>
          <div className={styles.all}>
            <Line
              label="Client key (PEM file)"
              name="client-key"
              value={form.clientKey}
              onChange={(clientKey) => change({ clientKey })}
              disabled={form.tls === "disable"}
              placeholder="Readable by nobody else"
            />
          </div>
          <div className={styles.all}>
            <Line
              label="Password"
              name="password"
              type="password"
              value={password}
              onChange={setPassword}
              autoFocus={asksPassword}
            />
          </div>
        </div>
        <label className={styles.remember}>
          <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
          Remember the password in this computer’s keyring
        </label>
        <p className={styles.problem} role="alert" data-testid="connect-error">
          {problem === null ? "" : visibleText(problem)}
        </p>
        <div className={styles.actions}>
          {(session.deck_count > 0 || session.unsent > 0) && (
            <>
              <Button onPress={() => workOffline(true)} data-testid="work-offline">
                Work offline
              </Button>
              <span className={styles.kept}>
                {session.deck_count} to review, {session.unsent} unsent on this computer
              </span>
            </>
          )}
          <span className={styles.space} />
          <Button type="submit" look="primary" isDisabled={connecting} data-testid="connect-submit">
            {connecting ? "Connecting…" : "Connect"}
          </Button>
        </div>
      </form>
      {session.leaving !== null && (
        <div className={styles.left}>
          <LeavingPanel leaving={session.leaving} />
        </div>
      )}
    </main>
  );
}

interface LineProps {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "password";
  wide?: boolean;
  disabled?: boolean;
  autoFocus?: boolean;
  placeholder?: string;
}

function Line({ label, name, value, onChange, type = "text", wide = false, ...rest }: LineProps) {
  const id = useId();
  return (
    <div className={`${field.field} ${wide ? styles.wide : ""}`}>
      <label className={field.label} htmlFor={id}>
        {label}
      </label>
      <input
        {...rest}
        id={id}
        className={field.input}
        type={type}
        name={name}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        data-testid={name}
      />
    </div>
  );
}
