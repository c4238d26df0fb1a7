package import OpflowBase
package import OpflowPlan

/// A task's last success in a state folder, which decides whether it is up to date.
package struct SuccessRecord: Equatable, Sendable {
  /// An input that is not a file.
  package struct Reading: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
      case variable = 118  // v
      case command = 99  // c
      case need = 110  // n
      /// A failed command. Never recorded, since the task is then not up to date.
      case failure = 102  // f
    }

    package var kind: Kind
    /// The variable, command line or task; for a failure a message.
    package var name: [UInt8]
    package var content: PlanKey

    package init(kind: Kind, name: [UInt8], content: PlanKey) {
      self.kind = kind
      self.name = name
      self.content = content
    }
  }

  /// What the result depends on other than files.
  package struct Terms: Equatable, Sendable {
    /// `Fingerprint.whole`.
    package var fingerprint: UInt64
    /// `Plan.declarationDigest`.
    package var declaration: UInt64
    /// See `TaskCheck`.
    package var with: UInt64?
    package var needs: UInt64

    package init(fingerprint: UInt64, declaration: UInt64, with: UInt64?, needs: UInt64) {
      self.fingerprint = fingerprint
      self.declaration = declaration
      self.with = with
      self.needs = needs
    }
  }

  package struct Value: Equatable, Sendable {
    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }

    package var text: [UInt8] { ValueRules.value(ofFile: bytes) }
  }

  package var terms: Terms
  /// Sorted by path.
  package var inputs: SeenFiles
  /// On the way to the inputs, sorted.
  package var links: SeenFiles
  package var readings: [Reading]
  package var outputs: SeenFiles
  /// Link targets among the outputs. Saves reading them again.
  package var targets: SeenFiles = []
  /// Outputs from before the start that the task did not touch. They may be the user's, and are
  /// never removed or replaced.
  package var foundOutputs: [[UInt8]] = []
  /// Outputs from an earlier attempt that the task did not rewrite.
  package var untouchedOutputs: [[UInt8]] = []
  /// Outputs from before the first attempt that the task changed. They may be replaced, and are
  /// never removed.
  package var changedOutputs: [[UInt8]] = []
  /// The three lists are known.
  package var knowsFound = false
  /// nil if no task reads them.
  package var values: [Value]?
  /// The number of the success; before a start, of the success compared with; 0 for none.
  package var origin: UInt64
  package var hash: ContentHash
  /// An allowed failure, kept only by a resume of its run.
  package var isFailure = false
  /// Before a start: requested by the user, so not restored from a cache.
  package var isAsked = false

  package init(
    terms: Terms, inputs: SeenFiles, links: SeenFiles = [], readings: [Reading],
    outputs: SeenFiles = [], values: [Value]? = nil, origin: UInt64 = 0, hash: ContentHash = .quick
  ) {
    self.terms = terms
    self.inputs = inputs
    self.links = links
    self.readings = readings
    self.outputs = outputs
    self.values = values
    self.origin = origin
    self.hash = hash
  }

  /// Names a manifest in records: relative to `home`, the folder of the state folder, if below it,
  /// so that projects can be moved. `path` is the real path, or `-` for standard input; `folder` is
  /// the base of its relative paths. `folder` and `home` are absolute and without links.
  package static func manifestName(_ path: String, in folder: String, home: String) -> String {
    func below(_ path: String) -> String {
      let start = home.hasSuffix("/") ? home : home + "/"
      return path.hasPrefix(start) ? "./" + path.dropFirst(start.count) : path
    }
    return path.hasPrefix("/") ? below(path) : below(folder + "/") + "\0" + path
  }

  /// Identifies a task in all runs of a state folder; `manifest` is its `manifestName`.
  package static func identity(manifest: String, task: UnsafeRawBufferPointer) -> UInt64 {
    var bytes = Array(manifest.utf8)
    bytes.append(0)
    bytes += task
    return Hash.xxh3(bytes)
  }
}

extension SuccessRecord {
  package func namesSecret(_ masker: Masker) -> Bool {
    [inputs, outputs, links, targets].contains { $0.namesSecret(masker) }
      || readings.contains { $0.name.withUnsafeBytes { masker.finds($0) } }
  }

  package var failures: [Staleness] {
    readings.filter { $0.kind == .failure }.map { .reading($0) }
  }

  /// Takes failed commands from `now`, all readings in the same order: the task may have created
  /// what the commands look for.
  package func answered(by now: [Reading]) -> SuccessRecord {
    var record = self
    for place in readings.indices where readings[place].kind == .failure && place < now.count {
      record.readings[place] = now[place]
    }
    return record
  }

  /// The task's own outputs, if known.
  package var madeOutputs: SeenFiles {
    if !knowsFound { return [] }
    if foundOutputs.isEmpty { return outputs }
    let found = Set(foundOutputs)
    return SeenFiles(outputs.lazy.filter { !found.contains($0.path) })
  }

  /// The outputs with targets instead of links, to recognize unmodified files.
  package var followedOutputs: SeenFiles {
    if targets.isEmpty { return outputs }
    let files = outputs.filter { $0.kind != .link && $0.kind != .absent } + targets
    return SeenFiles(files.sorted { $0.path.lexicographicallyPrecedes($1.path) })
  }

  /// `followed` are all outputs, with links followed.
  package mutating func setTargets(_ followed: SeenFiles) {
    let own = Set(outputs.lazy.filter { $0.kind != .link && $0.kind != .absent }.map(\.path))
    targets = SeenFiles(followed.lazy.filter { !own.contains($0.path) })
  }

  /// Empty if the hash differs.
  package func known(by hash: ContentHash) -> SuccessRecord {
    hash == self.hash ? self : SuccessRecord(terms: terms, inputs: [], readings: [], hash: hash)
  }
}

/// Why a task is not up to date.
package enum Staleness: Equatable, Sendable {
  /// No success is known, or the task started since.
  case unknown
  case definition
  /// The declaration of outputs, variables or commands.
  case declaration
  /// Values that the task reads, or its arguments.
  case values
  /// A dependency without declared outputs ran again.
  case needs
  case changed([UInt8])
  case added([UInt8])
  case removed([UInt8])
  /// The same content behind another link text.
  case relinked([UInt8], text: [UInt8])
  case reading(SuccessRecord.Reading)
  case outputGone([UInt8])
  case outputChanged([UInt8])
  case valuesUnknown
  /// The value was not a secret when recorded.
  case valueWithSecret
  /// Another content hash.
  case hash
  case asked
  /// Nothing changed since.
  case failedBefore

  private var text: String {
    func path(_ bytes: [UInt8]) -> String { NameCharacters.text(bytes) }
    switch self {
    // A first run needs no explanation.
    case .unknown: return ""
    case .definition: return "its definition changed"
    case .declaration: return "the declaration of its inputs or outputs changed"
    case .values: return "its arguments or the values that it reads changed"
    case .needs: return "a dependency was re-run"
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
    case .outputGone(let bytes): return "output \(path(bytes)) is missing"
    case .outputChanged(let bytes): return "output \(path(bytes)) changed"
    case .valuesUnknown: return "its dependents read its values, which opflow did not record"
    case .valueWithSecret: return "one of its values contains a secret"
    case .hash: return "the cache was turned on or off, which changes the hashes of files"
    case .asked: return "--rerun"
    case .failedBefore: return "failed last time"
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

  /// At most 200 bytes: `changed: a.c, +b.c, -d.h, env CC; output out/app is missing; … and 3 more`
  package static func text(_ reasons: [Staleness]) -> String {
    // A changed file says more than its dependency's name.
    let hasFile = reasons.contains(where: \.isOfFile)
    let told = reasons.filter { !$0.text.isEmpty && !(hasFile && $0.isOfNeed) }
    let ordered = told.filter(\.isOfInput) + told.filter { !$0.isOfInput }
    var text = ""
    for (place, reason) in ordered.enumerated() {
      let lead =
        place == 0
        ? (reason.isOfInput ? "changed: " : "") : (reason.isOfInput ? ", " : "; ")
      // The first reason is always shown.
      let piece = lead + (place == 0 ? shortened(reason.text) : reason.text)
      guard place < mostTold, text.utf8.count + piece.utf8.count <= mostBytes - countBytes else {
        return text + "; … and \(ordered.count - place) more"
      }
      text += piece
    }
    return text
  }

  private static let countBytes = 30

  /// The end says more about a path.
  private static func shortened(_ text: String) -> String {
    let room = mostBytes - countBytes - "changed: …".utf8.count
    if text.utf8.count <= room { return text }
    let tail = Array(text.utf8.suffix(room).drop { $0 & 0xC0 == 0x80 })
    return "…" + String(decoding: tail, as: UTF8.self)
  }
}

extension SuccessRecord {
  /// Without outputs. `linkText` returns the present text of a link.
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
    // There may be thousands of dependencies.
    if readings != now.readings {
      let (old, names) = (Set(readings), Set(now.readings.map(\.name)))
      reasons += now.readings.lazy.filter { !old.contains($0) }.map { .reading($0) }
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
    // A change behind a link says more than the link.
    var told: Set<[UInt8]> = []
    for path in reasons.compactMap(\.path) {
      told.insert(path)
      for cut in path.indices where path[cut] == UInt8(ascii: "/") {
        told.insert(Array(path[..<cut]))
      }
    }
    return reasons + ofLinks.filter { reason in reason.path.map { !told.contains($0) } ?? true }
  }

  package func differences(ofOutputs now: SeenFiles) -> [Staleness] {
    // Added files are not the task's.
    Self.differences(outputs, now, changed: { .outputChanged($0) }) { _ in
      nil
    } removed: {
      .outputGone($0)
    }
  }

  /// Both must be sorted by path.
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
