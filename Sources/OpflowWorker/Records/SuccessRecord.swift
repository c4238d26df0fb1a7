package import OpflowBase
package import OpflowPlan

/// A task's last success in a state folder, which decides whether it is up to date.
package struct SuccessRecord: Equatable, Sendable {
  /// An input that is not a file.
  package struct Reading: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
      case variable = 118  // v
      case command = 99  // c
      /// The outputs of a dependency.
      case need = 110  // n
      /// Of a command. Never recorded, since the task is then not up to date.
      case failure = 102  // f
    }

    package var kind: Kind
    /// The variable, command line or task; of a failure a message.
    package var name: [UInt8]
    package var content: PlanKey

    package init(kind: Kind, name: [UInt8], content: PlanKey) {
      self.kind = kind
      self.name = name
      self.content = content
    }
  }

  /// What the result depends on apart from files.
  package struct Terms: Equatable, Sendable {
    /// `Fingerprint.whole`
    package var fingerprint: UInt64
    /// `Plan.declarationDigest`
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
  /// Of links among the outputs when last read. Saves reading them again.
  package var targets: SeenFiles = []
  /// From before the start, not touched by the task. They may be the user's, and are never removed
  /// or replaced.
  package var foundOutputs: [[UInt8]] = []
  /// From an earlier attempt; the task did not rewrite them.
  package var untouchedOutputs: [[UInt8]] = []
  /// From before the first attempt, changed by the task. They may be replaced, and are never
  /// removed.
  package var changedOutputs: [[UInt8]] = []
  /// The three lists are known.
  package var knowsFound = false
  /// Nil if no task was to read them.
  package var values: [Value]?
  /// Before a start: that of the success compared with; 0 for none.
  package var origin: UInt64
  package var hash: ContentHash
  /// An allowed failure, kept only by a resume of its run.
  package var isFailure = false
  /// Before a start: requested by the user, so not restored from a cache.
  package var isAsked = false

  package init(
    terms: Terms, inputs: SeenFiles, links: SeenFiles = [], readings: [Reading],
    outputs: SeenFiles = [],
    values: [Value]? = nil, origin: UInt64 = 0, hash: ContentHash = .quick
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

  /// Names a manifest in records: relative to `home` if below it, so that projects can be moved.
  ///
  /// - Parameters:
  ///   - path: the real path, or `-` for standard input.
  ///   - folder: where its relative paths start; absolute, without links.
  ///   - home: the folder of the state folder; absolute, without links.
  package static func manifestName(_ path: String, in folder: String, home: String) -> String {
    func below(_ path: String) -> String {
      let start = home.hasSuffix("/") ? home : home + "/"
      return path.hasPrefix(start) ? "./" + path.dropFirst(start.count) : path
    }
    return path.hasPrefix("/") ? below(path) : below(folder + "/") + "\0" + path
  }

  /// Identifies a task in all runs of a state folder.
  ///
  /// - Parameter manifest: its `manifestName`.
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

  /// With the present output of commands that failed before: the task may have created what they
  /// look for.
  ///
  /// - Parameter now: all readings, in the same order.
  package func answered(by now: [Reading]) -> SuccessRecord {
    var record = self
    for place in readings.indices where readings[place].kind == .failure && place < now.count {
      record.readings[place] = now[place]
    }
    return record
  }

  /// Outputs that the task made, if known.
  package var madeOutputs: SeenFiles {
    if !knowsFound { return [] }
    if foundOutputs.isEmpty { return outputs }
    let found = Set(foundOutputs)
    return SeenFiles(outputs.lazy.filter { !found.contains($0.path) })
  }

  /// Targets in place of links, to recognize unmodified files.
  package var followedOutputs: SeenFiles {
    if targets.isEmpty { return outputs }
    let files = outputs.filter { $0.kind != .link && $0.kind != .absent } + targets
    return SeenFiles(files.sorted { $0.path.lexicographicallyPrecedes($1.path) })
  }

  /// - Parameter followed: all outputs, with links followed.
  package mutating func setTargets(_ followed: SeenFiles) {
    let own = Set(outputs.lazy.filter { $0.kind != .link && $0.kind != .absent }.map(\.path))
    targets = SeenFiles(followed.lazy.filter { !own.contains($0.path) })
  }

  /// Empty if the hash differs.
  package func known(by hash: ContentHash) -> SuccessRecord {
    hash == self.hash ? self : SuccessRecord(terms: terms, inputs: [], readings: [], hash: hash)
  }
}
