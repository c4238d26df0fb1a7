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
    shortened(words.map { quoted($0) }.joined(separator: " "))
  }

  private static func shortened(_ text: String) -> String {
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: true)
    let first = CleanText.string(String(lines.first ?? ""))
    let cut = String(first.prefix(200))
    return cut.count < first.count || lines.count > 1 ? cut + " …" : cut
  }

  /// C0 except tab and newline, DEL, and C1: they could move the cursor.
  private static func hasControls(_ word: String) -> Bool {
    word.unicodeScalars.contains {
      $0.value < 32 && $0 != "\t" && $0 != "\n" || (127...159).contains($0.value)
    }
  }

  /// Writes controls as octal escapes within `$'…'` (POSIX.1-2024, 2.2.4).
  private static func escaped(_ word: String) -> String {
    var text = "$'"
    for scalar in word.unicodeScalars {
      switch scalar {
      case "'", "\\": text += "\\\(scalar)"
      case _ where hasControls(String(scalar)):
        for byte in String(scalar).utf8 {
          text += "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)"
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }

  /// Quotes a word so that a shell reads it back unchanged.
  package static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 65...90, 97...122: true
        case 37, 43, 44, 45, 46, 47, 58, 61, 64, 95: true
        default: false
        }
      }
    if isPlain { return word }
    if hasControls(word) { return escaped(word) }
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}
