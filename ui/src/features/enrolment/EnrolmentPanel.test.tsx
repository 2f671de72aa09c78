import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { App } from "../../App";
import { deckRow, fakeIpc, renderWith, SESSION } from "../../test-deck";
import { useFrame } from "../shell/frame-store";

const ENROLMENT = {
  workstation: "6d1f7c52-0b0e-4a39-9a55-c1f2d3a7e840",
  fingerprint: "3fa9-07d2-c41b-88e6",
  command: "countersign-admin workstation confirm 6d1f7c52-0b0e-4a39-9a55-c1f2d3a7e840 3fa9-07d2-c41b-88e6",
};
const WAITING = {
  ...SESSION,
  enrolment: ENROLMENT,
  link: {
    ...SESSION.link,
    online: false,
    problem: { code: "NOT_ENROLLED", message: "This workstation is new here." },
  },
};

beforeEach(() => useFrame.setState({ screen: "review", worksOffline: false, drain: null }));

function open(session = WAITING, rows: ReturnType<typeof deckRow>[] = []) {
  const ipc = fakeIpc(rows);
  ipc.session.mockResolvedValue(session);
  renderWith(ipc, <App />);
  // Its own clipboard takes what is copied.
  return { ipc, user: userEvent.setup() };
}

test("a new workstation says what it waits for, and not that something is wrong", async () => {
  open();
  expect((await screen.findByTestId("enrolment-fingerprint")).textContent).toBe(ENROLMENT.fingerprint);
  expect(screen.getByTestId("enrolment-workstation").textContent).toBe(ENROLMENT.workstation);
  expect(screen.getByTestId("enrolment").textContent).toContain(ENROLMENT.command);
  expect(screen.getByTestId("link-pill").textContent).toBe("Waiting for confirmation");
  expect(screen.queryByRole("alert")).toBeNull();
});

test("both are copied, and it is looked at again, by the keyboard", async () => {
  const { ipc, user } = open();
  (await screen.findByTestId("copy-both")).focus();
  await user.keyboard("{Enter}");
  await waitFor(() => expect(screen.getByTestId("toast").textContent).toContain("number and fingerprint"));
  expect(await navigator.clipboard.readText()).toBe(
    `Workstation ${ENROLMENT.workstation}\nFingerprint ${ENROLMENT.fingerprint}`,
  );
  await user.tab();
  expect(document.activeElement).toBe(screen.getByTestId("check-again"));
  await user.keyboard("{Enter}");
  expect(ipc.retryNow).toHaveBeenCalledOnce();
});

test("what was leased before can be looked at while a new key waits", async () => {
  open({ ...WAITING, deck_count: 1 }, [deckRow("a")]);
  await screen.findByTestId("row-a");
  expect(screen.queryByTestId("enrolment")).toBeNull();
  expect(screen.getByTestId("link-pill").textContent).toBe("Waiting for confirmation");
});
