internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem

/// Job tokens of the make that started this process (GNU make's manual, "POSIX Jobserver
/// Interaction"). One job is this process's own. Each byte read from the jobserver allows one more,
/// and is written back when not needed.
///
/// The descriptors are reopened, since `O_NONBLOCK` on inherited ones would affect the make. If
/// this process is killed, the make loses its tokens, as with any client.
final class MakeJobs {
  private let reading: Descriptor
  private let writing: Descriptor
  private(set) var tokens: [UInt8] = []
  var isWatched = false

  var rawDescriptor: Int32 { reading.rawValue }

  enum Found {
    case none
    case withheld
    case jobs(MakeJobs)
  }

  private static let variable = "MAKEFLAGS"

  static var announced: Int? {
    guard let flags = Environment.value(variable), isShared(flags) else { return nil }
    return MakeFlags.jobs(in: flags.utf8)
  }

  /// True if the make runs one job at a time, and so shares none.
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

  /// Descriptors that this process opened are close-on-exec, so not the make's.
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

  func take(_ count: Int) -> Int {
    var buffer = [UInt8](repeating: 0, count: min(count, Self.mostAtOnce))
    let taken = buffer.withUnsafeMutableBytes { buffer in
      // No token is available, or another client was faster.
      (try? reading.read(into: buffer)) ?? 0
    }
    tokens += buffer.prefix(taken)
    return taken
  }

  private static let mostAtOnce = 1024

  /// Returns the bytes that were read, since make may identify holders by them.
  func giveBack(_ count: Int) {
    let back = Array(tokens.suffix(count))
    tokens.removeLast(back.count)
    // The pipe has room, since these bytes came from it.
    try? writing.writeAll(back)
  }
}

extension Coordinator {
  private func tellAway(_ make: MakeJobs) {
    let own = UInt64(1 + make.tokens.count)
    let all = request.options.maxParallel
    tell(.away(all - min(all, own)))
  }

  func shareWithMake() -> Bool {
    guard let make else { return false }
    let share = engine.processorShare(at: Self.now)
    let count = make.tokens.count
    if share.spare > 0, count > 0 {
      make.giveBack(Int(clamping: min(share.spare, UInt64(count))))
    } else if share.wanted > 0 {
      _ = make.take(Int(clamping: share.wanted))
    }
    awaitJobs(of: make, share.wanted > 0 && count == make.tokens.count)
    if count == make.tokens.count { return false }
    tellAway(make)
    return true
  }

  private func awaitJobs(of make: MakeJobs, _ isWanted: Bool) {
    if isWanted == make.isWatched { return }
    do throws(Errno) {
      if isWanted {
        try watch.add(make.rawDescriptor, .coordinator, Place.make)
      } else {
        try watch.remove(make.rawDescriptor)
      }
      make.isWatched = isWanted
    } catch {
      // The run continues with its present jobs.
    }
  }

  func leaveMake() {
    guard let make else { return }
    awaitJobs(of: make, false)
    make.giveBack(make.tokens.count)
  }
}
