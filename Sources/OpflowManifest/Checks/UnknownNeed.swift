internal import OpflowCore

/// Finds advice for a need that names no task.
struct UnknownNeed {
  let tasks: TaskList
  let suggestions: Suggestions

  /// - Parameter declaration: The declaration of the dependent.
  func help(for name: Text, of declaration: Int) -> String? {
    severalHelp(name) ?? nearest(to: name, for: declaration)
      ?? shellHelp(name) ?? knownHelp(for: declaration)
  }

  /// Suggests an ID as the dependent's file writes it.
  private func nearest(to name: Text, for number: Int) -> String? {
    let declared = tasks.declared
    let prefix = declared.prefix(number)
    let others = (0..<declared.count).lazy.filter { $0 != number }
    let own = others.filter { declared.part($0) == declared.part(number) }
      .map { declared.name($0).part(prefix.count..<declared.name($0).count) }
    if !prefix.isEmpty, let help = suggestions.help(for: name, among: own) { return help }
    guard let run = tasks.run else {
      return suggestions.help(for: name, among: others.map { declared.name($0) })
    }
    return suggestions.help(
      for: name, among: others.map { declared.name($0) } + run.declaredNames)
  }

  private func shellHelp(_ name: Text) -> String? {
    ShellText(in: name).map {
      "an id is written out, or has an expression: `${{ env.\($0.variable) }}`"
    }
  }

  /// Lists all tasks if there are few.
  private func knownHelp(for number: Int) -> String? {
    let declared = tasks.declared
    guard declared.count + (tasks.run?.plan.taskCount ?? 0) <= 12 else { return nil }
    let own = (0..<declared.count).filter { $0 != number }.map { declared.name($0) }
    let names = (own + (tasks.run?.declaredNames ?? [])).map(\.string)
    if names.isEmpty { return "there is no other task" }
    return names.count == 1
      ? "the other task is `\(names[0])`" : "the other tasks are \(names.joined(separator: ", "))"
  }

  /// For several IDs in one text, as in make.
  private func severalHelp(_ text: Text) -> String? {
    guard text.count <= 200,
      text.contains(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") })
    else { return nil }
    let ids = text.split { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") }
      .map { Text(rebasing: $0).string }
    return ids.isEmpty ? nil : "several ids are a list: [\(ids.joined(separator: ", "))]"
  }
}
