internal import OpflowBase
package import OpflowJournal
internal import OpflowManifest
package import OpflowPlan
internal import OpflowSystem
internal import OpflowWorker

package struct RunFolder: Equatable, Sendable {
  package let id: RunID
  /// Absolute.
  package let path: String
  /// Folders created for this run, including its own; empty for an existing run.
  private let newFolders: [String]

  package init(id: RunID, path: String, newFolders: [String] = []) {
    self.id = id
    self.path = path
    self.newFolders = newFolders
  }

  static let journalName = "journal.log"
  static let lockName = "lock"
  static let workersLockName = "workers.lock"

  package var journal: String { path + "/" + Self.journalName }
  package var manifest: String { path + "/manifest.yaml" }
  /// Copies of the files that the manifest names.
  package var keptFiles: String { path + "/included" }
  package var plan: String { path + "/plan" }
  package var logs: String { path + "/logs" }
  package var values: String { path + "/" + ValueFolder.name }
  var unread: String { path + "/" + ValueFolder.unreadName }
  package var lock: String { path + "/" + Self.lockName }
  /// Held during a takeover from another machine.
  var takeOverLock: String { path + "/take-over.lock" }
  /// Held by every worker.
  var workersLock: String { path + "/" + Self.workersLockName }
  /// Held by every client that uses the run as its queue.
  var clientsLock: String { path + "/hosts.lock" }
  /// Held by a process that will resume the run when its files change.
  package var watchLock: String { path + "/watch.lock" }
  /// The progress of running downloads.
  package var progress: String { path + "/progress" }
  /// The reasons that nodes are delayed.
  private var awaited: String { path + "/awaited" }
  private var cache: String { path + "/" + CacheSetting.fileName }
  /// Standard error of local workers.
  package var workerLog: String { path + "/worker.log" }
  func workerLog(of host: String) -> String {
    path + "/worker.\(LogName.of(Array(host.utf8)))"
  }
  var nodeLog: String { path + "/sites.log" }

  /// True if opflow, or an earlier version, creates a file of this name before the journal.
  static func isMadeAtBeginning(_ name: String) -> Bool {
    [
      "logs", ValueFolder.unreadName, lockName, journalName, "manifest.yaml", "included", "plan",
      "manifest.yaml.new", "included.new", "plan.new",
    ].contains(name)
  }

  package func log(of task: TaskID, in plan: Plan) -> String {
    logs + "/" + LogName.of(plan.nameBytes(task))
  }

  /// Keeps the manifest for the record, and for a resume that finds it missing.
  package func write(manifest bytes: [UInt8]) throws(RunFolderError) {
    try replace(manifest, with: bytes, mode: 0o600)
  }

  func write(_ files: KeptFiles) throws(RunFolderError) {
    if files.files.isEmpty { return }
    try replace(keptFiles, with: files.text, mode: 0o600)
  }

  func replace(manifest bytes: [UInt8]) throws(RunFolderError) {
    if (try? readManifest()) != bytes { try write(manifest: bytes) }
  }

  func replace(_ files: KeptFiles) throws(RunFolderError) {
    let old = try? File.readRegular(keptFiles, atMost: KeptFiles.mostBytes)
    if (old ?? []) != files.text { try replace(keptFiles, with: files.text, mode: 0o600) }
  }

  func readKeptFiles() -> KeptFiles { KeptFiles(at: keptFiles) }

  func readManifest() throws(Errno) -> [UInt8] {
    try File.readRegular(manifest, atMost: ManifestCompiler.maximumBytes)
  }

  /// A resume creates the folder again if it was removed: results do not depend on logs.
  func makeLogs() throws(RunFolderError) { try makeFolder(logs) }

  /// Values that no task reads go here; it must exist before a task starts.
  package func makeUnread() throws(RunFolderError) { try makeFolder(unread) }

  private func makeFolder(_ folder: String) throws(RunFolderError) {
    try doing("create", folder) { () throws(Errno) in
      do throws(Errno) {
        try Path.makeDirectory(folder, mode: 0o700)
      } catch .exists {
        return
      }
    }
  }

  /// Writes the cache setting for a session's workers; nil for no cache. Returns warnings.
  func write(_ setting: CacheSetting?) -> [String] {
    do throws(Errno) {
      try Path.removeIfThere(cache)
      guard let setting else { return [] }
      let file = try File.open(cache, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
      try file.writeAll(setting.file)
      guard case .shared(let path, false, _) = setting, !Path.isDirectory(path) else { return [] }
      return ["opflow does not use the cache \(path): it is not a folder"]
    } catch {
      return ["opflow does not use the cache: cannot write \(cache): \(error)"]
    }
  }

  /// Removes partial results of workers that died while restoring from a cache.
  func removeStages() { try? Path.removeTree(CacheSetting.stageName, in: path) }

  /// Writes the compiled plan. A process that has mapped the old plan keeps it.
  ///
  /// - Parameter hasRoom: Tasks will be added.
  package func write(plan bytes: [UInt8], hasRoom: Bool = false) throws(RunFolderError) {
    try replace(plan, with: bytes, mode: hasRoom ? 0o600 : 0o400)
  }

  /// Replaces files of an existing run durably, before a journal line refers to them. Files of a
  /// new run are synced together before the first start.
  private func replace(_ file: String, with bytes: [UInt8], mode: UInt32) throws(RunFolderError) {
    try doing("write", file) { () throws(Errno) in
      if newFolders.isEmpty {
        try bytes.withUnsafeBufferPointer { all throws(Errno) in
          try File.replace(file, with: UnsafeRawBufferPointer(all), mode: mode)
        }
      } else {
        try File.put(bytes, at: file, mode: mode)
      }
    }
  }

  /// Syncs a new run's plan, manifest, folders and journal name before the first task starts; its
  /// journal is synced separately. Does nothing for an existing run.
  package func sync() throws(RunFolderError) {
    if newFolders.isEmpty { return }
    for file in [manifest, keptFiles, plan] where Path.exists(file) {
      try doing("sync", file, File.openRegular(file, .readOnly).sync())
    }
    try doing("sync", path, Path.syncFolder(path))
    for folder in newFolders.reversed() {
      let parent = Path.parent(of: folder)
      try doing("sync", parent, Path.syncFolder(parent))
    }
  }

  package func readOpen() throws(RunFolderError) -> OpenEntry {
    let file = try openingJournal(journal, File.openRegular(journal, .readOnly))
    // 4 KiB nearly always suffice; there may be many thousands of runs to read.
    var start = [UInt8](repeating: 0, count: 4096)
    let count = try doing("read", journal) { () throws(Errno) in
      try start.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
        try file.read(into: UnsafeMutableRawBufferPointer(room), at: 0)
      }
    }
    if count == start.count, !start.contains(Field.lineFeed) {
      return try withJournal { bytes throws(JournalError) in try JournalReader.open(bytes) }
    }
    do throws(JournalError) {
      return try start.withUnsafeBufferPointer { bytes throws(JournalError) in
        try JournalReader.open(
          UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<count]))
      }
    } catch {
      throw .journal(path: journal, error)
    }
  }

  /// Reads the journal entries about the whole run, which need no plan.
  package func readRunHistory() throws(RunFolderError) -> RunModel {
    try withJournal { bytes throws(JournalError) in try RunModel.readRun(bytes) }
  }

  /// Replays the journal, even of a live run, without changes.
  package func readHistory(
    plan: Plan, keepingDetails: Bool = false, absolutePlan: Plan? = nil
  ) throws(RunFolderError) -> (history: RunModel, recovery: JournalRecovery) {
    try withJournal { bytes throws(JournalError) in
      try RunModel.read(
        bytes, plan: plan, keepingDetails: keepingDetails, absolutePlan: absolutePlan,
        beforeFilling: Memory.wantsLargePages)
    }
  }

  package func readProgress(plan: Plan) -> [TaskID: RunningDownloads.Entry] {
    guard let notes = try? File.readRegular(progress, atMost: Self.longestProgressBytes) else {
      return [:]
    }
    return ProgressNotes.read(notes, plan: plan)
  }

  package func readAwaited() -> String? {
    guard let file = try? File.openRegular(awaited, .readOnly),
      let bytes = try? file.readAll(atMost: Self.longestAwaitedBytes), !bytes.isEmpty
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let longestAwaitedBytes = 1_000
  private static let longestProgressBytes = 1 << 30

  /// Only views use the file, so errors are ignored.
  func writeAwaited(_ detail: String) { try? File.put(Array(detail.utf8), at: awaited) }

  func removeAwaited() { try? Path.remove(awaited) }

  package func withJournal<Result>(
    _ body: (UnsafeRawBufferPointer) throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    let file = try openingJournal(journal, MappedFile(journal))
    defer { MappedFile.unmap(file.bytes) }
    return try rethrowing(body(file.bytes)) { RunFolderError.journal(path: journal, $0) }
  }

  /// True if the journal is not empty or cannot be read, so that no older run takes this run's
  /// place.
  package var hasBegun: Bool {
    do throws(Errno) {
      let status = try Path.linkStatus(journal)
      return status.kind != .file || status.sizeBytes > 0
    } catch {
      return error != .noSuchFile && error != .notADirectory
    }
  }
}

/// Opens the plan of another process's run.
///
/// Tasks are added to the file before the journal line that commits them (`ExtendEntry`), so the
/// plan is opened with the number of tasks in the journal. A resume also writes its plan before its
/// first line; until then the journal does not describe the new plan.
extension RunFolder {
  /// Maps the plan and checks every reference in it.
  package func openPlan(verifyingChecksum: Bool = true) throws(RunFolderError) -> Plan {
    let mapped = try mapPlan(verifyingChecksum: verifyingChecksum)
    do throws(PlanError) {
      try mapped.validate()
      return mapped
    } catch {
      throw .plan(path: plan, error)
    }
  }

  /// Checks only the header and section table, optionally the checksum.
  func mapPlan(verifyingChecksum: Bool = false) throws(RunFolderError) -> Plan {
    var file = try openPlanFile()
    var found = try map(file, verifyingChecksum: verifyingChecksum)
    guard found.hasRoom else { return found }
    let told = told { JournalReader.taskCount(atEndOf: $0) } ?? found.firstTaskCount
    if found.taskCount < told {
      // The plan grew into a new file after the first read.
      file = try openPlanFile()
      found = try map(file, verifyingChecksum: verifyingChecksum)
    }
    if found.taskCount <= told { return found }
    if !isTold(found) {
      // A resume may have replaced the plan after the first read.
      file = try openPlanFile()
      found = try map(file, verifyingChecksum: verifyingChecksum)
      if found.taskCount <= told || !isTold(found) { return found }
    }
    return try map(file, taskCount: told, verifyingChecksum: verifyingChecksum)
  }

  private func openPlanFile() throws(RunFolderError) -> Descriptor {
    try doing("open", plan, File.openRegular(plan, .readOnly))
  }

  private func map(
    _ file: borrowing Descriptor, taskCount: Int? = nil, verifyingChecksum: Bool
  ) throws(RunFolderError) -> Plan {
    let mapped = try rethrowing(MappedFile(file)) {
      RunFolderError.file(doing: "open", path: plan, $0)
    }
    return try rethrowing(
      Plan(
        bytes: mapped.bytes, checksum: verifyingChecksum, limit: taskCount,
        release: MappedFile.unmap)
    ) { RunFolderError.plan(path: plan, $0) }
  }

  /// True if the plan belongs to the newest session.
  private func isTold(_ plan: Plan) -> Bool {
    told { JournalReader.planKey(atEndOf: $0) } == plan.key.description
  }

  private func told<Told>(_ tell: (UnsafeRawBufferPointer) -> Told?) -> Told? {
    guard let file = try? MappedFile(journal) else { return nil }
    defer { MappedFile.unmap(file.bytes) }
    return tell(file.bytes)
  }
}

/// Copies of the files that a run's manifest names, in one file: for the record, and for a resume
/// that finds a file missing.
///
/// Hashes in the journal say which contents belong to the last session. Before a resume switches to
/// other contents, it adds them here, and the old manifest too before it replaces `manifest.yaml`.
/// So after a crash all contents that the journal names exist. The next resume that writes this
/// file drops contents of neither session.
///
/// Format, for each file: the byte counts of path and contents in decimal, separated by a space; a
/// newline; the path; a newline; the contents; a newline. Paths below the manifest's folder are
/// relative to it, so that a moved project finds its copies.
struct KeptFiles: Sendable {
  private(set) var files: [(path: String, bytes: [UInt8])] = []
  private var places: [PathKey: [Int]] = [:]

  init() {}

  mutating func add(_ file: (path: String, bytes: [UInt8])) {
    let path = PathKey(file.path)
    if places[path, default: []].contains(where: { files[$0].bytes == file.bytes }) { return }
    places[path, default: []].append(files.count)
    files.append(file)
  }

  mutating func add(_ path: String, _ bytes: [UInt8], from folder: String) {
    add((Self.relative(path, to: folder), bytes))
  }

  /// Returns the first copy of an absolute path.
  func bytes(of path: String, from folder: String) -> [UInt8]? {
    places[PathKey(Self.relative(path, to: folder))]?.first.map { files[$0].bytes }
  }

  static func relative(_ path: String, to folder: String) -> String {
    let start = folder.hasSuffix("/") ? folder : folder + "/"
    return path.hasPrefix(start) ? String(path.dropFirst(start.count)) : path
  }

  var named: [WrittenSecrets.Copy] { files.map { ($0.path, $0.bytes) } }

  // MARK: The file

  var text: [UInt8] {
    var text: [UInt8] = []
    for (path, bytes) in files {
      text += Array("\(path.utf8.count) \(bytes.count)\n".utf8)
      text += Array(path.utf8)
      text.append(10)
      text += bytes
      text.append(10)
    }
    return text
  }

  /// The most that a manifest may name, plus the same for an earlier session.
  static let mostBytes = 4 << 30

  init(at path: String) {
    self.init(reading: (try? File.readRegular(path, atMost: Self.mostBytes)) ?? [])
  }

  init(reading text: [UInt8]) {
    var rest = text[...]
    while let end = rest.firstIndex(of: 10) {
      let head = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
      guard head.count == 2, let pathCount = Int(head[0]), let count = Int(head[1]), pathCount > 0,
        count >= 0, pathCount <= rest.count, count <= rest.count - pathCount,
        end + 1 + pathCount + 1 + count + 1 <= rest.endIndex
      else { return }
      let path = end + 1
      let bytes = path + pathCount + 1
      let name = String(decoding: rest[path..<(path + pathCount)], as: UTF8.self)
      add((name, Array(rest[bytes..<(bytes + count)])))
      rest = rest[(bytes + count + 1)...]
    }
  }
}

/// A copy that reads like the damaged journal: intact lines are unchanged, and gaps in their
/// numbers still show lost lines.
package enum JournalCleanCopy {
  /// Needs the run's lock. A crash leaves the old journal in place, or beside the copy. Returns nil
  /// if nothing was damaged.
  package static func replace(
    _ folder: RunFolder
  ) throws(RunFolderError) -> (old: String, recovery: JournalRecovery)? {
    let (bytes, recovery) = try folder.withJournal { bytes throws(JournalError) in
      try intactLines(of: bytes)
    }
    let repair = recovery.repair
    if recovery.droppedLines == 0, repair.truncateTo == nil, !repair.appendsLineFeed { return nil }
    let old = try keepOld(folder.journal)
    try doing("write", folder.journal) { () throws(Errno) in
      try bytes.withUnsafeBufferPointer { all throws(Errno) in
        try File.replace(folder.journal, with: UnsafeRawBufferPointer(all))
      }
    }
    return (old, recovery)
  }

  private static func intactLines(
    of bytes: UnsafeRawBufferPointer
  ) throws(JournalError) -> ([UInt8], JournalRecovery) {
    var reader = try JournalReader(bytes)
    var lines: [UInt8] = []
    lines.reserveCapacity(bytes.count)
    while reader.next() != nil {
      lines.append(contentsOf: reader.lineText)
      lines.append(Field.lineFeed)
    }
    return (lines, reader.recovery)
  }

  /// Links the journal to a new name, or finds the link that a killed repair has made.
  private static func keepOld(_ journal: String) throws(RunFolderError) -> String {
    var number = 1
    while true {
      let name = number == 1 ? "\(journal).damaged" : "\(journal).damaged-\(number)"
      let isTaken = try doing("save the old journal as", name) { () throws(Errno) -> Bool in
        do throws(Errno) {
          try Path.link(journal, to: name)
          return false
        } catch .exists {
          return try Path.linkStatus(name).identity != Path.linkStatus(journal).identity
        }
      }
      if !isTaken { return name }
      number += 1
    }
  }
}
