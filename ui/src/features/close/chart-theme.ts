import { useEffect, useState } from "react";

/** The colours of the window, as a canvas needs them. */
export interface ChartTheme {
  faint: string;
  line: string;
  accent: string;
  second: string;
  warn: string;
  font: string;
}

/** A canvas knows no custom properties: an element resolves them for it, whatever they are made of. */
export function readTheme(): ChartTheme {
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.setProperty("forced-color-adjust", "none");
  document.body.append(probe);
  const of = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const theme = {
    faint: of("--ink-2"),
    line: of("--line-2"),
    accent: of("--accent"),
    second: of("--ok"),
    warn: of("--warn"),
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
  };
  probe.remove();
  return theme;
}

/** Changes with the theme: by the system, by the contrast it asks for, or by the reviewer. */
export function useThemeRevision(watched: boolean): number {
  const [revision, setRevision] = useState(0);
  useEffect(() => {
    if (!watched) return;
    const again = () => setRevision((before) => before + 1);
    const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) =>
      window.matchMedia(query),
    );
    for (const query of queries) query.addEventListener("change", again);
    const observer = new MutationObserver(again);
    observer.observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["data-theme", "class", "style"],
    });
    return () => {
      for (const query of queries) query.removeEventListener("change", again);
      observer.disconnect();
    };
  }, [watched]);
  return revision;
}

/**
 * uPlot asks for the number format of the system's language as soon as it is there. Where no language is set, WebKit calls it "C",
 * which is none, and the format that nothing here uses would keep every chart from being drawn.
 */
export function nameLanguage() {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en", configurable: true });
  }
}

/** Whether this webview has anything to draw on. */
export function canDraw(): boolean {
  return (document.createElement("canvas").getContext("2d") ?? null) !== null;
}
