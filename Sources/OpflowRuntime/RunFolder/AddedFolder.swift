package import OpflowCore
internal import OpflowSystem

/// What is added to a run, in a folder of the run's own by the name of the order: the segment of the plan, and
/// what it was compiled from.
///
/// Who adds makes it before he asks, so that what the journal says was added can be compiled anew. One that
/// the journal says nothing of was refused, or never asked for, and is nobody's.
package struct AddedFolder: Sendable {
  package let path: String
  private let run: RunFolder
  private let id: OrderID

  package init(_ id: OrderID, of run: RunFolder) {
    self.run = run
    self.id = id
    path = "\(run.added)/\(id.text)"
  }

  static let name = "added"

  private var segment: String { path + "/plan" }
  /// The manifest as it was read.
  var manifest: String { path + "/manifest.yaml" }
  /// Instead of it, for legs of a family that stands elsewhere: its name.
  private var family: String { path + "/legs" }
  /// Copies of the files that it names; missing where it names none.
  private var included: String { path + "/included" }

  // MARK: - Who adds

  /// What a segment was compiled from.
  enum Source {
    case manifest([UInt8])
    /// Legs of the family of that name, which the run has already.
    case family(String)
  }

  /// Makes it, and makes it last: the journal's word of it is synced before anything comes of it.
  func write(
    segment bytes: [UInt8], _ source: Source, _ kept: KeptFiles
  ) throws(RunFolderError) {
    var isNew = true
    try doing("make", run.added) { () throws(Errno) in
      do throws(Errno) {
        try Path.makeDirectory(run.added)
      } catch .exists {
        isNew = false
      }
    }
    try doing("make", path) { () throws(Errno) in try Path.makeDirectory(path) }
    // A resume compiles it anew, and has no use for it.
    try Self.put(bytes, at: segment, isSynced: false)
    switch source {
    case .manifest(let bytes): try Self.put(bytes, at: manifest, isSynced: true)
    case .family(let name): try Self.put(Array(name.utf8), at: family, isSynced: true)
    }
    if !kept.files.isEmpty { try Self.put(kept.text, at: included, isSynced: true) }
    for folder in isNew ? [path, run.added, run.path] : [path, run.added] {
      try doing("sync", folder) { () throws(Errno) in try Path.syncFolder(folder) }
    }
  }

  private static func put(
    _ bytes: [UInt8], at path: String, isSynced: Bool
  ) throws(RunFolderError) {
    try doing("write", path) { () throws(Errno) in
      let file = try File.open(
        path, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
      try file.writeAll(bytes)
      if isSynced { try file.sync() }
      try file.close()
    }
  }

  /// What stays is nobody's, and goes with a resume or with the run.
  package func remove() { try? Path.removeTree(id.text, in: run.added) }

  // MARK: - Who drives the run

  /// The segment, checked as what anybody may have written.
  ///
  /// - Throws: what is wrong with it, as a refusal says it.
  func segment(of request: AddRequest) throws(OrderRefusal) -> Plan {
    if let carried = request.carried { return try Self.open(carried.segment, "what is added") }
    return try Self.open(try read("plan"), segment)
  }

  private func read(_ name: String, mayBeMissing: Bool = false) throws(OrderRefusal) -> [UInt8] {
    do throws(Errno) {
      let folder = try File.open(run.added, [.readOnly, .directory, .noFollow])
      let own = try File.open(id.text, in: folder, [.readOnly, .directory, .noFollow])
      let file = try File.openRegular(name, in: own, .readOnly)
      guard try file.status().sizeBytes <= Int64(Self.mostBytes) else { throw .fileTooBig }
      return try file.readAll(atMost: Self.mostBytes)
    } catch {
      if mayBeMissing, error == .noSuchFile { return [] }
      // A resume has removed it, before which nothing was added by that id.
      let why = error == .noSuchFile ? "\(AddRequest.outdated): " : ""
      throw OrderRefusal(what: "\(why)cannot read \(path)/\(name): \(error)")
    }
  }

  /// What it was compiled from, as the journal or this folder keeps it.
  func copies(of request: AddRequest) throws(OrderRefusal) -> [WrittenSecrets.Copy] {
    if let carried = request.carried { return [(request.manifestPath, carried.copy)] }
    let name = Path.name(request.manifestPath)
    let included = KeptFiles(reading: try read("included", mayBeMissing: true))
    return [(name, try read("manifest.yaml", mayBeMissing: true))] + included.named
  }

  private static func open(_ bytes: [UInt8], _ name: String) throws(OrderRefusal) -> Plan {
    do throws(PlanError) {
      let plan = try Plan(copying: bytes)
      try plan.validate()
      return plan
    } catch {
      throw OrderRefusal(
        what: "\(name) is no segment that can be added: \(error.message); the opflow that adds"
          + " and the one that drives the run must be the same")
    }
  }

  /// Texts of 3 GiB, and what refers to them.
  private static let mostBytes = 4 << 30

  // MARK: - Who resumes it

  /// Whether legs of a family were added that stands elsewhere.
  var isOfLegs: Bool { Path.exists(family) }

  /// None where they cannot be read.
  func readKeptFiles() -> KeptFiles {
    KeptFiles(at: included)
  }
}

extension RunFolder {
  /// What was added to the run, by the ids of the orders.
  var added: String { path + "/" + AddedFolder.name }

  /// Removes what was never added.
  ///
  /// - Parameter known: what the journal speaks of. Its line is there, and nobody else can add meanwhile.
  func removeAdded(but known: Set<String>) {
    guard let names = try? Path.names(in: added) else { return }
    for name in names where !known.contains(name) { try? Path.removeTree(name, in: added) }
  }
}
