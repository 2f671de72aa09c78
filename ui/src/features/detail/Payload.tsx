import { useMemo } from "react";
import { Button, Collection, Tree, TreeItem, TreeItemContent } from "react-aria-components";
import { counted } from "../../components/plural";
import { visibleLines, visibleText } from "../../components/visible-text";
import { type JsonNode, jsonTree } from "./json-tree";
import styles from "./Payload.module.css";

/** The payload as a tree that opens level by level; what is no JSON, or too large for a tree, as text. */
export function Payload({ text }: { text: string }) {
  const root = useMemo(() => jsonTree(text), [text]);
  if (root === null || root.children.length === 0) {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be in the tab order
      <pre className={styles.text} tabIndex={0} data-testid="payload-text">
        {visibleLines(text)}
      </pre>
    );
  }
  return (
    <Tree
      key={text}
      aria-label="Payload"
      className={styles.tree}
      items={root.children}
      defaultExpandedKeys={root.children.map(({ path }) => path)}
      data-testid="payload-tree"
    >
      {(node) => <Node node={node} place={placeOf(node)} />}
    </Tree>
  );
}

/** A list's items are counted from 1, as people do. */
function placeOf(node: JsonNode): string {
  return node.name ?? `${Number(node.path.slice(node.path.lastIndexOf(".") + 1)) + 1}.`;
}

function Node({ node, place }: { node: JsonNode; place: string }) {
  const value = valueText(node);
  return (
    <TreeItem id={node.path} textValue={`${visibleText(place)}: ${value}`} className={styles.item}>
      <TreeItemContent>
        {({ hasChildItems, isExpanded }) => (
          <span className={styles.row}>
            {hasChildItems && (
              <Button slot="chevron" className={styles.chevron}>
                <span aria-hidden="true">{isExpanded ? "▾" : "▸"}</span>
              </Button>
            )}
            <span className={styles.name}>{visibleText(place)}</span>
            <span className={styles.value} data-kind={node.kind}>
              {value}
            </span>
          </span>
        )}
      </TreeItemContent>
      <Collection items={node.children}>{(child) => <Node node={child} place={placeOf(child)} />}</Collection>
    </TreeItem>
  );
}

function valueText({ kind, value }: JsonNode): string {
  if (kind === "object") return counted(Number(value), "field");
  if (kind === "array") return counted(Number(value), "item");
  return kind === "string" ? `“${visibleText(value)}”` : value;
}
