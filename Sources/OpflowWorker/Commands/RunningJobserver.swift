internal import OpflowCore
internal import OpflowSystem

/// The jobserver of the task that runs: a pipe with a byte for each job that may start beside the first one
/// (GNU make's manual, "POSIX Jobserver Interaction"). Who takes a byte may start a job, and puts it back when
/// the job has ended.
///
/// The pipe has no name, so nothing of it is left when this process is killed: programs find it by
/// descriptors that they inherit, or by this process's entry for its own under /proc, which they open as they
/// would a fifo. This process uses descriptors of its own (`O_NONBLOCK` belongs to a description, and some
/// makes set it on theirs). When the task and all that it started are gone, so is every token that was lent:
/// one that a killed make had taken is not lost.
struct RunningJobserver: ~Copyable {
  /// What an order told of a task before its start.
  private var told: (task: TaskID, own: Int32, all: Int32)?
  /// As the task's programs have it.
  private var pipe: Pipe?
  private var reading: Descriptor?
  private var readingNumber: Int32 = -1
  private var writing: Descriptor?
  private var own: Int32 = 0
  private var lent: Int32 = 0
  /// Of these, how many are asked back.
  private var owed: Int32 = 0
  /// How many of those that are lent nobody had taken at the last look.
  private var unused: Int32 = 0
  /// When to look whether what is lent is used, and no more than that; nil for never.
  private(set) var deadline: Instant?

  private static let lookMilliseconds: Int64 = 200

  /// Takes in an order about a task's tokens.
  ///
  /// - Parameter running: the task that runs.
  mutating func note(_ order: WorkerOrder, running: TaskID, at now: Instant) {
    if case .jobs(let task, let own, let all) = order { told = (task, own, all) }
    guard case .tokens(let task, let count) = order, task == running else { return }
    if count < 0 {
      owed = min(lent, owed - max(count, -lent))
      return
    }
    lent += count
    put(count)
    watch(from: now)
  }

  private mutating func watch(from now: Instant) {
    if deadline != nil { return }
    unused = 0
    deadline = now.advanced(byMilliseconds: Self.lookMilliseconds)
  }

  /// Makes that of a task which is about to start; none for one that has no jobserver.
  mutating func begin(
    _ task: TaskID, _ style: JobserverStyle?, at now: Instant
  ) throws(Errno) -> JobserverOffer? {
    guard let style else { return nil }
    let pipe = try Pipe()
    let (read, write) = (pipe.read.rawValue, pipe.write.rawValue)
    reading = try File.open("/proc/self/fd/\(read)", [.readOnly, .nonblocking])
    readingNumber = reading?.rawValue ?? -1
    writing = try File.open("/proc/self/fd/\(write)", [.writeOnly, .nonblocking])
    self.pipe = consume pipe
    let (own, all) = told?.task == task ? (told?.own ?? 0, told?.all ?? 1) : (0, 1)
    told = nil
    self.own = own
    // Something may have been lent while it was looked for in a cache.
    put(own + lent)
    watch(from: now)
    return JobserverOffer(
      style: style, jobs: Int(all), path: "/proc/\(ProcessID.own)/fd/\(read)", read: read,
      write: write)
  }

  /// The task and all that it started are gone.
  mutating func end() {
    pipe = nil
    reading = nil
    readingNumber = -1
    writing = nil
    (own, lent, owed, unused) = (0, 0, 0, 0)
    deadline = nil
  }

  /// What to wait for while tokens are asked back; nil while none are.
  var awaited: Int32? { owed > 0 && readingNumber >= 0 ? readingNumber : nil }

  /// Nobody has what is owed: there is no program yet.
  var isOwedAtOnce: Bool { owed > 0 && readingNumber < 0 }

  /// Takes back what was asked for, as far as it is there.
  ///
  /// - Returns: how many.
  mutating func takeOwed() -> Int32 {
    let count = take(owed)
    owed -= count
    return count
  }

  /// Takes back what nobody had a use for, when it is time to look.
  ///
  /// - Returns: how many.
  mutating func takeUnused(at now: Instant) -> Int32 {
    guard let deadline, deadline <= now else { return 0 }
    let isThere = readingNumber >= 0
    let readable = isThere ? (try? reading?.readableByteCount()) ?? 0 : lent
    // Programs put more back than they took: with these there would be more jobs than there may be.
    if isThere { drop(readable - own - lent) }
    let free = min(readable, lent - owed)
    let taken = take(min(free, unused))
    unused = free - taken
    self.deadline =
      isThere || lent > 0 ? now.advanced(byMilliseconds: Self.lookMilliseconds) : nil
    return taken
  }

  private mutating func drop(_ count: Int32) {
    let dropped = take(count)
    lent += dropped
  }

  private static let token = UInt8(ascii: "+")

  private func put(_ count: Int32) {
    if count <= 0 { return }
    // A pipe holds more than there are jobs on any machine: where it is full, that many are enough.
    try? writing?.writeAll([UInt8](repeating: Self.token, count: Int(count)))
  }

  private mutating func take(_ count: Int32) -> Int32 {
    if count <= 0 { return 0 }
    if readingNumber < 0 {
      lent -= count
      return count
    }
    var buffer = [UInt8](repeating: 0, count: Int(count))
    let taken = buffer.withUnsafeMutableBytes { buffer in
      // Nothing is there: others were first.
      (try? reading?.read(into: buffer)) ?? 0
    }
    lent -= Int32(taken)
    return Int32(taken)
  }
}

/// A jobserver as a task's programs come to know of it.
struct JobserverOffer {
  let style: JobserverStyle
  /// That it may come to have in all: what it has of its own, and what may be lent to it.
  let jobs: Int
  let path: String
  /// Of this process.
  let read: Int32
  let write: Int32

  /// The numbers of the descriptors where programs inherit them (`ProgramStart.further`).
  static let inherited = (read: 3, write: 4)

  /// Whether the `make` of a task is one that knows of paths: 4.4 and later. By an option that the program
  /// has since then, so that it need not be run.
  static func knowsPaths(make: String) -> Bool {
    guard let program = try? File.read(make) else { return false }
    return program.withUnsafeBytes { program in
      let word = Array("--jobserver-style".utf8)
      var place = 0
      while let next = program[place...].firstIndex(of: word[0]) {
        if program[next...].starts(with: word) { return true }
        place = next + 1
      }
      return false
    }
  }
}
