internal import OpflowCore
internal import OpflowSystem

/// What is done about the files of a task that runs: before its start, and when it has succeeded, or failed and may.
///
/// Two live runs of one state folder
/// ---------------------------------
///
/// A task's lock is held from before its start until its record is written, or its process tree is gone. What another
/// run does between the steps of this one, and what follows here:
///
///     here                        the other run meanwhile             then, here
///     check: is the lock held?    holds it                            says so, and asks again until it is free
///     check: read the record      takes the lock, or starts the task  the start finds the lock or another record
///     the task waits for a worker succeeds                            the record has another number: check again
///                                 fails, or is killed                 no record: check again, unless there was none
///     start: take the lock        waits for it, or checks again       runs the task alone
///     start: compare the record   can only write the same one anew    (`RecordBook.refresh` keeps the number)
///     start: void the record
///     end: write the record, give the lock                            the other run checks again, and has this result
///
/// The kernel gives the lock up when its holder is killed. Killed before the void, a run has changed nothing; killed
/// between void and record, it leaves no record, and the next one to have the lock runs the task.
final class RecordKeeping {
  private let declaring: DeclaringTask
  private let book: RecordBook?
  private let hashes: FileMemory
  private let readings: TaskReadings
  /// What was seen before its start; nil where nobody looked, or that is lost.
  private let before: SuccessRecord?
  private let identity: UInt64
  /// The task's.
  var name: String { declaring.plan.nameString(declaring.task) }
  var task: TaskID { declaring.task }
  private let cache: CachedResult?
  private let masker: Masker?
  private var isHeld = false
  /// That it starts is written down, and nothing else about it since.
  private var isStarted = false
  private var inputs: FileLook?
  private var outputs: FileLook?
  private var needs = TaskReadings.NeedsLook()
  /// Nil where results are not cached: then nothing is ever removed by what is known of outputs.
  private var found: FoundOutputs?
  /// What earlier attempts left.
  private var earlier = LeftFiles()
  private var cleaning: FileCleaning?
  /// A file that lies behind a link, so that it was not removed.
  private(set) var behindLink: String?
  /// What it left for others; nil where nobody reads that.
  var values: Result<[SuccessRecord.Value]?, ValueFault> = .success(nil)
  /// It has failed, and may.
  var isFailure = false
  /// Its log, where it printed anything, and how many bytes of the end of that are of this try.
  var output: (path: String, bytes: Int64)?
  /// Why its result is not kept, for people.
  private(set) var complaint: CacheFault?
  /// The number under which its success is written down, once it is.
  private var origin: UInt64?
  /// Until when an output that is missing on a network's file system may still be seen.
  private var lateUntil: Int64?
  /// Before that there is nothing to do; nil for no such time.
  private(set) var lookAgainAt: Int64?
  /// What is to be written down once another process lets that be.
  private(set) var heldUp: SuccessRecord?

  /// - Parameters:
  ///   - book: nil for a task that declares no inputs.
  ///   - cache: nil where results are not cached.
  ///   - seen: the file with what was seen of its inputs.
  ///   - masker: finds secrets, which no record names.
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
      // A failure is no value by which a result could be known again.
      before.flatMap { $0.failures.isEmpty ? CachedResult(declaring, cache, $0) : nil }
    }
    // It is of one try.
    if book != nil { try? Path.removeIfThere(seen) }
  }

  /// What was seen of the inputs of a task that is to start; nil where that cannot be read.
  static func read(_ path: String, _ identity: UInt64) -> SuccessRecord? {
    guard let file = try? File.openRegular(path, .readOnly) else { return nil }
    var index = RecordIndex()
    guard (try? RecordPieces.follow(file, &index)) != nil, let place = index[identity] else {
      return nil
    }
    return (try? RecordPieces.record(in: file, at: place)) ?? nil
  }

  /// Makes ready for its start; false where another run has it or the records, or has run it since it was checked.
  func begin() throws(LookFault) -> Bool {
    if let book {
      do throws(Errno) {
        guard try book.take(identity) else { return false }
        isHeld = true
      } catch {
        throw LookFault(what: "its record cannot be locked: \(error)")
      }
      if declaring.plan.hasCaches || declaring.plan.cleans(declaring.task) {
        earlier = try LookFault.reading { () throws(Errno) in
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
        throw LookFault(unwritten: book.path, error, what: "that it starts")
      }
    }
    try makeFolders()
    return true
  }

  /// The paths that lay there before; nil also where one of them holds a secret, and is not written down.
  private var strangers: [[UInt8]]? {
    guard let paths = found?.strangers else { return nil }
    guard let masker else { return paths }
    let holdsSecret = paths.contains { path in path.withUnsafeBytes { masker.finds($0) } }
    return holdsSecret ? nil : paths
  }

  private func makeFolders() throws(LookFault) {
    for output in declaring.outputs {
      let folder = output.surroundingFolder
      let whole =
        folder == "."
        ? declaring.folder
        : folder.hasPrefix("/") ? folder : declaring.folder + "/" + folder
      do throws(Errno) {
        try Path.makeDirectories(whole, mode: 0o777)
      } catch {
        throw LookFault(what: "cannot make the folder `\(folder)` of an output: \(error)")
      }
    }
  }

  // MARK: - Cleaning

  /// Whether it is to be cleaned up before it runs.
  ///
  /// - Parameter isOfOther: whether another task may have left a file of the project as well.
  func beginCleaning(isOfOther: @escaping (String) -> Bool) -> Bool {
    guard declaring.plan.cleans(declaring.task), let own = try? declaring.ownFiles(earlier),
      !own.files.isEmpty
    else { return false }
    cleaning = FileCleaning(own, isOfOther: isOfOther)
    return true
  }

  /// - Returns: whether that is done.
  func clean(until deadline: Int64) throws(LookFault) -> Bool {
    guard let cleaning, try cleaning.goOn(until: deadline) else { return cleaning == nil }
    behindLink = cleaning.behindLink
    self.cleaning = nil
    // What it found is as it was before, but for the files that are gone.
    try makeFolders()
    return true
  }

  // MARK: - The cache

  /// Whether its result is there, to be brought back instead of running it.
  ///
  /// - Parameter stage: a folder that is made for that.
  func beginBringingBack(stage: String) throws(CacheFault) -> Bool {
    guard let cache else { return false }
    let own: OwnFiles
    do throws(Errno) {
      own = try declaring.ownFiles(earlier)
    } catch {
      throw CacheFault(what: "the manifest's folder cannot be opened: \(error)")
    }
    return try cache.begin(stage: stage, own: own)
  }

  /// Goes on until then with what was begun so.
  ///
  /// - Returns: whether its files are back.
  /// - Throws: why it is not brought back.
  func bringBack(until deadline: Int64) throws(CacheFault) -> Bool {
    try cache?.bringBack(until: deadline) ?? false
  }

  /// Looks at what came back, and writes it down.
  ///
  /// - Returns: what is to be said of it; nil while that goes on.
  func lookAtBroughtBack(until deadline: Int64) throws(CacheFault) -> RecordResult? {
    let result: RecordResult?
    do throws(LookFault) {
      result = try look(until: deadline)
    } catch {
      throw CacheFault(what: error.what)
    }
    if case .noOutput(let what) = result { throw CacheFault(what: what) }
    return result
  }

  /// What came back.
  var brought: ResultRestoring.Brought? { cache?.brought }

  /// It did not come back: the task runs.
  func forgetBroughtBack() {
    cache?.takeAway()
    cache?.end()
    (inputs, outputs, heldUp) = (nil, nil, nil)
    needs = TaskReadings.NeedsLook()
  }

  /// Keeps the result, once it is written down.
  ///
  /// - Returns: whether that is done.
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

  /// It is not to be waited for any more.
  func stop() -> RecordResult {
    if let origin { return .kept(origin: origin) }
    return unkept(
      heldUp == nil
        ? "the run was stopped before its files were looked at"
        : "the run was stopped before its success could be written down")
  }

  /// What is said of a failure is that it failed.
  private func unkept(_ what: String) -> RecordResult {
    isFailure ? .kept(origin: nil) : .unkept(what: what)
  }

  /// Looks at what it left, until then; nil while that has not come to its end.
  func goOn(until deadline: Int64) -> RecordResult? {
    if let lookAgainAt, Clock.monotonicNanoseconds < lookAgainAt { return nil }
    lookAgainAt = nil
    if let origin { return keep(until: deadline) ? .kept(origin: origin) : nil }
    do throws(LookFault) {
      let result = try look(until: deadline)
      if case .kept(let origin?) = result, cache != nil, !isFailure {
        self.origin = origin
        return keep(until: deadline) ? result : nil
      }
      return result
    } catch {
      return unkept(error.what)
    }
  }

  private func look(until deadline: Int64) throws(LookFault) -> RecordResult? {
    if let heldUp, let book { return write(heldUp, to: book) }
    let outputs = try look(
      &self.outputs, declaring.outputs, memory: [], links: .themselves, written: .insteadOfNone)
    guard try outputs.goOn(until: deadline) else { return nil }
    if !isFailure, let path = (outputs.missing + outputs.unmatched).first {
      if mayBeLate(path) {
        self.outputs = nil
        return nil
      }
      return .noOutput(
        what: "it succeeded, and its output `\(path)` is not there\(declaring.nameNote(path))")
    }
    if let cache, cache.brought != nil, !cache.isWhole(outputs.files) {
      return .noOutput(what: "what came back was changed at once")
    }
    guard let book else { return .kept(origin: nil) }
    guard let before else { return unkept("what it read was not noted before it started") }
    let inputs = try look(
      &self.inputs, declaring.inputs, memory: before.inputs,
      links: declaring.followedLinks)
    guard try inputs.goOn(until: deadline) else { return nil }
    var after = before
    after.inputs = inputs.files
    after.links = inputs.links
    // What it reads besides its own files may have changed as well.
    try? book.follow()
    guard try readings.goOn(&needs, of: declaring, after: nil, until: deadline) else {
      return nil
    }
    after.readings = try readings.all(of: declaring, needs, after: nil)
    if !after.failures.isEmpty {
      return unkept("\(Staleness.text(after.failures)): it will run again")
    }
    var changes = before.answered(by: after.readings)
      .differences(to: after, linkText: inputs.text)
    if changes.isEmpty { changes = inputs.replaced.map { .changed($0) } }
    if !changes.isEmpty {
      return unkept("\(Staleness.text(changes)) while it ran: it will run again")
    }
    after.outputs = outputs.files
    found?.note(in: &after)
    after.isAsked = false
    after.isFailure = isFailure
    do throws(ValueFault) {
      after.values = try values.get()
    } catch {
      return unkept("what it left for others cannot be written down: \(error.what)")
    }
    if let masker, after.namesSecret(masker) {
      return .unkept(what: "\(Self.secretName): it will run again")
    }
    after.origin = UInt64.random(in: 0 ... .max)
    return write(after, to: book)
  }

  /// Why nothing is kept of a task.
  static let secretName =
    "the name of a file that it reads or leaves holds a secret, and is not written down"

  /// Whether an output that is missing may be there, since what the task started on another machine wrote it.
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

  /// - Returns: nil where another process does not let it be written now.
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
      let fault = LookFault(unwritten: book.path, error, what: "it succeeded, and its record")
      return .unwritten(what: fault.what)
    }
    heldUp = nil
    isStarted = false
    return .kept(origin: success.origin)
  }

  /// The look that was begun, or begins it. What it is to look at may be long, and is not asked for again each
  /// time that it goes on.
  private func look(
    _ place: inout FileLook?, _ items: @autoclosure () -> [FileLook.Item], memory: SeenFiles,
    links: @autoclosure () -> FileLook.Links, written: FileNames.WrittenName = .beside
  ) throws(LookFault) -> FileLook {
    if let place { return place }
    let look = try FileLook(
      items(), in: declaring.folder, memory: memory, hashes: hashes, links: links(),
      written: written)
    place = look
    return look
  }

  /// It is over, however.
  func end() {
    cache?.end()
    cleaning = nil
    guard isHeld, let book else { return }
    isHeld = false
    if isStarted, let left = found?.left() {
      isStarted = false
      // Where it cannot be written, or not without a secret, the files are as those of an attempt of which nobody
      // saw the end.
      if masker.map({ left.namesSecret($0) }) != true {
        try? book.append(
          left, isSuccess: false, of: identity, name: declaring.plan.nameBytes(declaring.task),
          atMilliseconds: Clock.wallMilliseconds)
      }
    }
    // It goes with this process at the latest.
    try? book.give(identity)
  }
}
