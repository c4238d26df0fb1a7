internal import CLinux
internal import Glibc

/// The kernel's clocks.
package enum Clock {
  /// Nanoseconds since an arbitrary start; stops while the machine is suspended (CLOCK_MONOTONIC).
  package static var monotonicNanoseconds: Int64 { clinux_monotonic_nanoseconds() }

  /// Like `monotonicNanoseconds`, but also counts suspended time (CLOCK_BOOTTIME).
  package static var bootNanoseconds: Int64 { clinux_boot_nanoseconds() }

  /// Milliseconds since the epoch.
  package static var wallMilliseconds: Int64 { clinux_realtime_milliseconds() }

  /// Sleeps; a signal may end the sleep early.
  package static func sleep(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
