/// How attempts are timed, retried and stopped. Most tasks of a plan share one policy.
package struct TaskPolicy: Hashable, Sendable, BitwiseCopyable {
  /// Per attempt; 0 for none.
  package var timeoutMilliseconds: UInt64
  /// Attempts after the first.
  package var retryMax: UInt32
  package var retryDelayMilliseconds: UInt32
  package var retryMaxDelayMilliseconds: UInt32
  /// The delay's growth per retry, in thousandths.
  package var retryBackoffPermille: UInt32
  /// In both directions, in thousandths.
  package var retryJitterPermille: UInt32
  /// Exit codes to retry; 0 for all failures.
  package var retryCodes: UInt32
  package var stopSignal: UInt32
  package var stopGraceMilliseconds: UInt32

  package init(
    timeoutMilliseconds: UInt64 = 0, retryMax: UInt32 = 0, retryDelayMilliseconds: UInt32 = 1000,
    retryMaxDelayMilliseconds: UInt32 = 60_000, retryBackoffPermille: UInt32 = 2000,
    retryJitterPermille: UInt32 = 200, retryCodes: UInt32 = 0, stopSignal: UInt32 = 15,
    stopGraceMilliseconds: UInt32 = 5000
  ) {
    self.timeoutMilliseconds = timeoutMilliseconds
    self.retryMax = retryMax
    self.retryDelayMilliseconds = retryDelayMilliseconds
    self.retryMaxDelayMilliseconds = retryMaxDelayMilliseconds
    self.retryBackoffPermille = retryBackoffPermille
    self.retryJitterPermille = retryJitterPermille
    self.retryCodes = retryCodes
    self.stopSignal = stopSignal
    self.stopGraceMilliseconds = stopGraceMilliseconds
  }
}
