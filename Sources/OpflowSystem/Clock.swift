internal import CLinux
internal import Glibc

/// Time as the kernel tells it.
package enum Clock {
  /// Nanoseconds since some point before; never goes back, stands still while the machine sleeps
  /// (CLOCK_MONOTONIC).
  package static var monotonicNanoseconds: Int64 { clinux_monotonic_nanoseconds() }

  /// The same, but goes on while the machine sleeps (CLOCK_BOOTTIME).
  package static var bootNanoseconds: Int64 { clinux_boot_nanoseconds() }

  /// Milliseconds since the epoch, as the machine's clock is set.
  package static var wallMilliseconds: Int64 { clinux_realtime_milliseconds() }

  /// A signal may end it early.
  package static func sleep(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
