import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import "./components/theme.css";
import { IpcContext } from "./ipc/ipc";
import { openIpc } from "./ipc/open";
import { createQueryClient } from "./ipc/reads";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");

const ipc = await openIpc();
createRoot(root).render(
  <StrictMode>
    <IpcContext value={ipc}>
      <QueryClientProvider client={createQueryClient()}>
        <App />
      </QueryClientProvider>
    </IpcContext>
  </StrictMode>,
);
