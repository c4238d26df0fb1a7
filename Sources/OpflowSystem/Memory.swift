internal import Glibc

/// Memory that the process has already.
package enum Memory {
  /// Below this, what large pages save is not worth the call.
  private static let largeBytes = 4 << 20

  /// Asks for large pages in memory that is about to be written for the first time (madvise(2)): small
  /// ones cost a fault each.
  @Sendable
  package static func wantsLargePages(_ buffer: UnsafeMutableRawBufferPointer) {
    guard buffer.count >= largeBytes, let start = buffer.baseAddress else { return }
    let page = Int(getpagesize())
    let skipped = -Int(bitPattern: start) & (page - 1)
    // SAFETY: whole pages within the buffer, whose contents this leaves as they are. It is only advice:
    // where the kernel does not take it, the pages are small.
    _ = madvise(start + skipped, buffer.count - skipped, MADV_HUGEPAGE)
  }
}
