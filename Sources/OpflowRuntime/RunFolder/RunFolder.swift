package import OpflowCore
internal import OpflowManifest
internal import OpflowSystem

/// The folder of one run, and the files in it.
package struct RunFolder: Equatable, Sendable {
  package let id: RunID
  /// Absolute.
  package let path: String
  /// Folders that were made for this run, its own among them; empty for a run that was there.
  private let newFolders: [String]

  /// The folder of a run that is there, or of one that was just made with `newFolders`.
  package init(id: RunID, path: String, newFolders: [String] = []) {
    self.id = id
    self.path = path
    self.newFolders = newFolders
  }

  static let journalName = "journal.log"
  static let lockName = "lock"
  static let workersLockName = "workers.lock"

  package var journal: String { path + "/" + Self.journalName }
  /// The manifest as it was read.
  package var manifest: String { path + "/manifest.yaml" }
  /// Copies of the files that the manifest names; missing where it names none.
  package var keptFiles: String { path + "/included" }
  package var plan: String { path + "/plan" }
  package var logs: String { path + "/logs" }
  /// What tasks leave for each other.
  package var values: String { path + "/" + ValueFolder.name }
  var unread: String { path + "/" + ValueFolder.unreadName }
  package var lock: String { path + "/" + Self.lockName }
  /// Held while somebody takes the run over from another machine.
  var takeOverLock: String { path + "/take-over.lock" }
  /// Held by every worker.
  var workersLock: String { path + "/" + Self.workersLockName }
  /// Held by every program that has the run as its queue.
  var hostsLock: String { path + "/hosts.lock" }
  /// Held for as long as somebody means to drive the run again when its files change.
  package var watchLock: String { path + "/watch.lock" }
  /// How far running downloads are.
  package var progress: String { path + "/progress" }
  /// What is waited for so that machines come.
  private var awaited: String { path + "/awaited" }
  /// Where results are cached, for its workers.
  private var cache: String { path + "/" + CacheSetting.fileName }
  /// What workers complained of.
  package var workerLog: String { path + "/worker.log" }
  /// What those of another machine complained of.
  func workerLog(of host: String) -> String {
    path + "/worker.\(LogName.of(Array(host.utf8)))"
  }
  /// What transports to other machines and their agents complained of.
  var siteLog: String { path + "/sites.log" }

  /// Whether opflow makes something of that name before a run has a journal, or did so once.
  static func isMadeAtBeginning(_ name: String) -> Bool {
    [
      "logs", ValueFolder.unreadName, lockName, journalName, "manifest.yaml", "included", "plan",
      "manifest.yaml.new", "included.new", "plan.new",
    ].contains(name)
  }

  /// Where a task's output goes.
  package func log(of task: TaskID, in plan: Plan) -> String {
    logs + "/" + LogName.of(plan.nameBytes(task))
  }

  /// Keeps the manifest's bytes, for the record and for a resume that finds it gone.
  package func write(manifest bytes: [UInt8]) throws(RunFolderError) {
    try replace(manifest, with: bytes, mode: 0o600)
  }

  /// Keeps the files that the manifest names, where there are any.
  func write(_ files: KeptFiles) throws(RunFolderError) {
    if files.files.isEmpty { return }
    try replace(keptFiles, with: files.text, mode: 0o600)
  }

  /// The same of a run that was there, where they are others.
  func replace(manifest bytes: [UInt8]) throws(RunFolderError) {
    if (try? readManifest()) != bytes { try write(manifest: bytes) }
  }

  func replace(_ files: KeptFiles) throws(RunFolderError) {
    let old = try? File.readRegular(keptFiles, atMost: KeptFiles.mostBytes)
    if (old ?? []) != files.text { try replace(keptFiles, with: files.text, mode: 0o600) }
  }

  /// None where they cannot be read.
  func readKeptFiles() -> KeptFiles {
    KeptFiles(at: keptFiles)
  }

  /// The copy of the manifest.
  func readManifest() throws(Errno) -> [UInt8] {
    try File.readRegular(manifest, atMost: ManifestCompiler.maximumBytes)
  }

  /// Makes the folder of the logs, also where somebody has removed it: they are gone, the results are not.
  func makeLogs() throws(RunFolderError) { try makeFolder(logs) }

  /// Makes the folder where tasks leave values that nobody reads; it must be there before any of them starts.
  package func makeUnread() throws(RunFolderError) { try makeFolder(unread) }

  private func makeFolder(_ folder: String) throws(RunFolderError) {
    try doing("make", folder) { () throws(Errno) in
      do throws(Errno) {
        try Path.makeDirectory(folder, mode: 0o700)
      } catch .exists {
        return
      }
    }
  }

  /// Tells the workers of a drive where results are cached; nil for nowhere.
  ///
  /// - Returns: what is to be said of it.
  func write(_ setting: CacheSetting?) -> [String] {
    do throws(Errno) {
      try Path.removeIfThere(cache)
      guard let setting else { return [] }
      let file = try File.open(cache, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
      try file.writeAll(setting.file)
      guard case .shared(let path, false, _) = setting, !Path.isDirectory(path) else { return [] }
      return ["no results come from the cache \(path): it is no folder"]
    } catch {
      return ["no results come from a cache: cannot write \(cache): \(error)"]
    }
  }

  /// Removes what workers left that died while a result came back from a cache. None is alive.
  func removeStages() {
    // What stays is in nobody's way, and goes with the run.
    try? Path.removeTree(CacheSetting.stageName, in: path)
  }

  /// Keeps the compiled plan. Whoever has mapped an older one keeps that.
  ///
  /// - Parameter hasRoom: it is written to when tasks are added.
  package func write(plan bytes: [UInt8], hasRoom: Bool = false) throws(RunFolderError) {
    try replace(plan, with: bytes, mode: hasRoom ? 0o600 : 0o400)
  }

  /// A file of a run that was there is replaced durably, before a line says that it counts. Those of a
  /// new run are synced together before the first start: until then nothing can be lost.
  private func replace(
    _ file: String, with bytes: [UInt8], mode: UInt32
  ) throws(RunFolderError) {
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

  /// Makes a new run's plan, manifest and folders last, before its first task starts, and the name of
  /// its journal, which must be there; what is in it syncs itself. Does nothing for a run that was there.
  package func sync() throws(RunFolderError) {
    if newFolders.isEmpty { return }
    for file in [manifest, keptFiles, plan] where Path.exists(file) {
      try doing("sync", file) { () throws(Errno) in try File.openRegular(file, .readOnly).sync() }
    }
    try doing("sync", path) { () throws(Errno) in try Path.syncFolder(path) }
    for folder in newFolders.reversed() {
      let parent = Path.parent(of: folder)
      try doing("sync", parent) { () throws(Errno) in try Path.syncFolder(parent) }
    }
  }

  /// The first line of the journal.
  package func readOpen() throws(RunFolderError) -> OpenEntry {
    let file = try openingJournal(journal) { () throws(Errno) in
      try File.openRegular(journal, .readOnly)
    }
    // Mostly all of it is there, and there may be many thousands of runs to look at.
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

  /// What the journal says of the run as a whole, for which no plan is needed.
  package func readRunHistory() throws(RunFolderError) -> RunModel {
    try withJournal { bytes throws(JournalError) in
      try RunModel.readRun(bytes)
    }
  }

  /// Reads and folds the journal, of a live run too, and changes nothing.
  package func readHistory(
    plan: Plan, keepingDetails: Bool = false, absolutePlan: Plan? = nil
  ) throws(RunFolderError) -> (history: RunModel, recovery: JournalRecovery) {
    try withJournal { bytes throws(JournalError) in
      try RunModel.read(
        bytes, plan: plan, keepingDetails: keepingDetails, absolutePlan: absolutePlan,
        beforeFilling: Memory.wantsLargePages)
    }
  }

  /// How far the downloads of a live run are, as far as that is known.
  package func readProgress(plan: Plan) -> [TaskID: RunningDownloads.Entry] {
    // There is no such file where no download has come far enough.
    guard let notes = try? File.readRegular(progress, atMost: Self.longestProgressBytes) else {
      return [:]
    }
    return ProgressNotes.read(notes, plan: plan)
  }

  /// What the process that drives the run waits for so that machines come, in words; nil for nothing.
  package func readAwaited() -> String? {
    guard let file = try? File.openRegular(awaited, .readOnly),
      let bytes = try? file.readAll(atMost: Self.longestAwaitedBytes), !bytes.isEmpty
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let longestAwaitedBytes = 1_000
  /// Of as many downloads as a plan can have.
  private static let longestProgressBytes = 1 << 30

  /// It is a help to views and nothing more: what cannot be written is left.
  func writeAwaited(_ what: String) { try? File.put(Array(what.utf8), at: awaited) }

  func removeAwaited() { try? Path.remove(awaited) }

  /// The journal's bytes as they are now, for as long as `body` runs.
  package func withJournal<Result>(
    _ body: (UnsafeRawBufferPointer) throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    let file = try openingJournal(journal) { () throws(Errno) in try MappedFile(journal) }
    defer { MappedFile.unmap(file.bytes) }
    do throws(JournalError) {
      return try body(file.bytes)
    } catch {
      throw .journal(path: journal, error)
    }
  }

  /// Whether the run ever began: it has a journal with something in it.
  var hasBegun: Bool {
    guard let status = try? Path.status(journal) else { return false }
    return status.sizeBytes > 0
  }
}
