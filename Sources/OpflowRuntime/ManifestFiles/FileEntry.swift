internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// A manifest's files in the journal: `HASH PATH`, the root file first.
enum FileEntry {
  static func texts(_ files: [PlanFile], from folder: String) -> [String] {
    files.map { "\($0.content) \(KeptFiles.relative($0.path, to: folder))" }
  }

  /// Returns the paths with changed hashes, except the root.
  static func changed(from old: [String], to new: [String]) -> [String] {
    var hashes: [PathKey: Substring] = [:]
    for entry in old { hashes[PathKey(path(entry))] = hash(entry) }
    return new.dropFirst().filter { entry in
      hashes[PathKey(path(entry))].map { $0 != hash(entry) } ?? false
    }.map(path)
  }

  static func hashes(of entries: [String], from folder: String) -> [PathKey: String] {
    var hashes: [PathKey: String] = [:]
    for entry in entries {
      let path = path(entry)
      hashes[PathKey(path.hasPrefix("/") ? path : "\(folder)/\(path)")] = String(hash(entry))
    }
    return hashes
  }

  static func hash(_ entry: String) -> Substring { entry.prefix { $0 != " " } }
  private static func path(_ entry: String) -> String {
    String(entry.drop { $0 != " " }.dropFirst())
  }
}

extension KeptFiles {
  /// Returns the contents that a session's entries name; all if an older opflow left no entries.
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

enum FileHash {
  /// Remains in the processor's cache between read and hash.
  private static let pieceBytes = 128 << 10

  /// Hashes in pieces: allocating memory for a large file takes longer than hashing it.
  static func planKey(_ path: String) throws(Errno) -> PlanKey {
    try planKey(of: File.openRegular(path, .readOnly, followsLink: true))
  }

  static func planKey(of file: consuming Descriptor) throws(Errno) -> PlanKey {
    var piece = [UInt8](repeating: 0, count: pieceBytes)
    guard let hash = PieceHash() else { throw .noMemory }
    while true {
      let count = try piece.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
        try file.read(into: UnsafeMutableRawBufferPointer(room))
      }
      if count == 0 { return hash.planKey }
      piece.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}
