import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { ConnectionTest } from "../../generated/ConnectionTest";
import type { Profile } from "../../generated/Profile";
import { fakeIpc, renderWith, SESSION } from "../../test-deck";
import { ConnectScreen } from "./ConnectScreen";

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
const GOOD: ConnectionTest = {
  lines: [
    { step: "NAME", label: "Find the server", state: "PASSED", message: "found", remedy: null },
    { step: "CLOCK", label: "Compare the clocks", state: "WARNED", message: "90 s apart", remedy: "Set it." },
  ],
  good: true,
};
const UNKNOWN_HOST: ConnectionTest = {
  lines: [
    { step: "NAME", label: "Find the server", state: "FAILED", message: "no such name", remedy: "Ask." },
    { step: "PORT", label: "Reach the port", state: "SKIPPED", message: "not tried", remedy: null },
  ],
  good: false,
};

function open(session: Partial<typeof SESSION> = {}) {
  const ipc = fakeIpc([]);
  renderWith(ipc, <ConnectScreen session={{ ...SESSION, needs: "PROFILE", ...session }} />);
  return { ipc, user: userEvent.setup() };
}

const input = (testId: string) => screen.getByTestId<HTMLInputElement>(testId);
const described = (testId: string) =>
  document.getElementById(input(testId).getAttribute("aria-describedby") ?? "")?.textContent;

async function fillIn(user: ReturnType<typeof userEvent.setup>) {
  for (const [field, text] of [
    ["name", "Close"],
    ["host", "ledger.example"],
    ["database", "close"],
    ["user", "me"],
  ] as const) {
    await user.type(input(field), text);
  }
}

test("what is missing is said at each field, the first one has the focus, and nothing is sent", async () => {
  const { ipc, user } = open();
  await user.type(input("name"), "Close");
  await user.click(screen.getByTestId("connect-test"));
  await waitFor(() => expect(document.activeElement).toBe(input("host")));
  expect(input("host").getAttribute("aria-invalid")).toBe("true");
  expect(described("host")).toMatch(/name or address/);
  expect(input("name").hasAttribute("aria-invalid")).toBe(false);
  await user.keyboard("l");
  // It is not true any more.
  expect(input("host").hasAttribute("aria-invalid")).toBe(false);
  expect(ipc.testConnection).not.toHaveBeenCalled();
});

test("a try says how each step went, and keeps nothing", async () => {
  const { ipc, user } = open();
  ipc.testConnection.mockResolvedValue(GOOD);
  await fillIn(user);
  await user.type(input("password"), "secret");
  await user.click(screen.getByTestId("connect-test"));
  expect((await screen.findByTestId("connection-NAME")).textContent).toContain("Good");
  expect(screen.getByTestId("connection-CLOCK").textContent).toMatch(/Look.*90 s apart Set it\./);
  expect(ipc.testConnection).toHaveBeenCalledExactlyOnceWith(PROFILE, "secret");
  expect(ipc.saveProfile).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("connect-submit"));
  await waitFor(() => expect(ipc.connect).toHaveBeenCalledExactlyOnceWith("Close", "secret", false));
  expect(ipc.saveProfile).toHaveBeenCalledExactlyOnceWith(PROFILE);
});

test("a step that failed is said at its field too, until that is changed", async () => {
  const { ipc, user } = open();
  ipc.testConnection.mockResolvedValue(UNKNOWN_HOST);
  await fillIn(user);
  await user.click(screen.getByTestId("connect-test"));
  await waitFor(() => expect(described("host")).toBe("no such name"));
  await user.type(input("host"), ".com");
  expect(screen.queryByTestId("connection-lines")).toBeNull();
  expect(described("host")).not.toBe("no such name");
});

test("an answer about fields that were changed meanwhile is dropped", async () => {
  const { ipc, user } = open();
  let answer: (test: ConnectionTest) => void = () => undefined;
  ipc.testConnection.mockImplementation(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  await fillIn(user);
  await user.click(screen.getByTestId("connect-test"));
  await user.type(input("database"), "2");
  answer(UNKNOWN_HOST);
  ipc.testConnection.mockResolvedValue(GOOD);
  await user.click(screen.getByTestId("connect-test"));
  expect((await screen.findByTestId("connection-NAME")).dataset.state).toBe("PASSED");
});

test("who is known is asked for the password alone, and can still change the connection", async () => {
  const { ipc, user } = open({ needs: "PASSWORD", profile: PROFILE, profiles: [PROFILE] });
  expect(document.activeElement).toBe(input("password"));
  expect(screen.queryByTestId("host")).toBeNull();
  expect(screen.getByTestId("connect-form").textContent).toContain("me, close on ledger.example");
  await user.keyboard("secret{Enter}");
  await waitFor(() => expect(ipc.connect).toHaveBeenCalledExactlyOnceWith("Close", "secret", false));
  expect(ipc.saveProfile).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("connect-edit"));
  expect(input("host").value).toBe("ledger.example");
});

test("a refused password is said at the field, and can be looked at", async () => {
  const { ipc, user } = open({ needs: "PASSWORD", profile: PROFILE, profiles: [PROFILE] });
  ipc.connect.mockRejectedValue({ code: "BAD_PASSWORD", message: "The password was refused." });
  await user.keyboard("wrong{Enter}");
  await waitFor(() => expect(described("password")).toBe("The password was refused."));
  expect(input("password").type).toBe("password");
  await user.click(screen.getByTestId("password-show"));
  expect(input("password").type).toBe("text");
  expect(input("password").value).toBe("wrong");
});

test("another saved connection is chosen from a list", async () => {
  const other = {
    ...PROFILE,
    name: "Year end",
    host: "/run/postgresql",
    client_certificate: "/me.pem",
    client_key: "/k",
  };
  const { ipc, user } = open({ needs: "PASSWORD", profile: PROFILE, profiles: [PROFILE, other] });
  await user.click(screen.getByTestId("connect-profiles"));
  await user.click(await screen.findByTestId("connect-profiles-Year end"));
  await user.type(input("password"), "secret{Enter}");
  await waitFor(() => expect(ipc.connect).toHaveBeenCalledExactlyOnceWith("Year end", "secret", false));
});

test("certificates are out of sight until they are wanted", async () => {
  const { user } = open();
  expect(screen.queryByTestId("root-certificate")).toBeNull();
  await user.click(screen.getByTestId("connect-advanced"));
  expect(input("root-certificate").disabled).toBe(false);
});

test("after a failed attempt the password is at hand", async () => {
  const { ipc, user } = open();
  ipc.connect.mockRejectedValue({ code: "BAD_PASSWORD", message: "The password is not right." });
  await fillIn(user);
  await user.type(input("password"), "secret");
  await user.click(screen.getByTestId("connect-submit"));
  await waitFor(() => expect(screen.getByTestId("connect-error").textContent).toContain("not right"));
  await waitFor(() => expect(document.activeElement).toBe(input("password")));
  expect(input("password").value).toBe("secret");
});

test("Tab leaves an opened list for the field after it", async () => {
  const { user } = open();
  screen.getByTestId("connect-tls").focus();
  await user.keyboard("{Enter}");
  await screen.findByTestId("connect-tls-disable");
  await user.tab();
  expect(screen.queryByTestId("connect-tls-disable")).toBeNull();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("connect-advanced")));
});
