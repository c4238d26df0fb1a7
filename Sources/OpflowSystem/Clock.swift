internal import CLinux

/// Time as the kernel tells it.
package enum Clock {
  /// Nanoseconds since some point before; never goes back, stands still while the machine sleeps
  /// (CLOCK_MONOTONIC).
  package static var monotonicNanoseconds: Int64 { clinux_monotonic_nanoseconds() }

  /// Milliseconds since the epoch, as the machine's clock is set.
  package static var wallMilliseconds: Int64 { clinux_realtime_milliseconds() }
}
