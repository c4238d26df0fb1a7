package import OpflowCore
internal import OpflowSystem

/// Follows a run's journal as it grows, across resumes. If the file was replaced or truncated,
/// reading starts over. If tasks were added, the plan is opened again.
package struct FollowedJournal {
  private var follower: JournalFollower
  private let fresh: JournalFollower
  private let path: String
  private var file: FileIdentity?

  /// Larger amounts are mapped instead of copied.
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
  /// The plan as given, or with the tasks that were added since.
  package var plan: Plan { follower.plan }

  /// Replays new lines and passes each to `each`.
  ///
  /// - Parameters:
  ///   - toEnd: The journal is complete, so that a last line without line feed counts.
  ///   - tellsAnew: Call `each` even for lines that are read again.
  /// - Returns: Whether reading started over.
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

  /// Replays new lines of a journal that is being written.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  package mutating func look() throws(RunFolderError) -> Bool {
    let before = (file, follower.offset)
    try look { follower, bytes throws(JournalError) in try follower.read(growing: bytes) }
    return before != (file, follower.offset)
  }

  /// Replays new lines up to the end, where a last line without line feed counts.
  ///
  /// - Returns: The damage found in the whole journal.
  @discardableResult
  package mutating func lookToEnd() throws(RunFolderError) -> JournalRecovery {
    try look { follower, bytes throws(JournalError) in try follower.read(toEnd: bytes) }
  }

  /// Starts over if the follower missed something that it needs.
  private mutating func look<Result>(
    _ fold: (inout JournalFollower, UnsafeRawBufferPointer) throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    let result = try lookOnce(fold)
    if !follower.isBlind { return result }
    follower = follower.anew
    return try lookOnce(fold)
  }

  private mutating func lookOnce<Result>(
    _ fold: (inout JournalFollower, UnsafeRawBufferPointer) throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    let path = path
    let descriptor = try openingJournal(path) { () throws(Errno) in
      try File.openRegular(path, .readOnly)
    }
    let status = try doing("open", path) { () throws(Errno) in try descriptor.status() }
    if status.identity != file || status.sizeBytes < follower.offset { follower = fresh }
    file = status.identity
    let count = Int(status.sizeBytes) - follower.offset
    if follower.offset == 0 || count > Self.copiedBytes {
      let mapped = try doing("open", path) { () throws(Errno) in
        try MappedFile(descriptor)
      }
      defer { MappedFile.unmap(mapped.bytes) }
      let new = mapped.bytes.dropFirst(follower.offset)
      return try Self.journal(path) { () throws(JournalError) in
        try fold(&follower, UnsafeRawBufferPointer(rebasing: new))
      }
    }
    let new = try doing("read", path) { () throws(Errno) in
      try Self.read(descriptor, at: Int64(follower.offset), count)
    }
    return try Self.journal(path) { () throws(JournalError) in
      try new.withUnsafeBufferPointer { new throws(JournalError) in
        try fold(&follower, UnsafeRawBufferPointer(new))
      }
    }
  }

  /// Static: an instance method would copy the model on each call.
  private static func journal<Result>(
    _ path: String, _ body: () throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    do throws(JournalError) {
      return try body()
    } catch {
      throw .journal(path: path, error)
    }
  }

  /// Reads `count` bytes, or fewer if the file was truncated meanwhile.
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
