extension Plan {
  /// What stands between the script of a task and its arguments, so that the program which reads the
  /// script hands on all of them as they are; nil for nothing, as with `python3 -c`.
  ///
  /// A shell takes the first word behind a script for its own name (POSIX.1-2017, sh). Others go on to
  /// look for options of their own, up to `--`.
  package func wordBeforeArguments(_ task: TaskID) -> String? {
    for word in list(record(task).shell).reversed().map({ string($0) }) {
      let file = word.split(separator: "/").last ?? ""
      let name = String(file.prefix { !$0.isNumber })
      if Self.shells.contains(name) { return word }
      if Self.readsOptions.contains(name) { return "--" }
    }
    return nil
  }

  /// The words before the path of a file with the task's script, for a shell that takes the script itself behind `-c`;
  /// nil for other programs, which look for files elsewhere then.
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
