import OpflowCommandLine
import OpflowSystem

enum FileCandidates {
  /// Completes a typed path with folders and wanted files; hidden ones only after a dot.
  static func names(_ stem: String, where isWanted: (String) -> Bool) -> [CompletionCandidate] {
    let slash = stem.lastIndex(of: "/")
    let folder = slash.map { String(stem[...$0]) } ?? ""
    let beginning = slash.map { String(stem[stem.index(after: $0)...]) } ?? stem
    guard let all = try? Path.names(in: place(folder)) else { return [] }
    var candidates: [CompletionCandidate] = []
    for name in all.sorted() where name.hasPrefix(beginning) {
      if name.hasPrefix("."), beginning.isEmpty { continue }
      if Path.isDirectory(place(folder) + "/" + name) {
        candidates.append(CompletionCandidate(folder + name + "/", isOpen: true))
      } else if isWanted(name) {
        candidates.append(CompletionCandidate(folder + name))
      }
    }
    return candidates
  }

  private static func place(_ folder: String) -> String {
    if folder.isEmpty { return "." }
    guard folder.hasPrefix("~/"), let home = Environment.value("HOME") else { return folder }
    return home + folder.dropFirst()
  }
}
