package import OpflowBase

/// An outcome in a journal line or message. Fields that are 0 or unknown are omitted.
package struct OutcomeFields {
  package var status = ExitStatus.unknown
  /// An `EndReason` in ends; other journal events use the key for other reasons.
  package var reason = UnsafeRawBufferPointer(start: nil, count: 0)
  package var errorNumber: Int32 = 0
  package var usage = Usage()

  @inline(__always)
  package init() {}

  /// Reads up to a field that is out of order; call it again for that.
  @_transparent
  package mutating func read(_ cursor: inout FieldCursor) {
    if cursor.stands(at: .exit) {
      if let code = cursor.digit(.exit) {
        status = .exit(Int32(truncatingIfNeeded: code))
      } else if let code = cursor.small(.exit) {
        status = .exit(code)
      }
    } else if cursor.stands(at: .signal), let signal = cursor.small(.signal) {
      status = .signal(signal)
    }
    if !cursor.stands(at: .wall) { readRare(&cursor) }
    if cursor.stands(at: .wall) { usage.wallMicroseconds = cursor.natural(.wall) }
    if cursor.stands(at: .user) { usage.userMicroseconds = cursor.natural(.user) }
    if cursor.stands(at: .sys) { usage.systemMicroseconds = cursor.natural(.sys) }
    if cursor.stands(at: .rss) { usage.peakKibibytes = cursor.natural(.rss) }
    if cursor.stands(at: .out) { usage.outputBytes = cursor.natural(.out) }
  }

  @inline(never)
  private mutating func readRare(_ cursor: inout FieldCursor) {
    if cursor.stands(at: .reason) { reason = cursor.text(.reason) }
    if cursor.stands(at: .errno), let number = cursor.small(.errno) { errorNumber = number }
  }

  /// Nil if unknown to this version.
  @inline(__always)
  package var endReason: EndReason? { reason.isEmpty ? nil : EndReason(word: reason) }

  package var outcome: Outcome {
    Outcome(status: status, reason: endReason, errorNumber: errorNumber, usage: usage)
  }
}

extension OutputSpan<UInt8> {
  /// At most 200 bytes.
  @inline(__always)
  package mutating func append(_ outcome: Outcome) {
    switch outcome.status {
    case .unknown: break
    case .exit(let code): append(.exit, code)
    case .signal(let signal): append(.signal, signal)
    }
    if let reason = outcome.reason {
      begin(.reason)
      appendText(reason.word)
    }
    appendUnlessZero(.errno, outcome.errorNumber)
    appendUnlessZero(.wall, outcome.usage.wallMicroseconds)
    appendUnlessZero(.user, outcome.usage.userMicroseconds)
    appendUnlessZero(.sys, outcome.usage.systemMicroseconds)
    appendUnlessZero(.rss, outcome.usage.peakKibibytes)
    appendUnlessZero(.out, outcome.usage.outputBytes)
  }
}
