/// A script that is one plain command, which opflow executes without a shell, as make does.
///
/// The result must be the same: shells do not interpret any of the characters, and the first word
/// is neither reserved nor a builtin (POSIX.1-2017, XCU 2.4 and 2.14; dash, bash and BusyBox). The
/// builtins `true` and `false` behave like the programs.
package enum SimpleCommand {
  /// nil if the script needs a shell.
  package static func words(of script: UnsafeRawBufferPointer) -> [Range<Int>]? {
    var words: [Range<Int>] = []
    var start: Int?
    for (index, byte) in script.enumerated() {
      switch byte {
      case 0x20, 0x09:
        if let first = start { words.append(first..<index) }
        start = nil
      case 0x0A:
        // A trailing newline is harmless; another one separates commands.
        guard script[index...].allSatisfy({ $0 == 0x0A || $0 == 0x20 || $0 == 0x09 }) else {
          return nil
        }
        if let first = start { words.append(first..<index) }
        return isProgram(words.first, in: script) ? words : nil
      default:
        guard isPlain(byte) else { return nil }
        if start == nil { start = index }
      }
    }
    if let first = start { words.append(first..<script.count) }
    return isProgram(words.first, in: script) ? words : nil
  }

  /// Shells do not interpret the byte anywhere in a word.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "@"),
      UInt8(ascii: "%"), UInt8(ascii: "="):
      true
    default: false
    }
  }

  private static func isProgram(_ word: Range<Int>?, in script: UnsafeRawBufferPointer) -> Bool {
    guard let word else { return false }
    let bytes = script[word]
    if bytes.contains(UInt8(ascii: "=")) { return false }
    // A name with a slash is a path in every shell.
    if bytes.contains(UInt8(ascii: "/")) { return true }
    return !shellWords.contains(String(decoding: bytes, as: UTF8.self))
  }

  private static let shellWords: Set<String> = [
    // Reserved words
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "in", "function", "select", "time", "coproc",
    // Special builtins
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set",
    "shift", "source", "times", "trap", "unset",
    // Regular builtins
    "alias", "bg", "bind", "builtin", "caller", "cd", "chdir", "command", "compgen", "complete",
    "compopt", "declare", "dirs", "disown", "echo", "enable", "fc", "fg", "getopts", "hash",
    "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "newgrp", "popd",
    "printf", "pushd", "pwd", "read", "readarray", "shopt", "suspend", "test", "type", "typeset",
    "ulimit", "umask", "unalias", "wait",
  ]
}

extension Plan {
  /// The word between script and arguments that makes the interpreter pass on all arguments; nil if
  /// unnecessary, as with `python3 -c`. A shell takes the first word after the script as its own
  /// name (POSIX.1-2017, sh); others parse options up to `--`.
  package func wordBeforeArguments(_ task: TaskID) -> String? {
    for word in list(record(task).shell).reversed().map({ string($0) }) {
      let file = word.split(separator: "/").last ?? ""
      let name = String(file.prefix { !$0.isNumber })
      if Self.shells.contains(name) { return word }
      if Self.readsOptions.contains(name) { return "--" }
    }
    return nil
  }

  /// The words before a script file, for a shell with `-c`. nil for programs that search the file
  /// elsewhere.
  package func wordsBeforeScriptFile(_ task: TaskID) -> [String]? {
    var words = list(record(task).shell).map { string($0) }
    guard let shell = wordBeforeArguments(task), shell != "--", let options = words.popLast(),
      options.hasPrefix("-"), !options.hasPrefix("--"), options.contains("c")
    else { return nil }
    let others = options.filter { $0 != "c" }
    return others == "-" ? words : words + [others]
  }

  private static let shells: Set<String> = [
    "sh", "bash", "rbash", "dash", "ash", "ksh", "mksh", "zsh", "yash", "posh",
  ]
  private static let readsOptions: Set<String> = ["perl", "ruby", "node", "nodejs", "php", "fish"]
}
