extension Plan {
  /// The word between script and arguments that makes the interpreter pass on all arguments; nil if
  /// none is needed, as with `python3 -c`. A shell takes the first word after the script as its own
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

  /// The words before a script file, for a shell with `-c`. Nil for programs that search the file
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
