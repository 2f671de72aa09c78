import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// jsdom has no layout: without a size the virtual grid would show no row at all.
Object.defineProperty(Element.prototype, "clientHeight", { configurable: true, get: () => 600 });
Object.defineProperty(Element.prototype, "clientWidth", { configurable: true, get: () => 900 });
Element.prototype.scrollTo = vi.fn() as unknown as typeof Element.prototype.scrollTo;
// Nor does it know how to write an identifier in a selector, which the components from React Aria ask for.
vi.stubGlobal("CSS", { escape: (text: string) => text.replace(/[^\w-]/g, "\\$&") });

// Nor can anything scroll out of sight: all that is watched is seen at once.
vi.stubGlobal(
  "IntersectionObserver",
  class {
    constructor(private readonly told: (entries: { target: Element; isIntersecting: boolean }[]) => void) {}
    observe(target: Element) {
      this.told([{ target, isIntersecting: true }]);
    }
    disconnect() {}
  },
);

// A bound for a machine that compiles something else meanwhile; what is awaited comes at once.
configure({ asyncUtilTimeout: 10_000 });

afterEach(cleanup);
