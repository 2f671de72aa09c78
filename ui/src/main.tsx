import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { followAppearance } from "./components/appearance";
import { openPreferences } from "./components/preferences-store";
import { complain } from "./components/toast-store";
import { openUiState } from "./components/ui-state";
import { useFrame } from "./features/shell/frame-store";
import "./components/theme.css";
import { IpcContext, toCommandError } from "./ipc/ipc";
import { openIpc } from "./ipc/open";
import { createQueryClient } from "./ipc/reads";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");

const ipc = await openIpc();
await Promise.all([
  openPreferences(ipc, (thrown) => complain(toCommandError(thrown).message)),
  openUiState(ipc),
]);
followAppearance();
useFrame.getState().restore();
createRoot(root).render(
  <StrictMode>
    <IpcContext value={ipc}>
      <QueryClientProvider client={createQueryClient()}>
        <App />
      </QueryClientProvider>
    </IpcContext>
  </StrictMode>,
);
