internal import CLinux
internal import Glibc

/// A signal's number (signal(7)).
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

  /// Whether it is the process's to say what it does when this comes (signal(7)): not for one that
  /// ends, stops or continues it.
  var canBeAnswered: Bool { self != .kill && self != .stop && self != .proceed }
}

/// A set of signals.
package struct SignalSet: Sendable, ExpressibleByArrayLiteral {
  private(set) var bits: UInt64

  package mutating func insert(_ signal: Signal) { bits |= 1 << UInt64(signal.rawValue - 1) }

  /// Adds those of them that this process does not ignore.
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

/// What a process does with signals as a whole.
package enum Dispositions {
  /// Every signal does what signal(7) gives as its default, also those that were ignored when this
  /// program was started. A hang-up that is ignored stays so: nohup(1) means all that is started under
  /// it.
  package static func resetAll() { clinux_reset_dispositions() }

  /// The signal does what signal(7) gives as its default.
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

/// Signals as something to be read (signalfd(2)).
package struct SignalDescriptor: ~Copyable {
  private let descriptor: Descriptor
  package var rawValue: Int32 { descriptor.rawValue }

  /// Blocks the signals in this thread, so that they come here and nowhere else. Threads that are
  /// started later inherit that; programs that are spawned do not.
  package init(_ signals: SignalSet) throws(Errno) {
    try signals.block()
    descriptor = Descriptor(owning: try call { clinux_signal_descriptor(signals.bits) })
  }

  /// The next pending signal and who sent it: 0 is the kernel, as for a key, and -1 a process that has no
  /// number here (pid_namespaces(7)). nil when there is none.
  package func next() throws(Errno) -> (signal: Signal, senderPID: Int32)? {
    let rawDescriptor = descriptor.rawValue
    var received = clinux_signal()
    do throws(Errno) {
      try call { clinux_read_signal(rawDescriptor, &received) }
    } catch .wouldBlock {
      return nil
    }
    return (
      Signal(rawValue: Int32(truncatingIfNeeded: received.number)),
      received.sender
    )
  }
}
