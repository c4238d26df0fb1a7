package import OpflowBase
internal import OpflowPlan

// `secret NAME PART/OF VALUE`, to a worker, before its first task. A value longer than a line is
// sent in parts. A repeated name replaces its value. These lines must not be logged.

package struct SecretPart: Equatable, Sendable {
  package let name: String
  /// From 1.
  package let number: Int
  package let count: Int
  package let bytes: [UInt8]

  /// Fits a line, with escapes and a name of 255 bytes.
  private static let longestBytes = 220
  static let longestNameBytes = 255
  private static let mostParts = (SecretValue.longestBytes + longestBytes - 1) / longestBytes

  package init(name: String, number: Int, count: Int, bytes: [UInt8]) {
    self.name = name
    self.number = number
    self.count = count
    self.bytes = bytes
  }

  package static func parts(of secret: SecretValue) -> [SecretPart] {
    let count = (secret.bytes.count + longestBytes - 1) / longestBytes
    return (0..<count).map { place in
      let start = place * longestBytes
      let bytes = secret.bytes[start..<min(start + longestBytes, secret.bytes.count)]
      return SecretPart(name: secret.name, number: place + 1, count: count, bytes: Array(bytes))
    }
  }

  package func write(to writer: inout FieldWriter) {
    writer.raw("secret\t")
    writer.escaped(name)
    writer.tab()
    writer.number(number)
    writer.raw("/")
    writer.number(count)
    writer.tab()
    writer.escaped(bytes)
    writer.endLine()
  }

  /// Without its line feed.
  package init?(_ line: UnsafeRawBufferPointer) {
    var fields = MessageFields(line)
    guard let word = fields.next(), word.equals("secret"), let name = fields.text(), !name.isEmpty,
      name.utf8.count <= Self.longestNameBytes, let place = fields.next(),
      let bytes = fields.next().flatMap({ Field.unescaped($0) }), fields.isWholeMessage,
      !bytes.isEmpty, bytes.count <= Self.longestBytes, !bytes.contains(0)
    else { return nil }
    let slash = place.position(of: UInt8(ascii: "/"), from: 0)
    guard slash < place.count,
      let number: Int = Field.number(place.part(0, slash)),
      let count: Int = Field.number(place.part(slash + 1, place.count)),
      (1...Self.mostParts).contains(count), (1...count).contains(number)
    else { return nil }
    self.init(name: name, number: number, count: count, bytes: bytes)
  }
}

package struct SecretCollector: Sendable {
  package private(set) var secrets: [SecretValue] = []
  private var name = ""
  private var bytes: [UInt8] = []
  private var next = 1

  package init() {}

  package var isEmpty: Bool { secrets.isEmpty }

  /// False for a part that does not continue the last one.
  package mutating func take(_ part: SecretPart) -> Bool {
    guard part.number == next, part.number == 1 || part.name == name,
      bytes.count + part.bytes.count <= SecretValue.longestBytes
    else { return false }
    name = part.name
    bytes += part.bytes
    next += 1
    guard part.number == part.count else { return true }
    secrets.removeAll { $0.name == name }
    secrets.append(SecretValue(name: name, bytes: bytes))
    bytes = []
    next = 1
    return true
  }
}

package enum WorkerInput: Equatable, Sendable {
  case order(WorkerOrder)
  case secret(SecretPart)

  init?(_ line: UnsafeRawBufferPointer) {
    if let order = MessageCodec.order(line) {
      self = .order(order)
    } else if let part = SecretPart(line) {
      self = .secret(part)
    } else {
      return nil
    }
  }
}

extension WorkerReport {
  package func masked(by masker: Masker) -> WorkerReport {
    switch self {
    case .progress(var progress):
      progress.text = masker.masked(progress.text)
      return .progress(progress)
    case .fetched(let task, let attempt, let record):
      return .fetched(task, attempt: attempt, FetchRecord(record.report.masked(by: masker)))
    case .left(let task, let attempt, var left):
      left.names = masker.masked(names: left.names)
      return .left(task, attempt: attempt, left)
    case .refused(let task, let attempt, let errorNumber, let what):
      return .refused(
        task, attempt: attempt, errorNumber: errorNumber, what: masker.masked(what))
    case .lacks(let task, let attempt, let what):
      return .lacks(task, attempt: attempt, what: masker.masked(what))
    case .fault(let task, let attempt, let what):
      return .fault(task, attempt: attempt, what: masker.masked(what))
    case .checked(let task, let serial, .stale(let why)):
      return .checked(task, serial: serial, .stale(why: masker.masked(why)))
    case .checked(let task, let serial, .unfit(let what)):
      return .checked(task, serial: serial, .unfit(what: masker.masked(what)))
    case .checked(let task, let serial, .unwritten(let what)):
      return .checked(task, serial: serial, .unwritten(what: masker.masked(what)))
    case .changed(let task, let attempt, let what):
      return .changed(task, attempt: attempt, what: masker.masked(what))
    case .warning(let what): return .warning(masker.masked(what))
    // Values must not contain secrets.
    case .hello, .started, .value, .kept, .ended, .revoked, .checked, .awaits, .recorded, .restored,
      .ready, .tokens, .pulse:
      return self
    }
  }
}

extension FetchReport {
  fileprivate func masked(by masker: Masker) -> FetchReport {
    var report = self
    report.url = masker.masked(url)
    report.what = masker.masked(what)
    report.validator = validator.masked(by: masker)
    return report
  }
}
