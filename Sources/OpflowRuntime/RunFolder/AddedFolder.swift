package import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// An addition's folder in the run's folder, named by the request's ID: the plan segment and its
/// sources. The client creates it before the request, so that a resume can compile every addition
/// in the journal. Other folders were refused or never requested, and may be removed.
package struct AddedFolder: Sendable {
  package let path: String
  private let run: RunFolder
  private let id: RequestID

  package init(_ id: RequestID, of run: RunFolder) {
    self.run = run
    self.id = id
    path = "\(run.added)/\(id.text)"
  }

  static let name = "added"

  private var segment: String { path + "/plan" }
  var manifest: String { path + "/manifest.yaml" }
  /// Contains the name of the matrix whose tasks are added.
  private var matrixGroup: String { path + "/legs" }
  private var included: String { path + "/included" }

  // MARK: - For the client

  enum Source {
    case manifest([UInt8])
    case matrixGroup(String)
  }

  /// Syncs the folder before the journal refers to it.
  func write(segment bytes: [UInt8], _ source: Source, _ kept: KeptFiles) throws(RunFolderError) {
    var isNew = true
    try doing("create", run.added) { () throws(Errno) in
      do throws(Errno) {
        try Path.makeDirectory(run.added)
      } catch .exists {
        isNew = false
      }
    }
    try doing("create", path, Path.makeDirectory(path))
    // A resume compiles the segment again.
    try Self.put(bytes, at: segment, isSynced: false)
    switch source {
    case .manifest(let bytes): try Self.put(bytes, at: manifest, isSynced: true)
    case .matrixGroup(let name): try Self.put(Array(name.utf8), at: matrixGroup, isSynced: true)
    }
    if !kept.files.isEmpty { try Self.put(kept.text, at: included, isSynced: true) }
    for folder in isNew ? [path, run.added, run.path] : [path, run.added] {
      try doing("sync", folder, Path.syncFolder(folder))
    }
  }

  private static func put(_ bytes: [UInt8], at path: String, isSynced: Bool) throws(RunFolderError)
  {
    try doing("write", path) { () throws(Errno) in
      let file = try File.open(path, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
      try file.writeAll(bytes)
      if isSynced { try file.sync() }
      try file.close()
    }
  }

  package func remove() { try? Path.removeTree(id.text, in: run.added) }

  // MARK: - For the session

  func segment(of request: AddRequest) throws(RequestRefusal) -> Plan {
    if let carried = request.carried { return try Self.open(carried.segment, "the addition") }
    return try Self.open(try read("plan"), segment)
  }

  private func read(_ name: String, mayBeMissing: Bool = false) throws(RequestRefusal) -> [UInt8] {
    do throws(Errno) {
      let folder = try File.open(run.added, [.readOnly, .directory, .noFollow])
      let own = try File.open(id.text, in: folder, [.readOnly, .directory, .noFollow])
      let file = try File.openRegular(name, in: own, .readOnly)
      guard try file.status().sizeBytes <= Int64(Self.mostBytes) else { throw .fileTooBig }
      return try file.readAll(atMost: Self.mostBytes)
    } catch {
      if mayBeMissing, error == .noSuchFile { return [] }
      // A resume has removed the folder, so nothing was added under this ID.
      let why = error == .noSuchFile ? "\(AddRequest.outdated): " : ""
      throw RequestRefusal(detail: "\(why)cannot read \(path)/\(name): \(error)")
    }
  }

  func copies(of request: AddRequest) throws(RequestRefusal) -> [WrittenSecrets.Copy] {
    if let carried = request.carried { return [(request.manifestPath, carried.copy)] }
    let name = Path.name(request.manifestPath)
    let included = KeptFiles(reading: try read("included", mayBeMissing: true))
    return [(name, try read("manifest.yaml", mayBeMissing: true))] + included.named
  }

  private static func open(_ bytes: [UInt8], _ name: String) throws(RequestRefusal) -> Plan {
    do throws(PlanError) {
      let plan = try Plan(copying: bytes)
      try plan.validate()
      return plan
    } catch {
      throw RequestRefusal(
        detail: "opflow cannot add \(name): \(error.message); the opflow that adds tasks and the"
          + " opflow of the run must have the same version")
    }
  }

  /// 3 GiB of text and the records that refer to it.
  private static let mostBytes = 4 << 30

  // MARK: - For a resume

  /// True if the addition consists of matrix tasks.
  var isOfInstances: Bool { Path.exists(matrixGroup) }

  func readKeptFiles() -> KeptFiles { KeptFiles(at: included) }
}

extension RunFolder {
  var added: String { path + "/" + AddedFolder.name }

  /// `known` are the IDs in the journal, which is complete, since only the caller can add now.
  func removeAdded(but known: Set<String>) {
    guard let names = try? Path.names(in: added) else { return }
    for name in names where !known.contains(name) { try? Path.removeTree(name, in: added) }
  }
}
