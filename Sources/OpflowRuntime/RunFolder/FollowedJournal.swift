internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

/// Follows a growing journal across resumes. Starts over if the file was replaced or truncated;
/// reopens the plan if tasks were added.
package struct FollowedJournal {
  private var follower: JournalFollower
  private let fresh: JournalFollower
  private let path: String
  private var file: FileIdentity?

  /// Larger pieces are mapped instead of copied.
  private static let copiedBytes = 1 << 20

  package init(
    _ folder: RunFolder, plan: Plan, keepingDetails: Bool = false,
    keepingAttempts: Bool = false, absolutePlan: Plan? = nil
  ) {
    path = folder.journal
    let followed = FollowedPlan(of: folder)
    fresh = JournalFollower(
      plan: plan, keepingDetails: keepingDetails, keepingAttempts: keepingAttempts,
      absolutePlan: absolutePlan, grown: { followed.open(grownTo: $0, from: $1) },
      beforeFilling: Memory.wantsLargePages)
    follower = fresh
  }

  package var model: RunModel { follower.model }
  /// Includes tasks that were added since.
  package var plan: Plan { follower.plan }

  /// Replays new lines; returns true if reading started over. `toEnd`: the journal is complete, so
  /// a last line without newline is valid. `tellsAnew`: call `each` even for lines that are read
  /// again.
  package mutating func look(
    toEnd: Bool, tellsAnew: Bool = false, each: JournalFollower.EachLine
  ) throws(RunFolderError) -> Bool {
    var isAnew = false
    var isTold = false
    try look { follower, bytes throws(JournalError) in
      isAnew = follower.offset == 0
      try withoutActuallyEscaping(each) { each throws(JournalError) in
        let each = isTold || isAnew && !tellsAnew ? nil : each
        isTold = true
        if toEnd {
          _ = try follower.read(toEnd: bytes, each: each)
        } else {
          try follower.read(growing: bytes, each: each)
        }
      }
    }
    return isAnew
  }

  /// Replays new lines of a live journal; returns true if there were any.
  @discardableResult
  package mutating func look() throws(RunFolderError) -> Bool {
    let before = (file, follower.offset)
    try look { follower, bytes throws(JournalError) in try follower.read(growing: bytes) }
    return before != (file, follower.offset)
  }

  /// Replays new lines to the end, including a last line without newline. Returns all damage of the
  /// journal.
  @discardableResult
  package mutating func lookToEnd() throws(RunFolderError) -> JournalRecovery {
    try look { follower, bytes throws(JournalError) in try follower.read(toEnd: bytes) }
  }

  /// Starts over if the follower missed something.
  private mutating func look<Result>(
    _ replay: (inout JournalFollower, UnsafeRawBufferPointer) throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    let result = try lookOnce(replay)
    if !follower.mustReread { return result }
    follower = follower.anew
    return try lookOnce(replay)
  }

  private mutating func lookOnce<Result>(
    _ replay: (inout JournalFollower, UnsafeRawBufferPointer) throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    let path = path
    let descriptor = try openingJournal(path, File.openRegular(path, .readOnly))
    let status = try doing("open", path, descriptor.status())
    if status.identity != file || status.sizeBytes < follower.offset { follower = fresh }
    file = status.identity
    let count = Int(status.sizeBytes) - follower.offset
    if follower.offset == 0 || count > Self.copiedBytes {
      let mapped = try doing("open", path, MappedFile(descriptor))
      defer { MappedFile.unmap(mapped.bytes) }
      let new = mapped.bytes.dropFirst(follower.offset)
      return try Self.journal(path) { () throws(JournalError) in
        try replay(&follower, UnsafeRawBufferPointer(rebasing: new))
      }
    }
    let new = try doing("read", path, Self.read(descriptor, at: Int64(follower.offset), count))
    return try Self.journal(path) { () throws(JournalError) in
      try new.withUnsafeBufferPointer { new throws(JournalError) in
        try replay(&follower, UnsafeRawBufferPointer(new))
      }
    }
  }

  /// Static: an instance method would copy the model on each call.
  private static func journal<Result>(
    _ path: String, _ body: () throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    try rethrowing(body()) { RunFolderError.journal(path: path, $0) }
  }

  /// Returns fewer bytes if the file was truncated meanwhile.
  private static func read(
    _ file: borrowing Descriptor, at offset: Int64, _ count: Int
  ) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let read = try bytes.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
        let rest = UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(room)[filled...])
        return try file.read(into: rest, at: offset + Int64(filled))
      }
      if read == 0 { break }
      filled += read
    }
    bytes.removeLast(count - filled)
    return bytes
  }
}

/// The plan for a reader of the journal, reopened after each addition. If the file only grew, its
/// validated part is not checked again, which would be costly in a run that grows task by task.
final class FollowedPlan: @unchecked Sendable {
  // SAFETY: @unchecked, because a single thread follows a run's journal, and only that follower
  // uses this.
  private let folder: RunFolder
  private var mapping: SharedMapping?

  init(of folder: RunFolder) { self.folder = folder }

  /// Returns nil if the plan has fewer tasks. `earlier` is nil if it is not a prefix of this plan.
  func open(grownTo taskCount: Int, from earlier: Plan?) -> Plan? {
    if let earlier, let plan = openAgain(taskCount, earlier) { return plan }
    guard let plan = try? folder.openPlan(), plan.taskCount >= taskCount else { return nil }
    return plan
  }

  private func openAgain(_ taskCount: Int, _ earlier: Plan) -> Plan? {
    guard earlier.hasRoom, let mapped = mapped(),
      let plan = try? Plan(
        bytes: mapped.bytes, checksum: false, limit: taskCount, release: mapped.release),
      plan.hasRoom, plan.key == earlier.key, plan.byteCount == earlier.byteCount,
      (try? plan.validate(grownFrom: earlier)) != nil
    else { return nil }
    return plan
  }

  private func mapped() -> SharedMapping? {
    guard let status = try? Path.status(folder.plan) else { return nil }
    if let mapping, mapping.isAll(of: status) { return mapping }
    mapping = try? SharedMapping(File.openRegular(folder.plan, .readOnly), at: folder.path)
    return mapping
  }
}

/// Follows a run's lock, journal, and plan, which a resume may replace and additions extend.
package struct FollowedRun {
  package let folder: RunFolder
  /// Read before the journal: a run that ends in between shows as running, never as interrupted.
  package private(set) var isHeld = false
  private var journal: FollowedJournal
  private let keepsDetails: Bool
  /// Set when the plan is opened; nil before the first check.
  private var origin: PlanOrigin?

  package init(_ folder: RunFolder, keepingDetails: Bool = false) throws(RunFolderError) {
    self.folder = folder
    keepsDetails = keepingDetails
    journal = FollowedJournal(folder, plan: try folder.openPlan(), keepingDetails: keepingDetails)
  }

  package var model: RunModel { journal.model }
  package var plan: Plan { journal.plan }

  package mutating func look() throws(RunFolderError) { try look(isHeld: nil, each: nil) }

  /// Reads new lines. `isHeld`: whether the run is live, if known without its lock.
  package mutating func look(
    isHeld: Bool? = nil, tellsAnew: Bool, each: JournalFollower.EachLine
  ) throws(RunFolderError) {
    try withoutActuallyEscaping(each) { each throws(RunFolderError) in
      try look(isHeld: isHeld, each: (tellsAnew, each))
    }
  }

  private mutating func look(
    isHeld known: Bool?, each: (tellsAnew: Bool, body: JournalFollower.EachLine)?
  ) throws(RunFolderError) {
    isHeld = if let known { known } else { try RunFolderLock.isHeld(folder) }
    try read(each)
    let found = PlanOrigin(model)
    if let origin, !origin.isLeft(for: found, plan) { return }
    // At first the plan was just opened, and fits unless a resume came between.
    let isOther = origin != nil || found.isOther(than: plan)
    origin = found
    guard isOther else { return }
    journal = FollowedJournal(folder, plan: try folder.openPlan(), keepingDetails: keepsDetails)
    try read(each)
  }

  /// True if a session holds the run but the journal still describes the previous session.
  package var isBeginning: Bool { isHeld && model.close != nil }

  private mutating func read(
    _ each: (tellsAnew: Bool, body: JournalFollower.EachLine)?
  ) throws(RunFolderError) {
    if let each {
      _ = try journal.look(toEnd: !isHeld, tellsAnew: each.tellsAnew, each: each.body)
    } else if isHeld {
      try journal.look()
    } else {
      try journal.lookToEnd()
    }
  }
}

/// The plan that a journal's lines refer to; a resume may have replaced it.
struct PlanOrigin {
  private let key: String?
  private let session: Int

  init(_ model: RunModel) {
    key = model.resume?.planKey ?? model.open?.planKey
    session = model.sessions
  }

  func isLeft(for later: PlanOrigin, _ plan: Plan) -> Bool {
    // Each resume compiles added tasks again and may renumber them.
    key != later.key || plan.hasRoom && session != later.session
  }

  /// False if the journal names no plan.
  func isOther(than plan: Plan) -> Bool { key.map { $0 != plan.key.description } ?? false }
}
