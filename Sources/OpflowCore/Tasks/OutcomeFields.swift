/// What the fields of an outcome say, in a line of the journal and on the wire: written by
/// `append(_ outcome:)`, read here. What is 0 or not known is left out.
struct OutcomeFields {
  var status = ExitStatus.unknown
  /// The word of the reason; empty for none. An end's is an `EndReason`; in the journal, of other events
  /// the key tells other reasons.
  var reason = UnsafeRawBufferPointer(start: nil, count: 0)
  var errorNumber: Int32 = 0
  var usage = Usage()

  @inline(__always)
  init() {}

  /// Takes in the fields where `cursor` stands, in the order in which they are written, up to one that
  /// does not follow in it. A reader of fields in any order comes again.
  @_transparent
  mutating func read(_ cursor: inout FieldCursor) {
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

  /// Why a try ended; nil where it is not told, or is none that this opflow knows.
  @inline(__always)
  var endReason: EndReason? { reason.isEmpty ? nil : EndReason(word: reason) }

  var outcome: Outcome {
    Outcome(status: status, reason: endReason, errorNumber: errorNumber, usage: usage)
  }
}

extension OutputSpan<UInt8> {
  /// At most 200 bytes.
  @inline(__always)
  mutating func append(_ outcome: Outcome) {
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
