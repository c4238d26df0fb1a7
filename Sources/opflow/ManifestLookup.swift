internal import OpflowBase
import OpflowRuntime
import OpflowSystem

enum ManifestLookup {
  /// Reads the named manifest, or the nearest one and says so. `tasks` may be meant as the
  /// manifest.
  static func manifest(
    _ word: String?, naming tasks: [String] = []
  ) throws(CommandError) -> ManifestFile {
    guard let word else {
      guard let found = try nearest() else { throw nothing(naming: tasks) }
      if found != ManifestFile.defaultName {
        Console.complain("opflow: using \(CleanText.string(found))\n")
      }
      return try read(found)
    }
    return try read(ManifestFile.path(word))
  }

  static func read(_ path: String) throws(CommandError) -> ManifestFile {
    try rethrowing(ManifestFile(at: path)) { CommandError($0, colored: false) }
  }

  /// The relative path of the nearest `opflow.yaml`.
  static func nearest() throws(CommandError) -> String? {
    var folder = try RunLookup.workingDirectory()
    var above = ""
    while true {
      let path =
        folder == "/" ? "/\(ManifestFile.defaultName)" : "\(folder)/\(ManifestFile.defaultName)"
      // Reading anything but a folder reports what is wrong with it.
      if Path.exists(path), !Path.isDirectory(path) {
        let found = above + ManifestFile.defaultName
        if let foreign = TrustedWriters.own.doubt(path) { throw refusal(foreign, found) }
        return found
      }
      let parent = Path.parent(of: folder)
      if parent == folder { return nil }
      folder = parent
      above += "../"
    }
  }

  private static func refusal(_ foreign: ForeignFile, _ found: String) -> CommandError {
    CommandError(
      .usage,
      "\(CleanText.string(foreign.description)), so opflow does not use the manifest that it found;"
        + " if you trust it, name it: `-f \(CleanText.string(found))`")
  }

  static func nothing(naming tasks: [String]) -> CommandError {
    var text = "no \(ManifestFile.defaultName) here or in a folder above"
    if let hint = file(among: tasks) {
      text += hint
    } else if let other = otherName(in: "") {
      let flag = other.hasSuffix(".txt") ? "-f " : ""
      text += "; to run \(other): `opflow run \(flag)\(other)`"
    } else {
      text += "; `opflow init` writes one, `opflow run FILE` uses another file"
    }
    return CommandError(.usage, text)
  }

  static func hint(_ path: String, _ error: Errno) -> String {
    if error == .isADirectory, Path.exists("\(path)/\(ManifestFile.defaultName)") {
      return "; for the manifest in it, write `\(CleanText.string(path))/`"
    }
    if error == .isADirectory { return "; name a file" }
    guard error == .noSuchFile else { return "" }
    if path.hasSuffix(ManifestFile.defaultName) {
      let folder = String(path.dropLast(ManifestFile.defaultName.count))
      if let other = otherName(in: folder) {
        return "; did you mean `\(CleanText.string(folder + other))`?"
      }
    }
    let nearest = NearestFile.hint(path, where: NearestFile.isManifest)
    return nearest.isEmpty ? manifests(near: path) : nearest
  }

  /// Lists the manifests in the folder of a missing one.
  private static func manifests(near path: String) -> String {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    // A dangling link has the name, too.
    let names = NearestFile.names(in: Path.parent(of: path)) {
      NearestFile.isManifest($0) && folder + $0 != path
    }
    if names.isEmpty {
      guard path.hasSuffix(ManifestFile.defaultName), Path.isDirectory(Path.parent(of: path)) else {
        return ""
      }
      return "; `opflow init -f \(CleanText.string(path))` writes one"
    }
    let known = names.contains(ManifestFile.defaultName) ? [ManifestFile.defaultName] : names
    if known.count == 1 { return "; did you mean `\(CleanText.string(folder + known[0]))`?" }
    return "; the manifests there: \(CleanText.list(known))"
  }

  /// A hint if a word that should name a task names a file.
  static func file(among words: [String]) -> String? {
    guard let word = words.first(where: { Path.exists($0) }) else { return nil }
    let shown = CleanText.string(word)
    guard Path.isDirectory(word) else {
      return "; `\(shown)` is a file: to use it as the manifest, write `-f \(shown)`"
    }
    guard Path.exists("\(word)/\(ManifestFile.defaultName)") else {
      // Other words are common names of tasks, too.
      return word.contains("/")
        ? "; `\(shown)` is a folder without \(ManifestFile.defaultName)" : nil
    }
    return "; `\(shown)` is a folder: for the manifest in it, write `\(shown)/`"
  }

  /// A misspelt name in `folder`, which ends with a slash.
  private static func otherName(in folder: String) -> String? {
    ["opflow.yml", "Opflow.yaml", "Opflow.yml", ".opflow.yaml", ".opflow.yml", "opflow.yaml.txt"]
      .first { Path.exists(folder + $0) }
  }
}

enum NearestFile {
  /// Suggests a similar path for a missing file; empty for none.
  static func hint(_ path: String, where isWanted: (String) -> Bool = { _ in true }) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    if name.isEmpty { return "" }
    let names = names(in: Path.parent(of: path), where: isWanted)
    guard let nearest = NearestName.of(name, among: names) else { return "" }
    let before = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    return "; did you mean `\(CleanText.string(before + nearest))`?"
  }

  /// Not all of a folder with a million files.
  static func names(in folder: String, where isWanted: (String) -> Bool) -> [String] {
    ((try? Path.names(in: folder)) ?? []).prefix(10_000).filter(isWanted).sorted()
  }

  static func isManifest(_ name: String) -> Bool {
    name.hasSuffix(".yaml") || name.hasSuffix(".yml")
  }
}
