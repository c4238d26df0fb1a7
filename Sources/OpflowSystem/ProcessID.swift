internal import CLinux
internal import Glibc

package enum ProcessID {
  /// The effective user.
  package static var ownUser: UInt32 { UInt32(geteuid()) }

  package static var own: Int32 { getpid() }
  package static var parent: Int32 { getppid() }

  package struct Usage: Sendable {
    package init() {}

    package var userMicroseconds: Int64 = 0
    package var systemMicroseconds: Int64 = 0
    /// The peak resident set size.
    package var peakKibibytes: Int64 = 0
  }

  package static var ownUsage: Usage {
    var usage = Usage()
    clinux_own_usage(&usage.userMicroseconds, &usage.systemMicroseconds, &usage.peakKibibytes)
    return usage
  }

  /// Does not flush or close anything.
  package static func exitNow(_ code: Int32) -> Never { _exit(code) }

  package static func newSession() throws(Errno) {
    try call { setsid() }
  }

  /// A blocked signal stays pending for `SignalDescriptor`.
  package static func sendSelf(_ signal: Signal) throws(Errno) {
    try call { kill(getpid(), signal.rawValue) }
  }

  /// Ends this process so that its parent sees the signal. Returns on failure, as in the init
  /// process of a container.
  package static func die(of signal: Signal) {
    do throws(Errno) {
      try Dispositions.restore(signal)
      try sendSelf(signal)
      var signals: SignalSet = []
      signals.insert(signal)
      try signals.unblock()
    } catch {
      // The caller then exits with a code.
    }
  }

  /// Stops this process until SIGCONT. `asJob` uses SIGTSTP as the terminal does, without effect in
  /// an orphaned group; it must be blocked and have its default action.
  package static func stopSelf(asJob: Bool) throws(Errno) {
    try call { kill(getpid(), asJob ? SIGTSTP : SIGSTOP) }
    guard asJob else { return }
    let stop: SignalSet = [.terminalStop]
    try stop.unblock()
    try stop.block()
  }
}

/// From /proc/PID/stat (proc(5)).
package struct ProcessStatus: Sendable, Equatable {
  package let pid: Int32
  /// Cut off at 15 bytes.
  package let name: String
  package let state: UInt8
  package let parent: Int32
  package let group: Int32
  package let session: Int32
  /// Clock ticks since boot. With pid and boot ID it identifies a process forever.
  package let startTime: UInt64

  /// In the unit of `startTime`.
  package static var ticksSinceBoot: UInt64 {
    UInt64(Clock.bootNanoseconds) / (1_000_000_000 / UInt64(sysconf(Int32(_SC_CLK_TCK))))
  }

  package var isZombie: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }

  /// Why /proc cannot identify processes; nil if it can. In another PID namespace the same numbers
  /// mean other processes.
  package static var obstacle: String? {
    guard let bytes = try? File.read("/proc/self/stat") else { return "/proc is not mounted" }
    // Only the start of the file: every run waits for this.
    guard let pid = number(bytes.prefix { $0 != 32 }) else { return "/proc is not procfs" }
    return pid == ProcessID.own
      ? nil : "/proc shows another PID namespace; mount /proc of this one (`unshare --mount-proc`)"
  }

  /// `4711 (sleep)`, or `4711 (sleep, user root)` for another user.
  package var title: String {
    guard let user = Self.user(of: pid), user != ProcessID.ownUser else {
      return "\(pid) (\(name))"
    }
    return "\(pid) (\(name), user \(user == 0 ? "root" : "\(user)"))"
  }

  private static func user(of pid: Int32) -> UInt32? {
    guard let bytes = try? File.read("/proc/\(pid)/status") else { return nil }
    // Real, effective, saved and file system user, each after a tab.
    let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "Uid:".utf8) }
    let words = line?.split(separator: UInt8(ascii: "\t")).dropFirst(2)
    return words?.first.flatMap { UInt32(String(decoding: $0, as: UTF8.self)) }
  }

  package static func read(_ pid: Int32) -> ProcessStatus? {
    guard let bytes = try? File.read("/proc/\(pid)/stat") else { return nil }
    return ProcessStatus(stat: bytes)
  }

  /// Zero-terminated entries; nil if unreadable.
  package static func environment(of pid: Int32) -> [UInt8]? {
    try? File.read("/proc/\(pid)/environ")
  }

  /// The session's autogroup (`/autogroup-NUMBER nice VALUE`), used once, unlike a session ID;
  /// nil if the kernel makes none.
  package static func autogroup(of pid: Int32) -> UInt64? {
    guard let bytes = try? File.read("/proc/\(pid)/autogroup") else { return nil }
    let number = bytes.drop { $0 != UInt8(ascii: "-") }.dropFirst().prefix { $0 != 32 }
    return UInt64(String(decoding: number, as: UTF8.self))
  }

  /// Searches from the end: the name in parentheses may contain spaces, parentheses and newlines.
  package init?(stat bytes: [UInt8]) {
    guard let open = bytes.firstIndex(of: UInt8(ascii: "(")),
      let close = bytes.lastIndex(of: UInt8(ascii: ")")), open < close,
      let pid = Self.number(bytes[..<open].filter { $0 != 32 })
    else { return nil }
    // Field 3 in proc(5) comes first.
    var rest = bytes[(close + 1)...].drop { $0 == 32 }
    func next() -> ArraySlice<UInt8> { rest.takeField(before: 32) ?? [] }
    guard let state = next().first, let parent = Self.number(next()),
      let group = Self.number(next()), let session = Self.number(next())
    else { return nil }
    for _ in 7..<22 { _ = next() }
    guard let startTime = UInt64(String(decoding: next(), as: UTF8.self)) else { return nil }
    self.pid = pid
    self.name = String(decoding: bytes[(open + 1)..<close], as: UTF8.self)
    self.state = state
    self.parent = parent
    self.group = group
    self.session = session
    self.startTime = startTime
  }

  private static func number(_ field: some Sequence<UInt8>) -> Int32? {
    Int32(String(decoding: Array(field), as: UTF8.self))
  }
}
