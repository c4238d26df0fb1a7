/// Why a task is not up to date.
package enum Staleness: Equatable, Sendable {
  /// No success of it is known, or it was started since.
  case unknown
  case definition
  /// What is said of its outputs, variables or commands.
  case declaration
  /// What it reads of other tasks, or its arguments.
  case values
  /// Something that it needs ran again and declares no outputs.
  case needs
  case changed([UInt8])
  case added([UInt8])
  case removed([UInt8])
  /// A link has another text, and what it leads to is the same.
  case relinked([UInt8], text: [UInt8])
  case reading(SuccessRecord.Reading)
  case outputGone([UInt8])
  case outputChanged([UInt8])
  /// Nobody was to read its values then, so that nobody looked at them.
  case valuesUnknown
  /// One of its values has a secret in it, which it was none then.
  case valueWithSecret
  /// What is known of its files is known by another hash.
  case hash
  case asked
  /// Nothing changed since it failed, which is no success.
  case failedBefore

  /// Why a task runs that steers its run, though its files are as they were when it steered another one.
  package static let steering = "it steers its run"

  private var text: String {
    func path(_ bytes: [UInt8]) -> String { NameCharacters.text(bytes) }
    switch self {
    // As it is with every task the first time.
    case .unknown: return ""
    case .definition: return "its definition changed"
    case .declaration: return "its inputs or outputs are declared otherwise"
    case .values: return "its arguments, or values that it reads, changed"
    case .needs: return "what it needs ran again"
    case .changed(let bytes): return path(bytes)
    case .added(let bytes): return "+\(path(bytes))"
    case .removed(let bytes): return "-\(path(bytes))"
    case .relinked(let bytes, let text): return "\(path(bytes)) -> \(path(text))"
    case .reading(let reading):
      switch reading.kind {
      case .variable: return "env \(path(reading.name))"
      case .command: return "`\(path(reading.name))`"
      case .need: return "outputs of \(path(reading.name))"
      case .failure: return path(reading.name)
      }
    case .outputGone(let bytes): return "output gone: \(path(bytes))"
    case .outputChanged(let bytes): return "output changed: \(path(bytes))"
    case .valuesUnknown: return "others read its values, which were not kept"
    case .valueWithSecret: return "a value that it left holds a secret"
    case .hash: return "results are cached now or no more, so that files are known otherwise"
    case .asked: return "asked"
    case .failedBefore: return "it failed before"
    }
  }

  private var isOfInput: Bool {
    switch self {
    case .changed, .added, .removed, .relinked: true
    case .reading(let reading): reading.kind != .failure
    case .unknown, .definition, .declaration, .values, .needs, .outputGone, .outputChanged,
      .valuesUnknown, .valueWithSecret, .hash, .asked, .failedBefore:
      false
    }
  }

  private var isOfFile: Bool {
    switch self {
    case .changed, .added, .removed, .relinked: true
    case .unknown, .definition, .declaration, .values, .needs, .reading, .outputGone,
      .outputChanged, .valuesUnknown, .valueWithSecret, .hash, .asked, .failedBefore:
      false
    }
  }

  /// Of an input.
  fileprivate var path: [UInt8]? {
    switch self {
    case .changed(let path), .added(let path), .removed(let path), .relinked(let path, _): path
    case .unknown, .definition, .declaration, .values, .needs, .reading, .outputGone,
      .outputChanged, .valuesUnknown, .valueWithSecret, .hash, .asked, .failedBefore:
      nil
    }
  }

  private var isOfNeed: Bool {
    if case .reading(let reading) = self { reading.kind == .need } else { false }
  }

  private static let mostTold = 5
  private static let mostBytes = 200

  /// `changed: a.c, +b.c, -d.h, env CC; output gone: out/app; and 3 more`, of at most 200 bytes: what is not
  /// told whole is counted.
  package static func text(_ reasons: [Staleness]) -> String {
    // A file that a need left tells more than that the need left another one.
    let hasFile = reasons.contains(where: \.isOfFile)
    let told = reasons.filter { !$0.text.isEmpty && !(hasFile && $0.isOfNeed) }
    let ordered = told.filter(\.isOfInput) + told.filter { !$0.isOfInput }
    var text = ""
    for (place, reason) in ordered.enumerated() {
      let lead =
        place == 0
        ? (reason.isOfInput ? "changed: " : "") : (reason.isOfInput ? ", " : "; ")
      // The first one is told however long it is.
      let piece = lead + (place == 0 ? shortened(reason.text) : reason.text)
      guard place < mostTold, text.utf8.count + piece.utf8.count <= mostBytes - countBytes else {
        return text + "; and \(ordered.count - place) more"
      }
      text += piece
    }
    return text
  }

  /// Room for how many are not told.
  private static let countBytes = 30

  /// Whole characters of the end, which tells more of a path than its beginning.
  private static func shortened(_ text: String) -> String {
    let room = mostBytes - countBytes - "changed: …".utf8.count
    if text.utf8.count <= room { return text }
    let tail = Array(text.utf8.suffix(room).drop { $0 & 0xC0 == 0x80 })
    return "…" + String(decoding: tail, as: UTF8.self)
  }
}

extension SuccessRecord {
  /// What of a task is not as it was when it succeeded; nothing where it is up to date, but for its outputs.
  ///
  /// - Parameters:
  ///   - now: what is seen of it, without outputs.
  ///   - linkText: the text of a link as it is now.
  package func differences(
    to now: SuccessRecord, linkText: ([UInt8]) -> [UInt8]? = { _ in nil }
  ) -> [Staleness] {
    if hash != now.hash { return [.hash] }
    var reasons: [Staleness] = []
    if terms.fingerprint != now.terms.fingerprint { reasons.append(.definition) }
    if terms.declaration != now.terms.declaration { reasons.append(.declaration) }
    if terms.with != now.terms.with { reasons.append(.values) }
    if terms.needs != now.terms.needs { reasons.append(.needs) }
    reasons += inputDifferences(to: now, linkText)
    // A task may need thousands of others.
    if readings != now.readings {
      let (old, names) = (Set(readings), Set(now.readings.map(\.name)))
      reasons += now.readings.lazy.filter { !old.contains($0) }.map { .reading($0) }
      // A failure stands in the place of what the command printed.
      let hasFailed = now.readings.contains { $0.kind == .failure }
      reasons += readings.lazy.filter {
        !names.contains($0.name) && !(hasFailed && $0.kind == .command)
      }.map { .reading($0) }
    }
    return reasons
  }

  private func inputDifferences(
    to now: SuccessRecord, _ linkText: ([UInt8]) -> [UInt8]?
  ) -> [Staleness] {
    var reasons = Self.differences(inputs, now.inputs, changed: { .changed($0) }) {
      .added($0)
    } removed: {
      .removed($0)
    }
    if links.isEmpty, now.links.isEmpty { return reasons }
    let (old, new) = (Set(links.lazy.map(\.path)), Set(now.links.lazy.map(\.path)))
    reasons = reasons.map { reason in
      switch reason {
      case .added(let path) where old.contains(path): .changed(path)
      case .removed(let path) where new.contains(path): .changed(path)
      default: reason
      }
    }
    let ofLinks = Self.differences(
      links, now.links, changed: { .relinked($0, text: linkText($0) ?? []) }
    ) {
      .relinked($0, text: linkText($0) ?? [])
    } removed: {
      .changed($0)
    }
    if ofLinks.isEmpty { return reasons }
    // What is different behind a link tells more than the link.
    var told: Set<[UInt8]> = []
    for path in reasons.compactMap(\.path) {
      told.insert(path)
      for cut in path.indices where path[cut] == UInt8(ascii: "/") {
        told.insert(Array(path[..<cut]))
      }
    }
    return reasons + ofLinks.filter { reason in reason.path.map { !told.contains($0) } ?? true }
  }

  /// What of its outputs is not as it left them.
  package func differences(ofOutputs now: SeenFiles) -> [Staleness] {
    // What somebody put beside them is not the task's.
    Self.differences(outputs, now, changed: { .outputChanged($0) }) { _ in
      nil
    } removed: {
      .outputGone($0)
    }
  }

  /// Both are sorted by their paths.
  private static func differences(
    _ old: SeenFiles, _ new: SeenFiles, changed: ([UInt8]) -> Staleness,
    added: ([UInt8]) -> Staleness?, removed: ([UInt8]) -> Staleness
  ) -> [Staleness] {
    var reasons: [Staleness] = []
    var (left, right) = (0, 0)
    while left < old.count || right < new.count {
      let order: ByteOrder =
        right == new.count ? .before : left == old.count ? .behind : old.order(left, new, right)
      switch order {
      case .same:
        if !old.isSame(left, as: new, right) { reasons.append(changed(new.path(right))) }
        left += 1
        right += 1
      case .before:
        reasons.append(removed(old.path(left)))
        left += 1
      case .behind:
        if let reason = added(new.path(right)) { reasons.append(reason) }
        right += 1
      }
    }
    return reasons
  }
}
