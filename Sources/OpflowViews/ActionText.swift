package import OpflowCore

/// Describes what a task does in one line.
package enum ActionText {
  /// Returns the command, question or URL: its first line, cut to 200 characters.
  package static func text(_ task: TaskID, plan: Plan) -> String {
    switch plan.kind(task) {
    case .shell: return shortened(String(decoding: plan.script(task), as: UTF8.self))
    case .command:
      return text(ofWords: plan.words(task).map { plan.string($0) })
    case .approve: return shortened(String(decoding: plan.question(task), as: UTF8.self))
    case .block: return "a block, which a program offers"
    case .download:
      let source = plan.download(task).sources.first ?? ""
      return shortened("download \(Credentials.hidden(inAddress: source))")
    }
  }

  static func text(ofWords words: [String]) -> String {
    shortened(words.map { QuotedWords.quoted($0) }.joined(separator: " "))
  }

  private static func shortened(_ text: String) -> String {
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: true)
    let first = CleanText.string(String(lines.first ?? ""))
    let cut = String(first.prefix(200))
    return cut.count < first.count || lines.count > 1 ? cut + " …" : cut
  }
}
