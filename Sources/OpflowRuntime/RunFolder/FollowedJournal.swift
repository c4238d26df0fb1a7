package import OpflowCore
internal import OpflowSystem

/// A run's journal in its folder, looked at again and again as it grows, also by a resume. Each look
/// reads what was appended since the one before. Where another file stands in its place, or it was cut,
/// it is read anew. Where tasks were added to the run, its plan is opened anew.
package struct FollowedJournal {
  private var follower: JournalFollower
  /// How the follower of another file begins.
  private let fresh: JournalFollower
  private let path: String
  /// Nil before the first look.
  private var file: FileIdentity?

  /// More than that is mapped, not copied.
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
  /// As it was given, or with the tasks that were added since.
  package var plan: Plan { follower.plan }

  /// Folds what is new, and hands on each line of that.
  ///
  /// - Parameters:
  ///   - toEnd: nobody writes it, so a last line counts without its line feed too.
  ///   - tellsAnew: `each` is called also for what is read anew, from the beginning.
  /// - Returns: whether it was read anew.
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

  /// Folds what is new in a journal that is being written.
  ///
  /// - Returns: whether there was anything.
  @discardableResult
  package mutating func look() throws(RunFolderError) -> Bool {
    let before = (file, follower.offset)
    try look { follower, bytes throws(JournalError) in try follower.read(growing: bytes) }
    return before != (file, follower.offset)
  }

  /// Folds what is new up to the end, where a line counts without its line feed too.
  ///
  /// - Returns: what reading found in the whole journal besides lines.
  @discardableResult
  package mutating func lookToEnd() throws(RunFolderError) -> JournalRecovery {
    try look { follower, bytes throws(JournalError) in try follower.read(toEnd: bytes) }
  }

  /// Hands the follower what is new, and all of it once more where it did not see what it needs.
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

  /// Of the type: a method would be given a copy of all that is folded so far, which `body` then has to copy as it changes it.
  private static func journal<Result>(
    _ path: String, _ body: () throws(JournalError) -> Result
  ) throws(RunFolderError) -> Result {
    do throws(JournalError) {
      return try body()
    } catch {
      throw .journal(path: path, error)
    }
  }

  /// So many bytes, or fewer where the file was cut meanwhile.
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
