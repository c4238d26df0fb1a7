internal import OpflowBase

/// Splits the arguments of `run`, `check` and `plan` into manifest and tasks.
struct ManifestWords {
  /// `-` for standard input; a folder with a trailing slash for the manifest in it.
  private(set) var file: String?
  /// Selectors.
  private(set) var tasks: [String] = []

  /// `file` is that of `-f`.
  init(_ words: [String], file: String?) throws(Complaint) {
    self.file = file
    for word in words {
      guard let file = Self.file(word) else {
        if let complaint = Self.noTask(word) { throw complaint }
        tasks.append(word)
        continue
      }
      if let first = self.file {
        throw .two(first, file)
      }
      self.file = file
    }
  }

  private static func file(_ word: String) -> String? {
    if word == "-" || word.hasSuffix(".yaml") || word.hasSuffix(".yml") || word.hasSuffix("/") {
      return word
    }
    if word == "." || word == ".." || word.hasSuffix("/.") || word.hasSuffix("/..") {
      return word + "/"
    }
    // A shell's `<(…)`; task IDs do not start with a slash.
    return word.hasPrefix("/dev/") || word.hasPrefix("/proc/") ? word : nil
  }

  /// Nil unless the intention is clear.
  private static func noTask(_ word: String) -> Complaint? {
    if word.isEmpty { return Complaint("an empty name") }
    // make, just and task set variables like this.
    if let equals = word.firstIndex(of: "="), equals > word.startIndex,
      !word[..<equals].contains("["),
      !word.hasPrefix("tag:"), !Glob.isPattern(word)
    {
      return Complaint(
        "`\(word.clean)` is no task; a variable is set with `--set \(word.clean)`")
    }
    // Other tools take lists like this.
    if word.contains(","), !word.contains("["), !word.hasPrefix("tag:"), !Glob.isPattern(word) {
      let words = word.split(separator: ",").joined(separator: " ")
      return Complaint(
        "`\(word.clean)` is no task; several are words of their own: `\(words.clean)`")
    }
    return nil
  }
}

extension Complaint {
  static func two(_ first: String, _ second: String) -> Complaint {
    Complaint("two manifests: `\(first.clean)` and `\(second.clean)`; one command reads one")
  }
}
