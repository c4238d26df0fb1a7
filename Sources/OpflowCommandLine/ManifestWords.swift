internal import OpflowCore

/// The words of `run`, `check` and `plan` that are no flags: which of them name the manifest, and
/// which name tasks of it.
struct ManifestWords {
  /// `-` for standard input; a folder, with a slash at its end, stands for the manifest in it.
  private(set) var file: String?
  /// Ids, patterns, `tag:NAME`.
  private(set) var tasks: [String] = []

  /// - Parameter file: of `-f`.
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

  /// The manifest that a word names; nil for one that names tasks.
  private static func file(_ word: String) -> String? {
    if word == "-" || word.hasSuffix(".yaml") || word.hasSuffix(".yml") || word.hasSuffix("/") {
      return word
    }
    if word == "." || word == ".." || word.hasSuffix("/.") || word.hasSuffix("/..") {
      return word + "/"
    }
    // What a shell puts in place of `<(…)` is a file, and the id of a task begins with no slash.
    return word.hasPrefix("/dev/") || word.hasPrefix("/proc/") ? word : nil
  }

  /// What is wrong with a word that can be no task's name, where it is plain what was meant.
  private static func noTask(_ word: String) -> Complaint? {
    if word.isEmpty { return Complaint("an empty name") }
    // As make, just and task take variables.
    if let equals = word.firstIndex(of: "="), equals > word.startIndex,
      !word[..<equals].contains("["),
      !word.hasPrefix("tag:"), !Glob.isPattern(word)
    {
      return Complaint(
        "`\(word.clean)` is no task; a variable is set with `--set \(word.clean)`")
    }
    // As other tools list them.
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
