internal import Glibc

package enum Memory {
  /// Below this, large pages do not pay for the call.
  private static let largeBytes = 4 << 20

  /// Asks for huge pages in memory about to be written for the first time (madvise(2)).
  @Sendable
  package static func wantsLargePages(_ buffer: UnsafeMutableRawBufferPointer) {
    guard buffer.count >= largeBytes, let start = buffer.baseAddress else { return }
    let page = Int(getpagesize())
    let skipped = -Int(bitPattern: start) & (page - 1)
    // SAFETY: whole pages within the buffer; the advice does not change them. Failure leaves small
    // pages.
    _ = madvise(start + skipped, buffer.count - skipped, MADV_HUGEPAGE)
  }
}
