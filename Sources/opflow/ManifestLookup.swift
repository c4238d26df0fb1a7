import OpflowCore
import OpflowSystem

/// Finds the manifest of a command that names none, and says what may have been meant.
enum ManifestLookup {
  /// `opflow.yaml` here or in the nearest folder above that has one, as seen from here; nil for none.
  static func nearest() throws(CommandError) -> String? {
    var folder = try RunLookup.workingDirectory()
    var above = ""
    while true {
      let path =
        folder == "/" ? "/\(ManifestFile.defaultName)" : "\(folder)/\(ManifestFile.defaultName)"
      // A folder of that name is none; anything else is, and says itself what is wrong with it.
      if Path.exists(path), !Path.isDirectory(path) { return above + ManifestFile.defaultName }
      let parent = Path.parent(of: folder)
      if parent == folder { return nil }
      folder = parent
      above += "../"
    }
  }

  /// There is no manifest, and none is named.
  static func nothing(naming tasks: [String]) -> CommandError {
    var text = "no \(ManifestFile.defaultName) here or in a folder above"
    if let hint = file(among: tasks) {
      text += hint
    } else if let other = otherName(in: "") {
      text += "; `opflow run \(other)` runs \(other)"
    } else {
      text += "; name a manifest, or see `opflow help run`"
    }
    return CommandError(.usage, text)
  }

  /// What to add to a manifest that cannot be read.
  static func hint(_ path: String, _ error: Errno) -> String {
    if error == .isADirectory, Path.exists("\(path)/\(ManifestFile.defaultName)") {
      return "; the manifest in it is `\(CleanText.string(path))/`"
    }
    guard error == .noSuchFile else { return "" }
    if path.hasSuffix(ManifestFile.defaultName) {
      let folder = String(path.dropLast(ManifestFile.defaultName.count))
      if let other = otherName(in: folder) {
        return "; there is \(CleanText.string(folder + other))"
      }
    }
    return NearestFile.hint(path, where: NearestFile.isManifest)
  }

  /// What to say where a word that should name a task names a file; nil where none does.
  static func file(among words: [String]) -> String? {
    guard let word = words.first(where: { Path.exists($0) }) else { return nil }
    let shown = CleanText.string(word)
    guard Path.isDirectory(word) else {
      return "; `\(shown)` is a file: `-f \(shown)` names it as the manifest"
    }
    guard Path.exists("\(word)/\(ManifestFile.defaultName)") else { return nil }
    return "; `\(shown)` is a folder: `\(shown)/` names the manifest in it"
  }

  /// A file that was likely meant as the manifest of a folder, with its slash.
  private static func otherName(in folder: String) -> String? {
    ["opflow.yml", "Opflow.yaml", "Opflow.yml"].first { Path.exists(folder + $0) }
  }
}

/// The tasks that a command line names.
enum NamedTasks {
  /// - Throws: a word that names no task, and what else it may be.
  static func check(
    _ words: [String], of plan: Plan, from manifest: ManifestFile
  ) throws(CommandError) {
    for word in words {
      do throws(UnfitSelector) {
        _ = try Selector.tasks([word], of: plan)
      } catch {
        let path = CleanText.string(manifest.displayPath)
        let hint = ManifestLookup.file(among: [word]) ?? Self.hint(error, plan)
        throw CommandError(
          .usage, "no task of \(path) fits `\(CleanText.string(word))`\(hint)")
      }
    }
  }

  private static func hint(_ error: UnfitSelector, _ plan: Plan) -> String {
    if let nearest = error.nearest { return "; did you mean `\(CleanText.string(nearest))`?" }
    if plan.taskCount > 20 { return "; `opflow` alone shows the tasks" }
    let names = plan.tasks.map { CleanText.string(plan.nameString(TaskID($0))) }
    return "; its tasks: \(names.joined(separator: ", "))"
  }
}
