import { useState } from "react";
import { Button } from "react-aria-components";
import { TextField } from "../../components/TextField";
import { useSession, useSettings } from "../../ipc/reads";
import { aboutEntries } from "./About";
import { appearanceEntries } from "./Appearance";
import { diagnosticsEntries } from "./Diagnostics";
import { keyboardEntries } from "./Keyboard";
import { notificationEntries } from "./Notifications";
import { numberEntries } from "./Numbers";
import { profileEntries } from "./Profiles";
import styles from "./SettingsScreen.module.css";
import { found, type Section } from "./sections";
import { workstationEntries } from "./Workstation";

/** Everything that can be set, in sections; a search looks through all of them. */
export function SettingsScreen() {
  const settings = useSettings();
  const session = useSession().data?.value;
  const [chosen, setChosen] = useState("appearance");
  const [search, setSearch] = useState("");
  const sections: Section[] = [
    { id: "appearance", title: "Appearance", entries: appearanceEntries() },
    { id: "numbers", title: "Numbers", entries: numberEntries() },
    { id: "keyboard", title: "Keyboard", entries: keyboardEntries() },
    { id: "notifications", title: "Notifications", entries: notificationEntries() },
    { id: "workstation", title: "Workstation", entries: workstationEntries(settings) },
    { id: "profiles", title: "Connections", entries: session === undefined ? [] : profileEntries(session) },
    { id: "diagnostics", title: "Diagnostics", entries: diagnosticsEntries() },
    { id: "about", title: "About", entries: session === undefined ? [] : aboutEntries(session) },
  ];
  const shown = found(sections, chosen, search);
  const searching = search.trim() !== "";

  return (
    <div className={styles.screen} data-testid="settings">
      <nav className={styles.sections} aria-label="Sections of the settings">
        <TextField label="Search" name="settings-search" value={search} onChange={setSearch} />
        <ul>
          {sections.map(({ id, title }) => (
            <li key={id}>
              <Button
                className={styles.section}
                aria-current={!searching && id === chosen ? "true" : undefined}
                onPress={() => {
                  setSearch("");
                  setChosen(id);
                }}
                data-testid={`settings-${id}`}
              >
                {title}
              </Button>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.shown}>
        {shown.map(({ id, title, entries }) => (
          <section key={id} aria-labelledby={`settings-title-${id}`}>
            <h2 id={`settings-title-${id}`}>{title}</h2>
            {entries.map((entry) => (
              <div key={entry.id} className={styles.entry}>
                {entry.shown}
              </div>
            ))}
          </section>
        ))}
        <p className={styles.nothing} role="status">
          {searching && shown.length === 0 && "No setting has these words."}
        </p>
      </div>
    </div>
  );
}
