internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// Handles the files of a running task: before its start, and after a success or allowed failure.
///
/// Two live runs of one state folder
/// ---------------------------------
///
/// A task's lock is held from before its start until its record is written or all its processes are
/// gone. Between the steps another run may act, and this run reacts:
///
///     here                     the other run meanwhile   then, here
///     check: lock held?        holds it                  reports it, retries until it is free
///     check: read the record   takes the lock or starts  start finds the lock or a new record
///     wait for a worker        succeeds                  new record number: check again
///                              fails or is killed        no record: check again if there was one
///     start: take the lock     waits or checks again     runs the task alone
///     start: compare records   can only rewrite it       (`RecordBook.refresh` keeps the number)
///     start: discard the record
///     end: write the record,
///          release the lock                              the other run checks again and uses it
///
/// The worker takes the lock through an open file that its coordinator holds open too
/// (`ByteLocks`), so the kernel releases it when both have closed it:
///
///     killed              the lock is held by             until
///     the task's process  the worker, the coordinator     the end is recorded
///     the worker          the coordinator                 it has ended the task's processes
///     the coordinator     the worker                      it has ended the task's processes
///     worker, then        nobody                          at once: processes below the task's own,
///     coordinator at once                                 which dies with its worker, may live
///                                                         until a resume of that run ends them
///
/// - Behind a stream, the agent holds the lock instead of the coordinator. If worker and agent are
///   killed at once, nobody holds it until the coordinator has ended these processes and starts the
///   task again.
/// - A process that cannot be ended, and a program that a task starts outside of its tree, never
///   hold the lock: neither has the descriptor.
/// - A run killed before it discards the record has changed nothing. A run killed after that leaves
///   no record, and the next holder runs the task.
final class RecordKeeping {
  private let declaring: DeclaringTask
  private let book: RecordBook?
  private let hashes: FileMemory
  private let readings: TaskReadings
  /// nil if not scanned or lost.
  private let before: SuccessRecord?
  private let identity: UInt64
  var name: String { declaring.plan.nameString(declaring.task) }
  var task: TaskID { declaring.task }
  private let cache: CachedResult?
  private let masker: Masker?
  private var isHeld = false
  /// The start is recorded, but not yet an end.
  private var isStarted = false
  private var inputs: FileScan?
  private var outputs: FileScan?
  private var needs = TaskReadings.NeedsScan()
  /// nil if nothing is cached or cleaned: then no outputs are ever removed.
  private var found: FoundOutputs?
  private var earlier = LeftFiles()
  private var cleaning: FileCleaning?
  /// Names files kept because of a link.
  private(set) var keptByClean: String?
  /// nil if no task reads them.
  var values: Result<[SuccessRecord.Value]?, ValueFault> = .success(nil)
  /// An allowed failure.
  var isFailure = false
  /// The log, and the size of this attempt's part at its end.
  var output: (path: String, bytes: Int64)?
  /// Why the result is not cached.
  private(set) var complaint: CacheFault?
  /// The number of the recorded success.
  private var origin: UInt64?
  /// Until when a missing output on a network file system may appear.
  private var lateUntil: Int64?
  /// nil for now.
  private(set) var lookAgainAt: Int64?
  /// A record that waits for another process to release the lock.
  private(set) var heldUp: SuccessRecord?

  /// `book` is nil for a task without inputs; `seen` is the file with its scanned inputs; `masker`
  /// finds secrets, which must not be in records.
  init(
    _ declaring: DeclaringTask, book: RecordBook?, hashes: FileMemory, readings: TaskReadings,
    cache: ResultCache?, seen: String, _ masker: Masker?
  ) {
    self.masker = masker
    self.declaring = declaring
    self.book = book
    self.hashes = hashes
    self.readings = readings
    identity = declaring.identity
    before = book == nil ? nil : Self.read(seen, identity)
    self.cache = cache.flatMap { [before] cache in
      // A failed input command has no value that could be part of a cache key.
      before.flatMap { $0.failures.isEmpty ? CachedResult(declaring, cache, $0) : nil }
    }
    // The scan is for one attempt.
    if book != nil { try? Path.removeIfThere(seen) }
  }

  /// Reads the scanned inputs of a task about to start; nil on failure.
  static func read(_ path: String, _ identity: UInt64) -> SuccessRecord? {
    guard let file = try? File.openRegular(path, .readOnly) else { return nil }
    var index = RecordIndex()
    guard (try? RecordPieces.follow(file, &index)) != nil, let place = index[identity] else {
      return nil
    }
    return (try? RecordPieces.record(in: file, at: place)) ?? nil
  }

  /// Returns false if another run holds the task or the records, or has run the task since its
  /// check.
  func begin() throws(ScanFault) -> Bool {
    if let book {
      do throws(Errno) {
        guard try book.take(identity) else { return false }
        isHeld = true
      } catch {
        throw ScanFault(detail: "cannot lock its record: \(error)")
      }
      if declaring.plan.hasCaches || declaring.plan.cleans(declaring.task) {
        earlier = try ScanFault.reading { () throws(Errno) in
          try book.follow()
          return try book.leftFiles(of: identity)
        }
        found = FoundOutputs(declaring, hashes.folders, earlier: earlier)
      }
      do throws(Errno) {
        guard
          try book.void(
            identity, strangers: strangers, ifStill: before?.origin,
            atMilliseconds: Clock.wallMilliseconds)
        else { return false }
        isStarted = true
      } catch {
        if error == .wouldBlock { return false }
        throw ScanFault(unwritten: book.path, error, detail: "its start")
      }
    }
    try makeFolders()
    return true
  }

  /// Paths that existed before and are not the task's; nil if unknown or if one contains a secret.
  private var strangers: [[UInt8]]? {
    guard let paths = found?.strangers else { return nil }
    guard let masker else { return paths }
    let holdsSecret = paths.contains { path in path.withUnsafeBytes { masker.finds($0) } }
    return holdsSecret ? nil : paths
  }

  private func makeFolders() throws(ScanFault) {
    for output in declaring.outputs {
      let folder = output.surroundingFolder
      let whole =
        folder == "."
        ? declaring.folder
        : folder.hasPrefix("/") ? folder : declaring.folder + "/" + folder
      do throws(Errno) {
        try Path.makeDirectories(whole, mode: 0o777)
      } catch {
        throw ScanFault(detail: "cannot create the folder `\(folder)` for an output: \(error)")
      }
    }
  }

  // MARK: - Cleaning

  /// Prepares the removal of old outputs; false if there is nothing to remove. `isOfOther`: another
  /// task may have left the file too.
  func beginCleaning(isOfOther: @escaping ([UInt8]) -> Bool) -> Bool {
    guard declaring.plan.cleans(declaring.task), let own = try? declaring.ownFiles(earlier) else {
      return false
    }
    let outputs = declaring.outputs.compactMap { output in
      if case .path(let path) = output { declaring.projectPath(Array(path.utf8)) } else { nil }
    }
    let cleaning = FileCleaning(own, outputs: outputs, isOfOther: isOfOther)
    if own.files.isEmpty, cleaning.link == nil { return false }
    self.cleaning = cleaning
    return true
  }

  /// Returns true when done.
  func clean(until deadline: Int64) throws(ScanFault) -> Bool {
    guard let cleaning, try cleaning.goOn(until: deadline) else { return cleaning == nil }
    keptByClean =
      cleaning.link.map { "`\($0)` is a symbolic link, which `clean` does not follow" }
      ?? cleaning.behindLink.map {
        "`\($0)` is behind a symbolic link, which `clean` does not follow"
      }
    self.cleaning = nil
    // The removal may have deleted emptied folders.
    try makeFolders()
    return true
  }

  // MARK: - The cache

  /// True if a cached result is being restored instead of running the task.
  func beginBringingBack(stage: String) throws(CacheFault) -> Bool {
    guard let cache else { return false }
    let own: OwnFiles
    do throws(Errno) {
      own = try declaring.ownFiles(earlier)
    } catch {
      throw CacheFault(detail: "cannot open the manifest's folder: \(error)")
    }
    return try cache.begin(stage: stage, own: own)
  }

  /// Returns true once the files are restored.
  func bringBack(until deadline: Int64) throws(CacheFault) -> Bool {
    try cache?.bringBack(until: deadline) ?? false
  }

  /// Scans and records the restored files; nil if there is more to do.
  func lookAtBroughtBack(until deadline: Int64) throws(CacheFault) -> RecordResult? {
    let result: RecordResult?
    do throws(ScanFault) {
      result = try look(until: deadline)
    } catch {
      throw CacheFault(detail: error.detail)
    }
    if case .noOutput(let detail) = result { throw CacheFault(detail: detail) }
    return result
  }

  var brought: ResultRestoring.Brought? { cache?.brought }

  /// The task then runs.
  func forgetBroughtBack() {
    cache?.takeAway()
    cache?.end()
    (inputs, outputs, heldUp) = (nil, nil, nil)
    needs = TaskReadings.NeedsScan()
  }

  /// Returns true when done.
  private func keep(until deadline: Int64) -> Bool {
    guard let cache, cache.brought == nil, let outputs else { return true }
    do throws(CacheFault) {
      return try cache.keep(
        outputs.files, values: (try? values.get()) ?? nil, output: output, until: deadline)
    } catch {
      complaint = error
      return true
    }
  }

  // MARK: - The end

  func stop() -> RecordResult {
    if let origin { return .kept(origin: origin) }
    return discarded(
      heldUp == nil
        ? "the run was stopped before opflow checked its files"
        : "the run was stopped before opflow recorded its success")
  }

  /// A failure needs no further report.
  private func discarded(_ detail: String) -> RecordResult {
    isFailure ? .kept(origin: nil) : .discarded(detail: detail)
  }

  /// nil if there is more to do.
  func goOn(until deadline: Int64) -> RecordResult? {
    if let lookAgainAt, Clock.monotonicNanoseconds < lookAgainAt { return nil }
    lookAgainAt = nil
    if let origin { return keep(until: deadline) ? .kept(origin: origin) : nil }
    do throws(ScanFault) {
      let result = try look(until: deadline)
      if case .kept(let origin?) = result, cache != nil, !isFailure {
        self.origin = origin
        return keep(until: deadline) ? result : nil
      }
      return result
    } catch {
      return discarded(error.detail)
    }
  }

  private func look(until deadline: Int64) throws(ScanFault) -> RecordResult? {
    if let heldUp, let book { return write(heldUp, to: book) }
    let outputs = try look(
      &self.outputs, declaring.outputs, memory: [], links: .themselves, written: .insteadOfNone)
    guard try outputs.goOn(until: deadline) else { return nil }
    if !isFailure, let path = (outputs.missing + outputs.unmatched).first {
      if mayBeLate(path) {
        self.outputs = nil
        return nil
      }
      let cause =
        cache?.brought == nil
        ? "exited 0 but did not create its output" : "the cached result does not contain its output"
      return .noOutput(detail: "\(cause) `\(path)`\(declaring.nameNote(path))")
    }
    if let cache, cache.brought != nil, !cache.isWhole(outputs.files) {
      return .noOutput(detail: "another process changed the restored files")
    }
    guard let book else { return .kept(origin: nil) }
    guard let before else { return discarded("opflow did not record its inputs before it started") }
    let inputs = try look(
      &self.inputs, declaring.inputs, memory: before.inputs, links: declaring.followedLinks)
    guard try inputs.goOn(until: deadline) else { return nil }
    var after = before
    after.inputs = inputs.files
    after.links = inputs.links
    // Other inputs may have changed too.
    try? book.follow()
    guard try readings.goOn(&needs, of: declaring, after: nil, until: deadline) else {
      return nil
    }
    after.readings = try readings.all(of: declaring, needs, after: nil)
    if !after.failures.isEmpty {
      return discarded("\(Staleness.text(after.failures)); \(Self.nextTime)")
    }
    var changes = before.answered(by: after.readings)
      .differences(to: after, linkText: inputs.text)
    if changes.isEmpty {
      changes = (inputs.replaced + inputs.replacedLinks(since: before.links)).map { .changed($0) }
    }
    if !changes.isEmpty {
      return discarded("\(Staleness.text(changes)) while it ran; \(Self.nextTime)")
    }
    after.outputs = outputs.files
    found?.note(in: &after)
    after.isAsked = false
    after.isFailure = isFailure
    do throws(ValueFault) {
      after.values = try values.get()
    } catch {
      return discarded("cannot record its values: \(error.detail)")
    }
    if let masker, after.namesSecret(masker) {
      return .discarded(detail: "\(Self.secretName); \(Self.nextTime)")
    }
    after.origin = UInt64.random(in: 0 ... .max)
    return write(after, to: book)
  }

  static let secretName =
    "the name of an input or output contains a secret, so opflow does not record its success"

  private static let nextTime = "the next run re-runs it"

  /// Another machine may have written the output, not visible here yet.
  private func mayBeLate(_ path: String) -> Bool {
    if cache?.brought != nil { return false }
    let folder = Path.parent(of: declaring.absolute(path))
    guard hashes.network.have(folder: folder) else { return false }
    let now = Clock.monotonicNanoseconds
    let until = lateUntil ?? now + LateFiles.lateness
    if now >= until { return false }
    lateUntil = until
    lookAgainAt = now + LateFiles.interval
    NetworkFiles.refresh(folder: folder)
    return true
  }

  /// nil if another process keeps the lock now.
  private func write(_ success: SuccessRecord, to book: RecordBook) -> RecordResult? {
    do throws(Errno) {
      try book.append(
        success, of: identity, name: declaring.plan.nameBytes(declaring.task),
        atMilliseconds: Clock.wallMilliseconds)
    } catch {
      if error == .wouldBlock {
        heldUp = success
        return nil
      }
      let fault = ScanFault(unwritten: book.path, error, detail: "its record")
      return .unwritten(detail: "it succeeded, but opflow \(fault.detail)")
    }
    heldUp = nil
    isStarted = false
    return .kept(origin: success.origin)
  }

  /// Starts the scan if needed. The arguments are lazy, since they may be long and the scan is
  /// continued many times.
  private func look(
    _ place: inout FileScan?, _ items: @autoclosure () -> [FileScan.Item], memory: SeenFiles,
    links: @autoclosure () -> FileScan.Links, written: FileNames.WrittenName = .beside
  ) throws(ScanFault) -> FileScan {
    if let place { return place }
    let look = try FileScan(
      items(), in: declaring.folder, memory: memory, hashes: hashes, links: links(),
      written: written)
    place = look
    return look
  }

  func end() {
    cache?.end()
    cleaning = nil
    guard isHeld, let book else { return }
    isHeld = false
    if isStarted, let left = found?.left() {
      isStarted = false
      // Without this record, the files count as those of an attempt whose end is unknown.
      if masker.map({ left.namesSecret($0) }) != true {
        try? book.append(
          left, isSuccess: false, of: identity, name: declaring.plan.nameBytes(declaring.task),
          atMilliseconds: Clock.wallMilliseconds)
      }
    }
    // The exit of this process releases it at the latest.
    try? book.give(identity)
  }
}

package enum RecordResult: Equatable, Sendable {
  /// nil if there is nothing to record.
  case kept(origin: UInt64?)
  /// The task is not up to date afterwards.
  case discarded(detail: String)
  case noOutput(detail: String)
  /// The run cannot continue.
  case unwritten(detail: String)
}
