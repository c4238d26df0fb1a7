import Testing

/// Documents that are not manifests, and traps of YAML.
struct BadDocumentTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "nothing", "",
      "1:1: the manifest is empty"),
    BadManifest(
      "blanks and comments only", "\n# nothing here\n",
      "1:1: the manifest is empty"),
    BadManifest(
      "a document marker only", "---",
      "1:1: the manifest is empty"),
    BadManifest(
      "null as the document", "~",
      "1:1: the manifest is empty"),
    BadManifest(
      "a list as the document", "- a\n- b",
      "1:1: the manifest must be a map, not a list"),
    BadManifest(
      "a text as the document", "hello",
      "1:1: the manifest must be a map, not a string"),
    BadManifest(
      "a second document", "tasks: { a: { run: x } }\n---\ntasks: {}",
      "2:1: a second document begins here"),
    BadManifest(
      "a second document after an end marker", "tasks: { a: { run: x } }\n...\n---\nb: 1",
      "3:1: a second document begins here"),
    BadManifest(
      "a NUL", "tasks:\n  a: { run: x\0y }",
      "2:14: the manifest contains a NUL byte"),
    BadManifest(
      "a NUL by an escape", "tasks:\n  a: { run: \"x\\0y\" }",
      "2:13: the value contains a NUL character"),
    BadManifest(
      "a control character", "tasks:\n  a: { run: x\u{7}y }",
      "2:14: the control character U+0007 is not allowed"),
    BadManifest(
      "a tab as indentation", "tasks:\n\ta: { run: x }",
      "2:1: a tab is used as indentation"),
    BadManifest(
      "a tab behind blanks", "tasks:\n  a:\n  \trun: x",
      "3:3: a tab is used as indentation"),
    BadManifest(
      "a tab in the first line", "\ttasks: {}",
      "1:1: a tab is used as indentation"),
    BadManifest(
      "a tab in a block's indentation", "tasks:\n  a:\n    run: |\n\techo",
      "4:1: a tab is used as indentation"),
    BadManifest(
      "an unknown alias", "tasks:\n  a: { run: *script }",
      "2:13: unknown alias `*script`: no anchor `&script` before it"),
    BadManifest(
      "an alias within its own anchor", "x-a: &a [1, *a]\ntasks: { a: { run: x } }",
      "1:13: the alias `*a` refers to itself"),
    BadManifest(
      "a value that begins with an asterisk", "tasks:\n  a: { run: * }",
      "2:14: YAML reads `*` as an alias, but no name follows"),
    BadManifest(
      "a condition that YAML takes for a tag", task: "if: !env.CI\nrun: x",
      "3:9: YAML reads `!env.CI` as a tag, which opflow does not support"),
    BadManifest(
      "an unknown tag", "tasks: !map\n  a: { run: x }",
      "1:8: YAML reads `!map` as a tag, which opflow does not support"),
    BadManifest(
      "a merge of a text", "tasks:\n  a: { <<: base, run: x }",
      "2:12: `<<` must be a map, or a list of maps"),
    BadManifest(
      "a merge of a list with a text", "x-b: &b { run: x }\ntasks:\n  a: { <<: [*b, 1] }",
      "3:17: `<<` must be a map, or a list of maps"),
    BadManifest(
      "a map as a key", "tasks:\n  { a: 1 }: { run: x }",
      "2:3: a key must be a name, not a map"),
    BadManifest(
      "a list as a key", "tasks:\n  [a]: { run: x }",
      "2:3: a key must be a name, not a list"),
    BadManifest(
      "an unquoted expression in a list", "tasks:\n  a: { run: [echo, ${{ vars.x }}] }",
      "2:20: YAML reads the braces of this `${{` as a map"),
    BadManifest(
      "an unquoted expression in a map in braces", "tasks:\n  a: { run: ${{ run.id }} }",
      "2:13: YAML reads the braces of this `${{` as a map"),
    BadManifest(
      "double braces without a dollar", "vars: { x: 1 }\ntasks:\n  a:\n    run: {{ vars.x }}",
      "4:10: `run` must be a string or a list of strings, not a map"),
    BadManifest(
      "deeper than 64 levels",
      "x-a: " + String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        + "\ntasks: { a: { run: x } }",
      "1:69: nested deeper than 64 levels"),
    BadManifest(
      "hundreds of open brackets", "x-a: " + String(repeating: "[", count: 500) + "",
      "1:69: nested deeper than 64 levels"),
  ]
}
