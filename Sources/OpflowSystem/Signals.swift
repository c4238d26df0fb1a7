internal import CLinux
internal import Glibc

package struct Signal: Hashable, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let quit = Signal(rawValue: SIGQUIT)
  package static let hangup = Signal(rawValue: SIGHUP)
  package static let interrupt = Signal(rawValue: SIGINT)
  package static let kill = Signal(rawValue: SIGKILL)
  package static let user1 = Signal(rawValue: SIGUSR1)
  package static let user2 = Signal(rawValue: SIGUSR2)
  package static let pipe = Signal(rawValue: SIGPIPE)
  package static let terminate = Signal(rawValue: SIGTERM)
  package static let child = Signal(rawValue: SIGCHLD)
  package static let proceed = Signal(rawValue: SIGCONT)
  package static let stop = Signal(rawValue: SIGSTOP)
  package static let terminalStop = Signal(rawValue: SIGTSTP)
  package static let fileTooLarge = Signal(rawValue: SIGXFSZ)
  package static let windowChange = Signal(rawValue: SIGWINCH)

  /// False for KILL, STOP and CONT, which must reach all processes.
  var canBeAnswered: Bool { self != .kill && self != .stop && self != .proceed }
}

package struct SignalSet: Sendable, ExpressibleByArrayLiteral {
  private(set) var bits: UInt64

  package mutating func insert(_ signal: Signal) { bits |= 1 << UInt64(signal.rawValue - 1) }

  package mutating func insert(unlessIgnored signals: Signal...) {
    for signal in signals where !Dispositions.isIgnored(signal) { insert(signal) }
  }

  package init(arrayLiteral signals: Signal...) {
    bits = signals.reduce(0) { $0 | 1 << UInt64($1.rawValue - 1) }
  }

  private init(bits: UInt64) { self.bits = bits }

  package static let all = SignalSet(bits: .max)

  package func block() throws(Errno) {
    let bits = bits
    try call { clinux_block_signals(bits) }
  }

  package func unblock() throws(Errno) {
    let bits = bits
    try call { clinux_unblock_signals(bits) }
  }
}

package enum Dispositions {
  /// Sets default actions, also for signals ignored at start, except an ignored SIGHUP: nohup(1) is
  /// meant for everything started under it.
  package static func resetAll() { clinux_reset_dispositions() }

  package static func restore(_ signal: Signal) throws(Errno) {
    try call { clinux_default_signal(signal.rawValue) }
  }

  package static func isIgnored(_ signal: Signal) -> Bool {
    clinux_is_ignored(signal.rawValue) == 1
  }

  package static func ignore(_ signal: Signal) throws(Errno) {
    try call { clinux_ignore_signal(signal.rawValue) }
  }
}

package struct SignalDescriptor: ~Copyable {
  private let descriptor: Descriptor
  package var rawValue: Int32 { descriptor.rawValue }

  /// Blocks the signals in this thread. Later threads inherit the mask; spawned programs do not.
  package init(_ signals: SignalSet) throws(Errno) {
    try signals.block()
    descriptor = Descriptor(owning: try call { clinux_signal_descriptor(signals.bits) })
  }

  /// nil if no signal is pending. Sender 0 is the kernel (a key), -1 another PID namespace.
  package func next() throws(Errno) -> (signal: Signal, senderPID: Int32)? {
    var received = clinux_signal()
    do throws(Errno) {
      try call { clinux_read_signal(descriptor.rawValue, &received) }
    } catch .wouldBlock {
      return nil
    }
    return (
      Signal(rawValue: Int32(truncatingIfNeeded: received.number)),
      received.sender
    )
  }
}
