internal import OpflowCore

/// Checks references to values of other tasks.
struct ValueCheck {
  let task: Text
  let needs: WrittenNeeds
  let suggestions: Suggestions

  /// Returns nil for a valid reference.
  func mistake(_ reference: Text) -> (message: String, help: String)? {
    let whole = reference.string
    guard let (id, name) = ValueReference.parts(reference), !name.isEmpty else {
      return (
        "`\(whole)` names no value",
        "write `needs.ID.NAME`: the task, then the name of the file that it leaves in "
          + "$OPFLOW_VALUES"
      )
    }
    if needs.number(of: id) == nil { return notNeeded(whole, id, name) }
    if ValueRules.isName(name) { return nil }
    return name.count > ValueRules.longestNameBytes
      ? (
        "the name of the value in `\(whole.prefix(40))…` is too long",
        "a name has at most \(ValueRules.longestNameBytes) letters, digits and `_`"
      )
      : (
        "`\(name.string)` is no name of a value",
        "a name is letters, digits and `_`: that of a file in $OPFLOW_VALUES"
      )
  }

  private func notNeeded(
    _ whole: String, _ id: Text, _ name: Text
  ) -> (message: String, help: String) {
    // GitHub has `needs.ID.outputs.NAME`.
    if id.hasSuffix(".outputs"), needs.names(id.part(0..<(id.count - 8))) {
      return (
        "`\(whole)` names no value",
        "write `needs.\(id.part(0..<(id.count - 8)).string).\(name.string)`"
      )
    }
    let help =
      suggestions.nearest(to: id, among: needs.texts).map {
        "did you mean `needs.\($0.string).\(name.string)`?"
      } ?? "a task reads values of those that it needs: add `\(id.string)` to its `needs`"
    return (
      "task `\(task.string)` does not need `\(id.string)`, whose value `\(name.string)` it reads",
      help
    )
  }
}
