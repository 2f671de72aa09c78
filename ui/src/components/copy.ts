/** Puts text on the clipboard; answers whether it is there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** For a webview that gives the clipboard only to what is selected. */
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  const copied = document.execCommand?.("copy") ?? false;
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
