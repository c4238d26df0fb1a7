internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The jobserver of the running task: a pipe with one byte for each additional job (GNU make's
/// manual, "POSIX Jobserver Interaction"). A program takes a byte, runs a job and puts it back.
///
/// The pipe has no name, so a killed worker leaves nothing: programs inherit the descriptors or
/// open this process's entry under /proc like a FIFO. The worker opens the pipe again for itself,
/// since some makes set `O_NONBLOCK` on their open file. When the task is gone all lent tokens
/// return, even those that a killed make held.
struct RunningJobserver: ~Copyable {
  /// Announced for a task before its start.
  private var told: (task: TaskID, own: Int32, all: Int32)?
  private var pipe: Pipe?
  private var reading: Descriptor?
  private var readingNumber: Int32 = -1
  private var writing: Descriptor?
  private var own: Int32 = 0
  private var lent: Int32 = 0
  /// Tokens that the coordinator wants back.
  private var owed: Int32 = 0
  /// Tokens unused at the last check.
  private var unused: Int32 = 0
  private(set) var deadline: Instant?

  private static let lookMilliseconds: Int64 = 200

  mutating func note(_ message: WorkerMessage, running: TaskID, at now: Instant) {
    if case .jobs(let task, let own, let all) = message { told = (task, own, all) }
    guard case .tokens(let task, let count) = message, task == running else { return }
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
    // Tokens may have been lent during a restore from the cache.
    put(own + lent)
    watch(from: now)
    return JobserverOffer(
      style: style, jobs: Int(all), path: "/proc/\(ProcessID.own)/fd/\(read)", read: read,
      write: write)
  }

  mutating func end() {
    pipe = nil
    reading = nil
    readingNumber = -1
    writing = nil
    (own, lent, owed, unused) = (0, 0, 0, 0)
    deadline = nil
  }

  var awaited: Int32? { owed > 0 && readingNumber >= 0 ? readingNumber : nil }

  /// The task has no process yet.
  var isOwedAtOnce: Bool { owed > 0 && readingNumber < 0 }

  mutating func takeOwed() -> Int32 {
    let count = take(owed)
    owed -= count
    return count
  }

  /// Takes back tokens unused now and at the last check.
  mutating func takeUnused(at now: Instant) -> Int32 {
    guard let deadline, deadline <= now else { return 0 }
    let isThere = readingNumber >= 0
    let readable = isThere ? (try? reading?.readableByteCount()) ?? 0 : lent
    // A faulty program put back surplus tokens, which would allow too many jobs.
    if isThere { drop(readable - own - lent) }
    let free = min(readable, lent - owed)
    let taken = take(min(free, unused))
    unused = free - taken
    self.deadline = isThere || lent > 0 ? now.advanced(byMilliseconds: Self.lookMilliseconds) : nil
    return taken
  }

  private mutating func drop(_ count: Int32) {
    let dropped = take(count)
    lent += dropped
  }

  private static let token = UInt8(ascii: "+")

  private func put(_ count: Int32) {
    if count <= 0 { return }
    // A pipe holds more bytes than any machine has jobs; a full pipe has enough.
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
      // Programs may have taken the tokens first.
      (try? reading?.read(into: buffer)) ?? 0
    }
    lent -= Int32(taken)
    return Int32(taken)
  }
}

struct JobserverOffer {
  let style: JobserverStyle
  /// The task's own and those that may be lent.
  let jobs: Int
  let path: String
  /// In this process.
  let read: Int32
  let write: Int32

  /// In programs that inherit them (`ProgramStart.further`).
  static let inherited = (read: 3, write: 4)

  /// True for versions with FIFO paths (4.4 and later). Searches the program for an option of these
  /// versions instead of running it.
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

/// The coordinator sends the GPUs of a task before its start.
struct RunningDevices {
  private var told: [TaskID: DeviceSet] = [:]
  private let names: [String]

  init(names: [String] = GraphicsProcessors.names) { self.names = names }

  mutating func note(_ message: WorkerMessage) {
    if case .devices(let task, let devices) = message { told[task] = devices }
  }

  /// nil if the task has no GPU.
  mutating func takeVariable(of task: TaskID) throws(WorkerRefusal) -> String? {
    guard !told.isEmpty, let devices = told.removeValue(forKey: task) else { return nil }
    if let missing = devices.numbers.first(where: { $0 >= names.count }) {
      throw WorkerRefusal(
        errorNumber: 0,
        detail: "opflow gave it GPU number \(missing), but this node has only \(names.count)")
    }
    let own = devices.numbers.map { names[$0] }.joined(separator: ",")
    return "\(GraphicsProcessors.variable)=\(own)"
  }
}

/// The running task's memory limit: a cgroup next to the worker's own, if the coordinator could
/// delegate one (else it warns).
struct RunningLimit: ~Copyable {
  private let run: String
  private var group: MemoryGroup?
  private var folder: Descriptor?
  private var limitBytes: UInt64 = 0
  /// A group may outlive its last process for a moment, so each name is used once.
  private var count = 0

  init(run: String) { self.run = run }

  /// nil without a limit or on failure.
  mutating func begin(limitBytes: UInt64) -> Int32? {
    end()
    guard limitBytes > 0, let own = KillGroup.home, own.contains("/opflow-\(run)-") else {
      return nil
    }
    count += 1
    self.limitBytes = limitBytes
    group = MemoryGroup("\(own).\(count)", limitBytes: limitBytes)
    folder = group?.open()
    return folder?.rawValue
  }

  /// nil unless the task was killed for exceeding its limit.
  mutating func overrun() -> String? {
    guard let hasOverrun = group?.hasOverrun, hasOverrun else { return nil }
    let detail = "it used more memory than its limit of \(SizeText.text(bytes: limitBytes))"
    guard let peak = group?.peakBytes else { return detail }
    return "\(detail) (\(SizeText.text(bytes: peak)) at its peak)"
  }

  mutating func end() {
    folder = nil
    group = nil
  }
}
