import { useState } from "react";
import { Button } from "../../components/Button";
import { Choice } from "../../components/Choice";
import { TextField } from "../../components/TextField";
import type { TlsMode } from "../../generated/TlsMode";
import styles from "./ProfileFields.module.css";
import type { Problems, ProfileField, ProfileForm } from "./profile-form";

const TLS_MODES: readonly { id: TlsMode; label: string }[] = [
  { id: "verify-full", label: "Verify certificate and host name" },
  { id: "disable", label: "None (socket or loopback only)" },
];

interface ProfileFieldsProps {
  form: ProfileForm;
  problems: Problems;
  onChange: (part: Partial<ProfileForm>) => void;
  autoFocus?: boolean;
  /** The name is how a saved connection is known: another one would be another connection. */
  nameFixed?: boolean;
}

/** Where the backlog is, and as whom to sign in. */
export function ProfileFields({ form, problems, onChange, autoFocus, nameFixed }: ProfileFieldsProps) {
  const field = (name: ProfileField) => ({
    value: form[name],
    problem: problems[name],
    onChange: (value: string) => onChange({ [name]: value }),
  });
  return (
    <div className={styles.fields}>
      <TextField
        {...field("name")}
        label="Name"
        name="name"
        className={styles.all}
        help={nameFixed ? "A saved connection keeps its name." : "As you want to recognise it."}
        placeholder="Month-end close"
        autoFocus={autoFocus}
        disabled={nameFixed}
      />
      <TextField
        {...field("host")}
        label="Host or socket directory"
        name="host"
        className={styles.most}
        help="Whoever runs the database knows it."
        autoFocus={autoFocus && nameFixed}
      />
      <TextField {...field("port")} label="Port" name="port" inputMode="numeric" help="Mostly 5432." />
      <TextField {...field("database")} label="Database" name="database" className={styles.half} />
      <TextField {...field("user")} label="User" name="user" className={styles.half} />
      <div className={styles.all}>
        <Choice
          label="TLS"
          options={TLS_MODES}
          value={form.tls}
          onChange={(tls) => onChange({ tls: TLS_MODES.find(({ id }) => id === tls)?.id ?? "verify-full" })}
          data-testid="connect-tls"
        />
      </div>
      <Certificates form={form} problems={problems} onChange={onChange} />
    </div>
  );
}

const FILES = [
  [
    "rootCertificate",
    "root-certificate",
    "Root certificate (PEM file)",
    "Without it the system’s own are used.",
  ],
  [
    "clientCertificate",
    "client-certificate",
    "Client certificate (PEM file)",
    "Only where the database asks for one.",
  ],
  ["clientKey", "client-key", "Client key (PEM file)", "Readable by nobody else."],
] as const;

/** Few need them: they are out of sight unless one is given or wrong. */
function Certificates({ form, problems, onChange }: ProfileFieldsProps) {
  const [opened, setOpened] = useState(false);
  const wanted = FILES.some(([name]) => form[name] !== "" || problems[name] !== undefined);
  const shown = opened || wanted;
  return (
    <div className={`${styles.all} ${styles.certificates}`}>
      <Button
        look="quiet"
        aria-expanded={shown}
        isDisabled={wanted && form.tls !== "disable"}
        onPress={() => setOpened(!opened)}
        data-testid="connect-advanced"
      >
        <span aria-hidden="true">{shown ? "▾" : "▸"}</span> Certificates
      </Button>
      {shown &&
        FILES.map(([name, testId, label, help]) => (
          <TextField
            key={name}
            label={label}
            name={testId}
            value={form[name]}
            problem={problems[name]}
            help={help}
            onChange={(value) => onChange({ [name]: value })}
            disabled={form.tls === "disable"}
          />
        ))}
    </div>
  );
}
