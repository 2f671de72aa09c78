import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { SHIPPED, usePreferences } from "../../components/preferences-store";
import type { Profile } from "../../generated/Profile";
import type { SettingRow } from "../../generated/SettingRow";
import type { SettingsView } from "../../generated/SettingsView";
import { fakeIpc, renderWith, SESSION } from "../../test-deck";
import { SettingsScreen } from "./SettingsScreen";

const LEASE: SettingRow = {
  name: "lease_timeout_ms",
  label: "Length of a lease",
  explanation: "How long exceptions stay with this workstation.",
  unit: "ms",
  value: 900_000,
  default: 900_000,
  least: 30_000,
  most: 43_200_000,
  source: "DEFAULT",
  origin: null,
  fixed: null,
  next_start: null,
};
const WORKERS: SettingRow = {
  ...LEASE,
  name: "concurrency",
  label: "Scoring workers",
  explanation: "How many score at the same time.",
  unit: "workers",
  value: 2,
  source: "ENVIRONMENT",
  origin: "COUNTERSIGN_CONCURRENCY",
  fixed: "The environment sets it.",
};
const VIEW: SettingsView = { file: "/home/me/config.toml", rows: [LEASE, WORKERS], changes: [] };
const PROFILE: Profile = {
  name: "Close",
  host: "ledger.example",
  port: 5432,
  database: "close",
  user: "me",
  tls: "verify-full",
  root_certificate: null,
  client_certificate: null,
  client_key: null,
};
const OTHER = { ...PROFILE, name: "Year end" };

beforeEach(() => usePreferences.setState({ preferences: SHIPPED }));

async function open(section: string) {
  const ipc = fakeIpc([]);
  ipc.session.mockResolvedValue({ ...SESSION, profile: PROFILE, profiles: [PROFILE, OTHER], unsent: 2 });
  ipc.settings.mockResolvedValue(VIEW);
  renderWith(ipc, <SettingsScreen />);
  const user = userEvent.setup();
  (await screen.findByTestId(`settings-${section}`)).focus();
  await user.keyboard("{Enter}");
  return { ipc, user };
}

const preferences = () => usePreferences.getState().preferences;

test("appearance is chosen by the keyboard and in force at once", async () => {
  const { user } = await open("appearance");
  const group = screen.getByTestId("theme");
  within(group).getByRole("radio", { name: "As the system" }).focus();
  await user.keyboard("{ArrowRight}{ArrowRight}{ArrowRight}");
  expect(preferences().theme).toBe("HIGH_CONTRAST");
  await user.click(screen.getByTestId("zoom-larger"));
  expect(preferences().zoom_percent).toBe(110);
  await user.click(screen.getByTestId("zoom-reset"));
  expect(preferences().zoom_percent).toBe(100);
});

test("a sample shows what the numbers will look like", async () => {
  const { user } = await open("numbers");
  await user.click(within(screen.getByTestId("numbers")).getByRole("radio", { name: "1.234,56" }));
  await user.click(within(screen.getByTestId("negatives")).getByRole("radio", { name: "-1.234,56" }));
  const sample = screen.getByTestId("number-sample").textContent;
  expect(sample).toContain("1.284.065,40");
  expect(sample).toContain("-48.500");
  expect(preferences()).toMatchObject({ numbers: "POINT_COMMA", negatives: "MINUS" });
});

test("a setting says what a time is while it is typed, and is saved as a whole number", async () => {
  const { ipc, user } = await open("workstation");
  const value = await screen.findByTestId<HTMLInputElement>("setting-lease_timeout_ms-value");
  expect(screen.getByTestId("setting-lease_timeout_ms").textContent).toContain(
    "30 s to 12 h, default 15 min",
  );
  await user.clear(value);
  await user.type(value, "5400000");
  expect(screen.getByTestId("setting-lease_timeout_ms-state").textContent).toBe("That is 1 h 30 min.");
  const change = { name: LEASE.name, from: null, to: 5_400_000, at: "2026-10-05T08:00:00Z" };
  ipc.changeSetting.mockResolvedValue({
    ...VIEW,
    rows: [{ ...LEASE, next_start: 5_400_000 }, WORKERS],
    changes: [change],
  });
  await user.keyboard("{Enter}");
  await waitFor(() =>
    expect(screen.getByTestId("setting-lease_timeout_ms-state").textContent).toBe(
      "In force: 15 min. From the next start: 1 h 30 min.",
    ),
  );
  expect(ipc.changeSetting).toHaveBeenCalledExactlyOnceWith("lease_timeout_ms", 5_400_000);
  expect(screen.getByTestId("setting-changes").textContent).toMatch(/Length of a lease.*default.*1 h 30 min/);
  await user.click(screen.getByTestId("setting-lease_timeout_ms-default"));
  expect(ipc.changeSetting).toHaveBeenLastCalledWith("lease_timeout_ms", null);
});

test("what the workstation refuses is said at the field, in its words, and what was typed stays", async () => {
  const { ipc, user } = await open("workstation");
  const value = await screen.findByTestId<HTMLInputElement>("setting-lease_timeout_ms-value");
  ipc.changeSetting.mockRejectedValue({
    code: "BAD_SETTING",
    message: "lease_timeout_ms: 5 is out of range.",
  });
  await user.clear(value);
  await user.type(value, "5{Enter}");
  await waitFor(() => expect(value.getAttribute("aria-invalid")).toBe("true"));
  const said = (value.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .map((id) => document.getElementById(id));
  expect(said.map((element) => element?.textContent).join(" ")).toContain("5 is out of range");
  expect(value.value).toBe("5");
  await user.keyboard("{Escape}");
  expect(value.value).toBe("900000");
});

test("what is no whole number is not sent", async () => {
  const { ipc, user } = await open("workstation");
  const value = await screen.findByTestId<HTMLInputElement>("setting-lease_timeout_ms-value");
  await user.type(value, ".5{Enter}");
  expect(screen.getByTestId("setting-lease_timeout_ms-state").textContent).toContain("whole number of ms");
  expect(ipc.changeSetting).not.toHaveBeenCalled();
});

test("what is set elsewhere cannot be changed here, and says why", async () => {
  await open("workstation");
  expect((await screen.findByTestId<HTMLInputElement>("setting-concurrency-value")).disabled).toBe(true);
  expect(screen.getByTestId("setting-concurrency").textContent).toContain(
    "From the environment COUNTERSIGN_CONCURRENCY",
  );
  expect(screen.getByTestId("setting-concurrency-state").textContent).toBe("The environment sets it.");
});

test("a search looks through every section", async () => {
  const { user } = await open("about");
  await user.type(screen.getByTestId("settings-search"), "lease length");
  await screen.findByTestId("setting-lease_timeout_ms");
  expect(screen.queryByTestId("setting-concurrency")).toBeNull();
  await user.clear(screen.getByTestId("settings-search"));
  await user.type(screen.getByTestId("settings-search"), "no such thing");
  expect(screen.getByText("No setting has these words.")).toBeTruthy();
});

test("a key is chosen by pressing it; one that is taken says whose it is", async () => {
  const { user } = await open("keyboard");
  const change = screen.getByTestId("key-approve-change");
  await user.click(change);
  await user.keyboard("r");
  expect(screen.getByTestId("key-approve").textContent).toContain("Reject the selection");
  expect(preferences().keymap).toEqual({});
  await user.click(change);
  await user.keyboard("q");
  expect(preferences().keymap).toEqual({ approve: "Q" });
  expect(screen.getByTestId("key-approve").textContent).toContain("Q");
  await user.click(screen.getByTestId("key-reject-none"));
  expect(preferences().keymap).toEqual({ approve: "Q", reject: "" });
  await user.click(screen.getByTestId("key-approve-reset"));
  expect(preferences().keymap).toEqual({ reject: "" });
  await user.click(screen.getByTestId("keys-reset"));
  expect(preferences().keymap).toEqual({});
});

test("outside of the grid a key that types a character is refused, and Escape leaves it as it was", async () => {
  const { user } = await open("keyboard");
  await user.click(screen.getByTestId("key-go-review-change"));
  await user.keyboard("q");
  expect(screen.getByTestId("key-go-review").textContent).toContain("types a character");
  await user.click(screen.getByTestId("key-go-review-change"));
  await user.keyboard("{Escape}");
  expect(screen.getByTestId("key-go-review-change").textContent).toBe("Change");
  expect(preferences().keymap).toEqual({});
});

test("diagnostics are seen before they are copied", async () => {
  const { ipc, user } = await open("diagnostics");
  ipc.diagnostics.mockResolvedValue("Countersign 0.1.0\nhost\u202E");
  await user.click(screen.getByTestId("diagnostics"));
  const dialog = await screen.findByTestId("diagnostics-dialog");
  expect(within(dialog).getByRole<HTMLTextAreaElement>("textbox").value).toBe(
    "Countersign 0.1.0\nhost<U+202E>",
  );
  await user.click(screen.getByTestId("diagnostics-copy"));
  expect(await navigator.clipboard.readText()).toBe("Countersign 0.1.0\nhost\u202E");
});

test("connections are edited, deleted and used", async () => {
  const { ipc, user } = await open("profiles");
  const other = within(await screen.findByTestId("profile-Year end"));
  expect(
    within(screen.getByTestId("profile-Close")).getByTestId("profile-delete").hasAttribute("disabled"),
  ).toBe(true);

  await user.click(other.getByTestId("profile-edit"));
  expect((await screen.findByTestId<HTMLInputElement>("name")).disabled).toBe(true);
  await user.clear(screen.getByTestId("database"));
  await user.type(screen.getByTestId("database"), "2026");
  await user.click(screen.getByTestId("profile-save"));
  await waitFor(() =>
    expect(ipc.saveProfile).toHaveBeenCalledExactlyOnceWith({ ...OTHER, database: "2026" }),
  );
});

test("using another connection says what stays behind", async () => {
  const { ipc, user } = await open("profiles");
  await user.click(within(await screen.findByTestId("profile-Year end")).getByTestId("profile-use"));
  expect((await screen.findByTestId("profile-use-dialog")).textContent).toContain("2 unsent decisions");
  await user.click(screen.getByTestId("profile-use-confirm"));
  await waitFor(() => expect(ipc.connect).toHaveBeenCalledExactlyOnceWith("Year end", null, false));
  expect(ipc.saveProfile).not.toHaveBeenCalled();
});

test("a connection that cannot be deleted says why", async () => {
  const { ipc, user } = await open("profiles");
  ipc.deleteProfile.mockRejectedValue({ code: "UNSENT", message: "2 decisions are unsent there." });
  await user.click(within(await screen.findByTestId("profile-Year end")).getByTestId("profile-delete"));
  await user.click(await screen.findByTestId("profile-delete-confirm"));
  await waitFor(() =>
    expect(screen.getByTestId("profile-delete-dialog").textContent).toContain("2 decisions are unsent there"),
  );
  expect(ipc.deleteProfile).toHaveBeenCalledExactlyOnceWith("Year end");
});
