/// Says what to write instead of other tools' syntax.
enum ForeignExpression {
  /// The error for a function call, since there are no functions.
  static func call(of name: Text, at offset: Int) -> ExpressionMistake {
    let help: String
    if name == "always" || name == "cancelled" {
      help =
        "`finally: true` runs a task after all others, whatever became of them;"
        + " `needs: [{ task: ID, on: finished }]` after any end of one"
    } else if name == "failure" {
      help = "`needs: [{ task: ID, on: failure }]` runs a task after a failure of another"
    } else if name == "success" {
      help = "a task runs after the success of what it needs; leave it out"
    } else {
      help = "compare texts with `==` and `!=`; anything else is for `run` to find out"
    }
    return ExpressionMistake(
      offset: offset, message: "there are no functions here, such as `\(name.string)()`", help: help
    )
  }

  /// Advice for names of other tools' contexts.
  static func help(for name: Text) -> String? {
    if let rest = after("github.", name) {
      if rest.hasPrefix("event.") {
        return "a file named by `env.GITHUB_EVENT_PATH` tells of the event"
      }
      return "GitHub Actions tells it in the environment: `env.GITHUB_\(upper(rest))`"
    }
    if let rest = after("runner.", name) {
      return "GitHub Actions tells it in the environment: `env.RUNNER_\(upper(rest))`"
    }
    if let rest = after("secrets.", name) {
      return "a task that lists it in `secrets` finds it in its environment as `$\(rest.string)`;"
        + " in an expression it stands in `headers` of a download only"
    }
    if let rest = after("inputs.", name) {
      return "declare it under `vars`, write `vars.\(rest.string)`, and set it with --set"
    }
    if name.hasPrefix("steps.") || name.hasPrefix("jobs.") {
      return
        "what a task leaves in the folder `$OPFLOW_VALUES` is `needs.ID.NAME` to those that need it"
    }
    return nil
  }

  /// Advice for a token that cannot follow here.
  static func help(at lexer: ExpressionLexer) -> String? {
    let rest = lexer.text.part(lexer.range.upperBound..<lexer.text.count)
    if lexer.tokenText == "and" { return "write `&&`" }
    if lexer.tokenText == "or" { return "write `||`" }
    switch lexer.tokenText.first {
    case UInt8(ascii: "$"):
      let start = rest.first == UInt8(ascii: "{") ? 1 : 0
      let end = rest[start...].firstIndex { !ASCII.continuesName($0) } ?? rest.count
      return end > start
        ? "a variable of the environment is `env.\(rest.part(start..<end).string)`" : nil
    case UInt8(ascii: "-"), UInt8(ascii: "["), UInt8(ascii: "/"):
      return "an expression is no command; let `run` find out what only a command can tell"
    default: return nil
    }
  }

  private static func after(_ prefix: StaticString, _ name: Text) -> Text? {
    name.hasPrefix(prefix) ? name.part(prefix.utf8CodeUnitCount..<name.count) : nil
  }

  private static func upper(_ text: Text) -> String { text.string.uppercased() }
}
