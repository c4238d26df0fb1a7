internal import OpflowBase
internal import OpflowPlan
package import OpflowSystem
package import OpflowWire

/// The files of `SurvivorNote` in a run's folder, one per process.
package enum SurvivorFiles {
  private static let folderName = "survivors"
  private static let mostBytes = 1 << 20

  private static func folder(_ runFolder: String) -> String { "\(runFolder)/\(folderName)" }

  package static func add(_ note: SurvivorNote, in runFolder: String) throws(Errno) {
    let folder = folder(runFolder)
    do throws(Errno) {
      try Path.makeDirectory(folder, mode: 0o700)
    } catch .exists {
    }
    let name = LogName.of(Array("\(ProcessID.own).\(Machine.hostName)".utf8))
    var writer = FieldWriter()
    note.write(into: &writer)
    try File.openRegular("\(folder)/\(name)", [.writeOnly, .create, .append])
      .writeAll(writer.bytes)
  }

  /// An unreadable file counts as empty.
  package static func read(_ runFolder: String) -> [SurvivorNote] {
    let folder = folder(runFolder)
    return ((try? Path.names(in: folder)) ?? []).flatMap { name in
      SurvivorNote.read((try? File.readRegular("\(folder)/\(name)", atMost: mostBytes)) ?? [])
    }
  }

  /// The processes of earlier sessions have ended or were given up.
  package static func remove(_ runFolder: String) {
    // Missing in most runs. The next resume reads leftovers again.
    try? Path.removeTree(folderName, in: runFolder)
  }
}
