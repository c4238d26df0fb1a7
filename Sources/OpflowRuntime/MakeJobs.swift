internal import OpflowCore
internal import OpflowSystem

/// Jobs that a make shares with this process, which it started as it would a further make (GNU make's manual,
/// "POSIX Jobserver Interaction"). One is this process's own; a byte that is read stands for one more, and is
/// put back when nobody has a use for it here.
///
/// Its descriptors are this process's own: those that it inherited are shared with the make, and
/// `O_NONBLOCK` on them would be too. A token that is held when this process is killed is lost to the make, as
/// with any other client.
final class MakeJobs {
  private let reading: Descriptor
  private let writing: Descriptor
  private(set) var tokens: [UInt8] = []
  /// Whether the coordinator waits for one.
  var isWatched = false

  var rawDescriptor: Int32 { reading.rawValue }

  /// What there is of a make for this process.
  enum Found {
    case none
    /// There is one, which shares nothing.
    case withheld
    case jobs(MakeJobs)
  }

  private static let variable = "MAKEFLAGS"

  /// How many jobs the make runs in all that shares them; nil for none.
  static var announced: Int? {
    guard let flags = Environment.value(variable), isShared(flags) else { return nil }
    return MakeFlags.jobs(in: flags.utf8)
  }

  /// Whether a make that started this process runs one job at a time: such a one shares none, and has none
  /// left.
  static var runsOneByOne: Bool {
    guard let flags = Environment.value(variable) else { return false }
    return MakeFlags.server(in: flags.utf8) == nil && MakeFlags.jobs(in: flags.utf8) == 1
  }

  private static func isShared(_ flags: String) -> Bool {
    switch MakeFlags.server(in: flags.utf8) {
    case nil, .withheld: false
    case .fifo: true
    case .pipe(let read, let write): isInherited(read) && isInherited(write)
    }
  }

  /// Looks what the environment speaks of.
  static func find() -> Found {
    guard let flags = Environment.value(variable), let server = MakeFlags.server(in: flags.utf8)
    else { return .none }
    guard isShared(flags) else { return .withheld }
    switch server {
    case .withheld: return .withheld
    case .fifo(let path):
      let path = String(decoding: path, as: UTF8.self)
      return open(path, path)
    case .pipe(let read, let write): return open("/proc/self/fd/\(read)", "/proc/self/fd/\(write)")
    }
  }

  /// What this process opened itself is closed on exec, and so is none of a make's.
  private static func isInherited(_ descriptor: Int32) -> Bool {
    DescriptorNumber.isInherited(descriptor)
      && (try? Path.status("/proc/self/fd/\(descriptor)"))?.kind == .fifo
  }

  private static func open(_ read: String, _ write: String) -> Found {
    guard let reading = try? File.open(read, [.readOnly, .nonblocking]),
      (try? reading.status())?.kind == .fifo,
      let writing = try? File.open(write, [.writeOnly, .nonblocking])
    else { return .withheld }
    return .jobs(MakeJobs(reading: reading, writing: writing))
  }

  private init(reading: consuming Descriptor, writing: consuming Descriptor) {
    self.reading = reading
    self.writing = writing
  }

  deinit { giveBack(tokens.count) }

  /// Takes up to so many more.
  ///
  /// - Returns: how many there were.
  func take(_ count: Int) -> Int {
    var buffer = [UInt8](repeating: 0, count: min(count, Self.mostAtOnce))
    let taken = buffer.withUnsafeMutableBytes { buffer in
      // None is there, or others were first.
      (try? reading.read(into: buffer)) ?? 0
    }
    tokens += buffer.prefix(taken)
    return taken
  }

  private static let mostAtOnce = 1024

  /// Puts so many back: the bytes that were read, which may tell the make who has them.
  func giveBack(_ count: Int) {
    let back = Array(tokens.suffix(count))
    tokens.removeLast(back.count)
    // There was room for them.
    try? writing.writeAll(back)
  }
}
