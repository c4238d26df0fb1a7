internal import OpflowBase
package import OpflowPlan
internal import OpflowWire

/// Encodes lines (JournalFormat.swift) into a buffer, which the caller writes and empties. Counts
/// SEQ and sessions: readers take a gap for damage.
package struct JournalEncoder: Sendable {
  package private(set) var bytes: [UInt8] = []
  package private(set) var nextSequence: UInt64
  package private(set) var session: Int

  package init(nextSequence: UInt64 = 1, session: Int = 1) {
    self.nextSequence = nextSequence
    self.session = session
  }

  package var isEmpty: Bool { bytes.isEmpty }

  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  package mutating func append(_ entry: JournalEntry, at milliseconds: Int64, plan: Plan) {
    switch entry {
    case .transition(let transition): append(transition, at: milliseconds, plan: plan)
    case .open(var open): appendLine("open", at: milliseconds) { open.list(&$0) }
    case .resume(var resume):
      session += 1
      appendLine("resume", at: milliseconds) { resume.list(&$0) }
    case .close(var close): appendLine("close", at: milliseconds) { close.list(&$0) }
    case .stop(var stop): appendLine("stop", at: milliseconds) { stop.list(&$0) }
    case .worker(var worker): appendLine("worker", at: milliseconds) { worker.list(&$0) }
    case .node(var node): appendLine("site", at: milliseconds) { node.list(&$0) }
    case .extend(var extend):
      let name = extend.generator.isNone ? Self.noName : plan.nameBytes(extend.generator)
      appendLine("extend", of: name, at: milliseconds) { extend.list(&$0) }
    case .retract(var retract):
      appendLine("withdraw", of: plan.nameBytes(retract.generator), at: milliseconds) {
        retract.list(&$0)
      }
    case .request(var request): appendLine("order", at: milliseconds) { request.list(&$0, plan) }
    }
  }

  private mutating func appendLine(
    _ word: StaticString, of task: UnsafeRawBufferPointer = noName, at milliseconds: Int64,
    list: (inout FieldPass) -> Void
  ) {
    var writer = FieldWriter()
    if session > 1 { writer.field(.session, session) }
    FieldPass.write(to: &writer, list)
    let sequence = nextSequence
    let start = bytes.count
    bytes.append(addingCapacity: 80 + 2 * task.count + writer.bytes.count) { line in
      line.appendHeader(sequence: sequence, milliseconds: milliseconds, word: word)
      line.appendEscaped(task)
      writer.bytes.withUnsafeBytes { line.appendBytes($0) }
      line.append(Field.lineFeed)
    }
    seal(from: start)
  }

  /// The hot path: allocates only when the buffer grows.
  package mutating func append(_ transition: Transition, at milliseconds: Int64, plan: Plan) {
    let sequence = nextSequence
    let session = session
    let start = bytes.count
    let task = transition.task.isNone ? Self.noName : plan.nameBytes(transition.task)
    let culpritTask = transition.why?.culprit ?? .none
    let culprit = culpritTask.isNone ? Self.noName : plan.nameBytes(culpritTask)
    // Numbers and keys fit in 512 bytes; escaping at most doubles a string.
    var fetched = FieldWriter()
    transition.fetch?.report.write(to: &fetched, withDetail: false)
    let texts = transition.detail.utf8.count + (transition.left?.names.utf8.count ?? 0)
    if let with = transition.with {
      fetched.begin(.with)
      fetched.hexadecimal(with, digitCount: 16)
    }
    if let origin = transition.origin {
      fetched.begin(.origin)
      fetched.hexadecimal(origin, digitCount: 16)
    }
    if transition.isRestored { fetched.field(.restored, 1) }
    if let values = transition.values { fetched.field(.values, ValueList.text(values)) }
    if let left = transition.left, !left.processes.isEmpty {
      fetched.field(.pids, left.processesText)
    }
    let room = 512 + 2 * (task.count + culprit.count + texts) + fetched.bytes.count
    bytes.append(addingCapacity: room) { line in
      line.appendHeader(
        sequence: sequence, milliseconds: milliseconds, word: transition.event.kind.word)
      line.appendEscaped(task)
      line.append(transition, session: session)
      if !culprit.isEmpty {
        line.begin(.culprit)
        line.appendEscaped(culprit)
      }
      fetched.bytes.withUnsafeBytes { line.appendBytes($0) }
      line.append(Field.lineFeed)
    }
    seal(from: start)
  }

  private static var noName: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private mutating func seal(from start: Int) {
    let checksum = bytes.withUnsafeBytes { Hash.crc32c($0.part(start + 9, $0.count - 1)) }
    for digit in 0..<8 {
      let nibble = UInt8(truncatingIfNeeded: checksum >> UInt32(28 - 4 * digit)) & 15
      bytes[start + digit] = nibble < 10 ? 48 + nibble : 87 + nibble
    }
    nextSequence += 1
  }
}

extension OutputSpan<UInt8> {
  @inline(__always) fileprivate mutating func appendHeader(
    sequence: UInt64, milliseconds: Int64, word: StaticString
  ) {
    appendText("00000000\t")
    appendNumber(sequence)
    append(Field.tab)
    appendNumber(milliseconds)
    append(Field.tab)
    appendText(word)
    append(Field.tab)
  }

  @inline(__always) fileprivate mutating func append(_ transition: Transition, session: Int) {
    if session > 1 { append(.session, session) }
    appendUnlessZero(.attempt, transition.attempt)
    switch transition.event {
    case .start:
      if transition.worker != .none { append(.worker, transition.worker.rawValue) }
      if transition.isPrefetched { append(.ahead, 1) }
      appendDetail(of: transition)
      return
    case .pause, .proceed, .stopping: return
    case .ready: return appendDetail(of: transition)
    case .skip(let reason):
      begin(.reason)
      appendText(reason.word)
      return
    case .resume(let reason):
      begin(.reason)
      appendText(reason.word)
      if case .changed(let part?) = reason {
        begin(.part)
        for byte in part.word.utf8 { append(byte) }
      }
      if transition.isLate { append(.late, 1) }
      appendDetail(of: transition)
      return
    case .fresh:
      if transition.kept != nil { append(.kept, 1) }
      appendFingerprint(of: transition)
      return
    case .success, .failure, .retry, .cancel, .interrupt: break
    }
    append(transition.outcome)
    appendUnlessZero(.delay, transition.delayMilliseconds)
    if transition.allowed { append(.allowed, 1) }
    if transition.event == .success || transition.allowed { appendFingerprint(of: transition) }
    appendDetail(of: transition)
    if let left = transition.left {
      begin(.left)
      var text = left.text
      text.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
    }
  }

  @inline(__always)
  private mutating func appendFingerprint(of transition: Transition) {
    begin(.fingerprint)
    appendHexadecimal(transition.fingerprint.whole, digitCount: 16)
    append(UInt8(ascii: "."))
    let parts = transition.fingerprint.parts
    appendHexadecimal(parts, digitCount: Swift.max(1, (67 - parts.leadingZeroBitCount) / 4))
  }

  @inline(__always)
  private mutating func appendDetail(of transition: Transition) {
    var detail = transition.detail
    if detail.isEmpty { return }
    begin(.detail)
    detail.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
  }
}
