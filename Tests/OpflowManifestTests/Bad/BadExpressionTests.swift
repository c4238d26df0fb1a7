import Testing

/// Expressions that cannot be evaluated.
struct BadExpressionTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "an unknown variable", task: "run: echo ${{ vars.ver }}",
      "3:19: unknown name `vars.ver`"),
    BadManifest(
      "a variable with a similar name",
      "vars: { version: 1 }\ntasks:\n  a: { run: 'echo ${{ vars.verison }}' }",
      "3:23: unknown name `vars.verison`"),
    BadManifest(
      "a variable without its map", "vars: { ver: 1 }\ntasks:\n  a: { run: 'echo ${{ ver }}' }",
      "3:23: unknown name `ver`"),
    BadManifest(
      "an unknown name", task: "run: echo ${{ github.sha }}",
      "3:19: unknown name `github.sha`"),
    BadManifest(
      "a word without quotes", task: "run: echo ${{ release }}",
      "3:19: unknown name `release`"),
    BadManifest(
      "an unclosed expression", task: "run: echo ${{ run.id",
      "3:15: `${{` is not closed"),
    BadManifest(
      "an expression with nothing in it", task: "run: echo ${{ }}",
      "3:19: the expression ends, but a value must follow"),
    BadManifest(
      "an unclosed text", task: "run: echo ${{ 'a }}",
      "3:19: a string in the expression is not closed"),
    BadManifest(
      "an operator without its right side", task: "run: echo ${{ run.id == }}",
      "3:29: the expression ends, but a value must follow"),
    BadManifest(
      "a single equals sign", task: "run: echo ${{ run.id = 'a' }}",
      "3:26: expected an operator or the end, found `=`"),
    BadManifest(
      "a single ampersand", task: "run: echo ${{ run.id & run.id }}",
      "3:26: expected an operator or the end, found `&`"),
    BadManifest(
      "two values in a row", task: "run: echo ${{ run.id run.id }}",
      "3:26: expected an operator or the end, found `run.id`"),
    BadManifest(
      "an unclosed parenthesis", task: "run: echo ${{ (run.id }}",
      "3:27: the expression ends, but `)` must follow"),
    BadManifest(
      "a parenthesis too many", task: "run: echo ${{ run.id) }}",
      "3:25: expected an operator or the end, found `)`"),
    BadManifest(
      "a character that is none of the language", task: "run: echo ${{ run.id + 1 }}",
      "3:26: expected an operator or the end, found `+`"),
    BadManifest(
      "two mistakes in one text", task: "run: echo ${{ vars.a }} and ${{ vars.b }}",
      "3:19: unknown name `vars.a`",
      "3:37: unknown name `vars.b`"),
    BadManifest(
      "a mistake in the second line of a block", task: "run: |\n  echo one\n  echo ${{ vars.b }}",
      "5:16: unknown name `vars.b`"),
    BadManifest(
      "a mistake in a folded block", task: "run: >-\n  echo\n  ${{ vars.b }}",
      "5:11: unknown name `vars.b`"),
    BadManifest(
      "a mistake in a text with escapes", task: "run: \"\\techo ${{ vars.b }}\"",
      "3:22: unknown name `vars.b`"),
    BadManifest(
      "a mistake behind characters of several bytes", task: "run: echo äöü ${{ vars.b }}",
      "3:23: unknown name `vars.b`"),
    BadManifest(
      "matrix without a matrix", task: "run: echo ${{ matrix.arch }}",
      "3:19: unknown name `matrix.arch`"),
    BadManifest(
      "task.id outside of a task", "name: x-${{ task.id }}\ntasks: { a: { run: x } }",
      "1:13: `task.id` has no value outside a task"),
    BadManifest(
      "an empty condition", task: "run: x\nif: ''",
      "4:9: `if` is empty"),
    BadManifest(
      "a condition without a value", task: "run: x\nif:",
      "4:8: `if` is empty"),
    BadManifest(
      "a condition that is a list", task: "run: x\nif: [a]",
      "4:9: `if` must be an expression, not a list"),
    BadManifest(
      "a condition with an unknown name", task: "run: x\nif: envv.CI == 'true'",
      "4:9: unknown name `envv.CI`"),
    BadManifest(
      "a condition that ends too early", task: "run: x\nif: ${{ env.CI }} == 'true'",
      "4:22: the expression ends before this"),
    BadManifest(
      "a condition with an unclosed expression", task: "run: x\nif: ${{ env.CI",
      "4:9: `${{` is not closed"),
    BadManifest(
      "a condition with a bad operator", task: "run: x\nif: env.CI = 'true'",
      "4:16: expected an operator or the end, found `=`"),
    BadManifest(
      "an unquoted expression as a number", task: "run: x\npriority: ${{ 'urgent' }}",
      """
      4:15: `priority` must be very_low, low, normal, high, very_high or a number from -1000 to \
      1000, not `urgent`
      """
    ),
    BadManifest(
      "deeply nested parentheses",
      task: "run: x\nif: " + String(repeating: "(", count: 65) + "'a'"
        + String(repeating: ")", count: 65) + "",
      "4:73: parentheses nested deeper than 64 levels"),
  ]
}
