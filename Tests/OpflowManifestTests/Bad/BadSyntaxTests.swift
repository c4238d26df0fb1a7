import Testing

/// Texts that are not YAML.
struct BadSyntaxTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a colon in an unquoted value", task: "run: echo a: b",
      "3:16: a value without quotes contains `: `"),
    BadManifest(
      "a key without a colon", task: "run x\ndir: y",
      "3:5: this line has no `:`"),
    BadManifest(
      "a key that is too long in braces",
      "tasks: { a: { run: x }, \(String(repeating: "é", count: 1025)): { run: x } }",
      "1:25: a key can have at most 1024 characters; this one has 1025"),
    BadManifest(
      "a key that is too long in a line",
      "tasks:\n  \(String(repeating: "k", count: 2000)): { run: x }",
      "2:3: a key can have at most 1024 characters; this one has 2000"),
    BadManifest(
      "an unclosed double quote", task: "run: \"x",
      "3:10: the quoted value is not closed"),
    BadManifest(
      "an unclosed single quote", task: "run: 'x",
      "3:10: the quoted value is not closed"),
    BadManifest(
      "an unclosed bracket", task: "needs: [b, c\nrun: x",
      "3:12: the list in brackets is not closed"),
    BadManifest(
      "an unclosed brace", "tasks:\n  a: { run: x",
      "2:6: the map in braces is not closed"),
    BadManifest(
      "a key indented too little", "tasks:\n  a:\n    run: x\n   dir: y",
      "4:4: expected a key of a map here"),
    BadManifest(
      "a key indented too much", task: "run: x\n  dir: y",
      "4:7: this key is indented deeper than the one above, which already has a value"),
    BadManifest(
      "an item at the wrong place", task: "needs: - b\nrun: x",
      "3:12: a list item cannot begin here"),
    BadManifest(
      "a list that goes on as a map", task: "needs:\n- b\nc\nrun: x",
      "5:5: this line has no `:`"),
    BadManifest(
      "an unknown escape", task: "run: \"\\q\"",
      "3:11: unknown escape in a value in double quotes"),
    BadManifest(
      "a value that begins with an at sign", task: "run: @x",
      "3:10: a value cannot begin with `@`"),
    BadManifest(
      "a value that begins with a backtick", task: "run: `date`",
      "3:10: a value cannot begin with a backtick"),
    BadManifest(
      "a value that begins with a percent sign", task: "run: %x",
      "3:10: a value cannot begin with `%`"),
    BadManifest(
      "text behind a quoted value", task: "run: \"x\" y",
      "3:14: text follows the closing quote"),
    BadManifest(
      "a closing bracket too many", task: "needs: [b]]",
      "3:15: this `]` has no matching `[`"),
    BadManifest(
      "an unknown YAML version", "%YAML 2.0\n---\ntasks: {}",
      "1:1: opflow does not read this version of YAML"),
  ]
}
