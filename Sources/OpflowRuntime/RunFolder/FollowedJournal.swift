package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

/// Follows a journal as it grows, across resumes. Starts over if the file was replaced or
/// truncated; opens the plan again if tasks were added.
package struct FollowedJournal {
  private var follower: JournalFollower
  private let fresh: JournalFollower
  private let path: String
  private var file: FileIdentity?

  /// More is mapped instead of copied.
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
  /// With the tasks that were added since.
  package var plan: Plan { follower.plan }

  /// Replays new lines; returns whether reading started over. `toEnd`: the journal is complete, so
  /// a last line without newline counts. `tellsAnew`: call `each` even for lines that are read
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

  /// Replays new lines of a journal that is being written; returns whether there were any.
  @discardableResult
  package mutating func look() throws(RunFolderError) -> Bool {
    let before = (file, follower.offset)
    try look { follower, bytes throws(JournalError) in try follower.read(growing: bytes) }
    return before != (file, follower.offset)
  }

  /// Replays new lines up to the end, where a last line without newline counts; returns the damage
  /// found in the whole journal.
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

  /// Fewer if the file was truncated meanwhile.
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
