import { expect, test } from "vitest";
import { type JsonNode, jsonTree } from "./json-tree";

function written(node: JsonNode): unknown {
  if (node.kind === "array") return node.children.map(written);
  if (node.kind === "object") return node.children.map((child) => [child.name, written(child)]);
  return node.kind === "string" ? `text ${node.value}` : node.value;
}

test("numbers keep every digit they were written with", () => {
  const tree = jsonTree('{"a": 0.12345678901234567890, "b": [12345678901234567890, -1.50, 1e400]}');
  expect(tree && written(tree)).toEqual([
    ["a", "0.12345678901234567890"],
    ["b", ["12345678901234567890", "-1.50", "1e400"]],
  ]);
});

test("a key that comes twice is there twice, and a key is a key whatever its name", () => {
  const tree = jsonTree('{"a":1,"a":2,"__proto__":{"x":null}}');
  expect(tree && written(tree)).toEqual([
    ["a", "1"],
    ["a", "2"],
    ["__proto__", [["x", "null"]]],
  ]);
});

test("escapes are read", () => {
  expect(jsonTree('"a\\u202e\\n\\"b"')?.value).toBe('a\u202e\n"b');
});

test.each([
  "",
  "{",
  "[1,]",
  '{"a" 1}',
  "{1:2}",
  "[1 2]",
  "[,1]",
  "nul",
  "1 1",
  '"\\x"',
  '"open',
  "{]",
  "01x",
])("%j is no JSON", (text) => {
  expect(jsonTree(text)).toBeNull();
});

test("what is too deep or too long for a tree is left as text", () => {
  expect(jsonTree("[".repeat(100_000))).toBeNull();
  expect(jsonTree(`[${"1,".repeat(6_000)}1]`)).toBeNull();
  expect(jsonTree(`[${"1,".repeat(900)}1]`)?.children).toHaveLength(901);
});

test("places differ", () => {
  const paths = new Set<string>();
  const walk = (node: JsonNode) => {
    paths.add(node.path);
    node.children.forEach(walk);
  };
  const tree = jsonTree('[[1,[2]],{"a":[3]}]');
  if (tree !== null) walk(tree);
  expect(paths.size).toBe(8);
});
