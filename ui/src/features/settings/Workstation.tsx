import type { UseQueryResult } from "@tanstack/react-query";
import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { CommandError } from "../../generated/CommandError";
import type { SettingsView } from "../../generated/SettingsView";
import styles from "./entries.module.css";
import { SettingEditor } from "./SettingEditor";
import type { Entry } from "./sections";
import { valueWords } from "./setting-words";

/** Every setting of this workstation, then what was changed. */
export function workstationEntries({
  data,
  error,
}: Pick<UseQueryResult<SettingsView, CommandError>, "data" | "error">): Entry[] {
  if (data === undefined) {
    const words = error === null ? "The settings are being read." : error.message;
    return [{ id: "none", words, shown: <p role="status">{visibleText(words)}</p> }];
  }
  return [
    {
      id: "file",
      words: "file environment variables next start",
      shown: (
        <p>
          Changes are written to <code>{visibleText(data.file)}</code> and take effect at the next start. An
          environment variable comes before the file.
        </p>
      ),
    },
    ...data.rows.map((row) => ({
      id: row.name,
      words: `${row.name} ${row.label} ${row.explanation} ${row.unit}`,
      shown: <SettingEditor row={row} />,
    })),
    { id: "changes", words: "latest changes history", shown: <Changes view={data} /> },
  ];
}

function Changes({ view: { rows, changes } }: { view: SettingsView }) {
  if (changes.length === 0) return <p>Nothing was changed on this workstation yet.</p>;
  const words = (name: string, value: number | null) => {
    const unit = rows.find((row) => row.name === name)?.unit ?? "";
    return value === null ? "default" : valueWords(value, unit);
  };
  return (
    <table className={styles.changes} data-testid="setting-changes">
      <caption>Latest changes</caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Setting</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ name, from, to, at }, place) => (
          // Newest first: a place says how many came after, and two changes may be alike.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <tr key={place}>
            <td>{visibleText(instantText(at, Date.now()))}</td>
            <td>{visibleText(rows.find((row) => row.name === name)?.label ?? name)}</td>
            <td>{visibleText(words(name, from))}</td>
            <td>{visibleText(words(name, to))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
