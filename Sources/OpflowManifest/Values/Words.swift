internal import OpflowCore

// Values that a manifest names by a word.

enum SignalName {
  /// Signals that may end a task, by the numbers of Linux on x86-64 and AArch64 (signal(7)).
  private static let table: [(name: StaticString, number: UInt32)] = [
    ("HUP", 1), ("INT", 2), ("QUIT", 3), ("ABRT", 6), ("KILL", 9), ("USR1", 10), ("USR2", 12),
    ("ALRM", 14), ("TERM", 15), ("WINCH", 28), ("PWR", 30),
  ]

  /// A signal by name, with `SIG` in front or without, or by a number from 1 to 64.
  static func number(_ text: Text) -> UInt32? {
    if let number = CoreSchema.integer(text) {
      return (1...64).contains(number) ? UInt32(number) : nil
    }
    let name = text.hasPrefix("SIG") ? text.part(3..<text.count) : text
    return table.first { name == $0.name }?.number
  }

  static let known: StaticString = "TERM, INT, HUP, QUIT, KILL, ABRT, ALRM, USR1, USR2 or a number"
}

enum PriorityName {
  static let range: ClosedRange<Int64> = -1000...1000

  static func value(_ text: Text) -> Int16? {
    if text == "very_low" { return -8 }
    if text == "low" { return -4 }
    if text == "normal" { return 0 }
    if text == "high" { return 4 }
    if text == "very_high" { return 8 }
    guard let number = CoreSchema.integer(text), range.contains(number) else { return nil }
    return Int16(number)
  }

  static let known: StaticString =
    "very_low, low, normal, high, very_high or a number from -1000 to 1000"
}

extension NeedCondition {
  init?(text: Text) {
    if text == "success" {
      self = .success
    } else if text == "failure" {
      self = .failure
    } else if text == "finished" {
      self = .finished
    } else {
      return nil
    }
  }
}

/// How a shell that is named by a string takes a script.
enum ShellName {
  /// The words before the script; nil for a shell whose flags opflow does not know.
  ///
  /// Every shell stops at the first command that fails (`-e`); those that have `pipefail` also take
  /// the failure of any command of a pipeline.
  static func words(_ shell: String) -> [String]? {
    let name = shell.split(separator: "/").last.map(String.init) ?? shell
    switch name {
    case "bash", "zsh", "ksh", "ksh93", "mksh": return [shell, "-eo", "pipefail", "-c"]
    case "sh", "dash", "ash", "yash", "posh": return [shell, "-ec"]
    default: return nil
    }
  }

  static let standard = ["/bin/sh", "-ec"]
}

enum TaskName {
  static let rule =
    "an id is 1 to 255 letters, digits and `_ . - + @ : /`, beginning with a letter, digit or `_`"

  /// What is wrong with a text as a task's id; nil when it is one.
  static func mistake(_ text: Text) -> String? {
    guard let first = text.first else { return "the id of a task is empty" }
    if text.count > 255 { return "the id of a task is longer than 255 bytes" }
    if text.hasPrefix("tag:") { return "the id `\(text.string)` begins with `tag:`" }
    guard Character8.isLetter(first) || Character8.isDigit(first) || first == UInt8(ascii: "_")
    else { return "`\(text.string)` is no id of a task" }
    return text.allSatisfy(isAllowed) ? nil : "`\(text.string)` is no id of a task"
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    if Character8.continuesName(byte) { return true }
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: ":"),
      UInt8(ascii: "/"):
      return true
    default: return false
    }
  }
}

enum VariableName {
  /// Whether an environment variable may be called so (environ(7)). Names that a shell cannot
  /// speak of are the programs' own business.
  static func isEnvironment(_ text: Text) -> Bool {
    !text.isEmpty && text.allSatisfy { $0 > 32 && $0 != 127 && $0 != UInt8(ascii: "=") }
  }

  /// Whether `${{ vars.NAME }}` and `${{ matrix.NAME }}` can speak of it.
  static func isExpressionName(_ text: Text) -> Bool {
    guard let first = text.first, Character8.beginsName(first) else { return false }
    return text.allSatisfy(Character8.continuesName)
  }
}

enum PathText {
  /// `path`, from `folder` where it is relative, without `.`, `..` and empty parts.
  ///
  /// Lexical: `a/../b` is `b` also where `a` is a symbolic link. `folder` is normal already.
  static func absolute(_ path: Text, from folder: Text, store: TextStore) -> Text {
    if isNormal(path) {
      store.append(folder)
      if folder.count > 1 { withSlash { store.append($0) } }
      store.append(path)
      return store.finish()
    }
    var parts: [Text] = []
    if path.first != UInt8(ascii: "/") { appendParts(of: folder, to: &parts) }
    appendParts(of: path, to: &parts)
    if parts.isEmpty { return store.copy("/") }
    for part in parts {
      withSlash { store.append($0) }
      store.append(part)
    }
    return store.finish()
  }

  /// Whether a path is relative and has no part that means nothing. Hidden files count as suspect.
  private static func isNormal(_ path: Text) -> Bool {
    var previous = UInt8(ascii: "/")
    for byte in path {
      if previous == UInt8(ascii: "/"), byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/") {
        return false
      }
      previous = byte
    }
    return previous != UInt8(ascii: "/")
  }

  private static func appendParts(of path: Text, to parts: inout [Text]) {
    for slice in path.split(separator: UInt8(ascii: "/")) {
      let part = Text(rebasing: slice)
      if part == "." { continue }
      if part == ".." {
        _ = parts.popLast()
      } else {
        parts.append(part)
      }
    }
  }

  private static func withSlash(_ body: (Text) -> Void) {
    let slash: StaticString = "/"
    slash.withUTF8Buffer { body(Text($0)) }
  }
}
