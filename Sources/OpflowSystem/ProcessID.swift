internal import CLinux
internal import Glibc

/// This process and others, by their numbers.
package enum ProcessID {
  /// The user as whom this process makes files.
  package static var ownUser: UInt32 { UInt32(geteuid()) }

  package static var own: Int32 { getpid() }
  package static var parent: Int32 { getppid() }

  /// What a process has used so far.
  package struct Usage: Sendable {
    package init() {}

    package var userMicroseconds: Int64 = 0
    package var systemMicroseconds: Int64 = 0
    /// Its largest resident set.
    package var peakKibibytes: Int64 = 0
  }

  package static var ownUsage: Usage {
    var usage = Usage()
    clinux_own_usage(
      &usage.userMicroseconds, &usage.systemMicroseconds, &usage.peakKibibytes)
    return usage
  }

  /// Ends this process at once; nothing is flushed or closed (_exit(2)).
  package static func exitNow(_ code: Int32) -> Never { _exit(code) }

  package static func newSession() throws(Errno) {
    try call { setsid() }
  }

  /// One that is blocked waits for who reads it (`SignalDescriptor`).
  package static func sendSelf(_ signal: Signal) throws(Errno) {
    try call { kill(getpid(), signal.rawValue) }
  }

  /// Ends this process by a signal that ends processes by default, for whoever waits for it to see (wait(2)). Returns
  /// where that cannot be, as for the first process of a container.
  package static func die(of signal: Signal) {
    do throws(Errno) {
      try Dispositions.restore(signal)
      try sendSelf(signal)
      var signals: SignalSet = []
      signals.insert(signal)
      try signals.unblock()
    } catch {
      // It ends by its exit code.
    }
  }

  /// Stops this process until it is sent SIGCONT.
  ///
  /// - Parameter asJob: by SIGTSTP, as the terminal stops others of its process group, which does nothing
  ///   in one that no shell would continue (setpgid(2), "orphaned"). That signal is blocked, and does what
  ///   signal(7) gives as its default.
  package static func stopSelf(asJob: Bool) throws(Errno) {
    try call { kill(getpid(), asJob ? SIGTSTP : SIGSTOP) }
    guard asJob else { return }
    let stop: SignalSet = [.terminalStop]
    try stop.unblock()
    try stop.block()
  }
}

/// What /proc/PID/stat says of a process (proc(5)).
package struct ProcessStatus: Sendable, Equatable {
  package let pid: Int32
  /// The program's name, cut at 15 bytes.
  package let name: String
  /// `R`, `S`, `D`, `T`, `Z` and so on.
  package let state: UInt8
  package let parent: Int32
  package let group: Int32
  package let session: Int32
  /// Since boot, in clock ticks. With the pid and the boot id it names one process for ever.
  package let startTime: UInt64

  /// The clock of `startTime`.
  package static var ticksSinceBoot: UInt64 {
    UInt64(Clock.bootNanoseconds) / (1_000_000_000 / UInt64(sysconf(Int32(_SC_CLK_TCK))))
  }

  package var isZombie: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }

  /// Why processes cannot be told by /proc; nil where they can. One of another PID namespace gives other
  /// processes the same numbers (pid_namespaces(7)).
  package static var obstacle: String? {
    guard let bytes = try? File.read("/proc/self/stat") else { return "/proc is not mounted" }
    // All of it is not read: each run waits for this.
    guard let pid = number(bytes.prefix { $0 != 32 }) else { return "/proc is something else" }
    return pid == ProcessID.own
      ? nil : "/proc shows another PID namespace; mount one for this (unshare --mount-proc)"
  }

  /// What tells a person which process it is: `4711 (sleep)`, of another user `4711 (sleep, user root)`.
  package var title: String {
    guard let user = Self.user(of: pid), user != ProcessID.ownUser else {
      return "\(pid) (\(name))"
    }
    return "\(pid) (\(name), user \(user == 0 ? "root" : "\(user)"))"
  }

  /// As whom a process acts (proc(5), /proc/PID/status); nil when there is no such process.
  private static func user(of pid: Int32) -> UInt32? {
    guard let bytes = try? File.read("/proc/\(pid)/status") else { return nil }
    // Uid: real, effective, saved and that of the file system, each behind a tab.
    let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "Uid:".utf8) }
    let words = line?.split(separator: UInt8(ascii: "\t")).dropFirst(2)
    return words?.first.flatMap { UInt32(String(decoding: $0, as: UTF8.self)) }
  }

  /// nil when there is no such process.
  package static func read(_ pid: Int32) -> ProcessStatus? {
    guard let bytes = try? File.read("/proc/\(pid)/stat") else { return nil }
    return ProcessStatus(stat: bytes)
  }

  /// The environment that a process was started with, a zero behind each entry; nil where it cannot be read.
  package static func environment(of pid: Int32) -> [UInt8]? {
    try? File.read("/proc/\(pid)/environ")
  }

  /// The number of the scheduling group that came to be with the process's session; nil where the
  /// kernel makes none. Unlike the session's own number it is not given again (proc(5),
  /// /proc/PID/autogroup: `/autogroup-NUMBER nice VALUE`).
  package static func autogroup(of pid: Int32) -> UInt64? {
    guard let bytes = try? File.read("/proc/\(pid)/autogroup") else { return nil }
    let number = bytes.drop { $0 != UInt8(ascii: "-") }.dropFirst().prefix { $0 != 32 }
    return UInt64(String(decoding: number, as: UTF8.self))
  }

  /// From the text of a stat file. The name in parentheses may itself hold spaces, parentheses and
  /// line feeds, hence the search from the end.
  package init?(stat bytes: [UInt8]) {
    guard let open = bytes.firstIndex(of: UInt8(ascii: "(")),
      let close = bytes.lastIndex(of: UInt8(ascii: ")")), open < close,
      let pid = Self.number(bytes[..<open].filter { $0 != 32 })
    else { return nil }
    // Counted as proc(5) does, the first behind the name is field 3.
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
