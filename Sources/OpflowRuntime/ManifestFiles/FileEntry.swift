internal import OpflowCore

/// The files of a manifest, as the journal keeps them: `HASH PATH`, the root first.
enum FileEntry {
  /// - Parameter folder: the manifest's, from which paths within it start.
  static func texts(_ files: [PlanFile], from folder: String) -> [String] {
    files.map { "\($0.content) \(KeptFiles.relative($0.path, to: folder))" }
  }

  /// The paths of files but the root whose hashes are others now, in the order that they have now.
  static func changed(from old: [String], to new: [String]) -> [String] {
    var hashes: [Substring: Substring] = [:]
    for entry in old { hashes[path(entry)] = hash(entry) }
    return new.dropFirst().filter { entry in
      hashes[path(entry)].map { $0 != hash(entry) } ?? false
    }.map { String(path($0)) }
  }

  /// The hashes by absolute path.
  static func hashes(of entries: [String], from folder: String) -> [String: String] {
    var hashes: [String: String] = [:]
    for entry in entries {
      let path = String(path(entry))
      hashes[path.hasPrefix("/") ? path : "\(folder)/\(path)"] = String(hash(entry))
    }
    return hashes
  }

  static func hash(_ entry: String) -> Substring { entry.prefix { $0 != " " } }
  private static func path(_ entry: String) -> Substring { entry.drop { $0 != " " }.dropFirst() }
}

extension KeptFiles {
  /// Just the texts that those entries of a journal name, which are the files of one drive; all of them
  /// where it names none, as that of an older opflow.
  func named(by entries: [String]) -> KeptFiles {
    if entries.isEmpty { return self }
    let entries = Set(entries)
    var named = KeptFiles()
    for file in files where entries.contains("\(Hash.planKey(file.bytes)) \(file.path)") {
      named.add(file)
    }
    return named
  }
}
