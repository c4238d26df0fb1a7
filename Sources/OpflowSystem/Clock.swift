internal import CLinux
internal import Glibc

package enum Clock {
  /// CLOCK_MONOTONIC: stops while the machine is suspended.
  package static var monotonicNanoseconds: Int64 { clinux_monotonic_nanoseconds() }

  /// CLOCK_BOOTTIME: counts suspended time.
  package static var bootNanoseconds: Int64 { clinux_boot_nanoseconds() }

  /// Since the epoch.
  package static var wallMilliseconds: Int64 { clinux_realtime_milliseconds() }

  /// A signal may end the sleep early.
  package static func sleep(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
