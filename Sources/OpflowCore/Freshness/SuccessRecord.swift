/// What a task read and made when it succeeded last, in any run of a state folder: by this it is known
/// whether it is up to date.
package struct SuccessRecord: Equatable, Sendable {
  /// Something that is no file and counts: a variable, a command, what a need left.
  package struct Reading: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
      case variable = 118  // v
      case command = 99  // c
      /// The outputs of a task that it needs.
      case need = 110  // n
      /// A command that failed. No record has one: a task of which an input failed is not up to date.
      case failure = 102  // f
    }

    package var kind: Kind
    /// The variable, the words, the task; of a failure what failed and how, for people.
    package var name: [UInt8]
    package var content: PlanKey

    package init(kind: Kind, name: [UInt8], content: PlanKey) {
      self.kind = kind
      self.name = name
      self.content = content
    }
  }

  /// What was asked, and how the task is declared.
  package struct Terms: Equatable, Sendable {
    /// Of the definition (`Fingerprint.whole`).
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

  /// What it left for others.
  package struct Value: Equatable, Sendable {
    package var name: String
    /// Of its file.
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }

    package var text: [UInt8] { ValueRules.value(ofFile: bytes) }
  }

  package var terms: Terms
  /// Sorted by their paths.
  package var inputs: SeenFiles
  /// The links on the way to them, sorted too.
  package var links: SeenFiles
  package var readings: [Reading]
  package var outputs: SeenFiles
  /// What links among its outputs led to when a task that needs it looked: a memory, and nothing that decides.
  package var targets: SeenFiles = []
  /// Paths of outputs that lay there before the task started, and that it did not touch: they may be somebody's
  /// own, so that nothing is removed or replaced by what is known of them.
  package var foundOutputs: [[UInt8]] = []
  /// The same of outputs that an earlier attempt of the task made: it does not write again what is there.
  package var untouchedOutputs: [[UInt8]] = []
  /// Whether both lists are known: what lay there was looked at before the start.
  package var knowsFound = false
  /// Nil where nobody was to read any, so that nobody looked.
  package var values: [Value]?
  /// A number of this success alone. Of what is seen before a start: that of the success which the check compared it
  /// with, or 0 for none.
  package var origin: UInt64
  /// By which all contents in it are known.
  package var hash: ContentHash
  /// It is of a failure that is allowed: only a resume of its run keeps that.
  package var isFailure = false
  /// Of what is seen before a start: it runs since somebody asked for that, so that nothing is brought back
  /// from a cache.
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

  /// What records call a manifest: its path as seen from the folder that the state folder stands in, where it
  /// lies below that, so that a project may be moved or renamed.
  ///
  /// - Parameters:
  ///   - path: the real one, or `-` for standard input.
  ///   - folder: in which its relative paths start. Absolute, like `home`, and both without links.
  ///   - home: the folder that the state folder stands in.
  package static func manifestName(_ path: String, in folder: String, home: String) -> String {
    func below(_ path: String) -> String {
      let start = home.hasSuffix("/") ? home : home + "/"
      return path.hasPrefix(start) ? "./" + path.dropFirst(start.count) : path
    }
    return path.hasPrefix("/") ? below(path) : below(folder + "/") + "\0" + path
  }

  /// The task of a manifest, in all runs of a state folder.
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
  /// Whether the name of a file, or of what it reads besides, holds a secret: records are written down. Of
  /// values others look for that.
  package func namesSecret(_ masker: Masker) -> Bool {
    inputs.namesSecret(masker) || outputs.namesSecret(masker)
      || readings.contains { $0.name.withUnsafeBytes { masker.finds($0) } }
  }

  /// Commands among its inputs that failed.
  package var failures: [Staleness] {
    readings.filter { $0.kind == .failure }.map { .reading($0) }
  }

  /// The same with what those commands print now that failed before: the task may have made what they ask for.
  ///
  /// - Parameter now: all readings of the task, in the same order.
  package func answered(by now: [Reading]) -> SuccessRecord {
    var record = self
    for place in readings.indices where readings[place].kind == .failure && place < now.count {
      record.readings[place] = now[place]
    }
    return record
  }

  /// Those of its outputs that it made, as far as that is known.
  package var madeOutputs: SeenFiles {
    if !knowsFound { return [] }
    if foundOutputs.isEmpty { return outputs }
    let found = Set(foundOutputs)
    return SeenFiles(outputs.lazy.filter { !found.contains($0.path) })
  }

  /// What serves as a memory of the outputs and of what links among them lead to.
  package var followedOutputs: SeenFiles {
    if targets.isEmpty { return outputs }
    let files = outputs.filter { $0.kind != .link && $0.kind != .absent } + targets
    return SeenFiles(files.sorted { $0.path.lexicographicallyPrecedes($1.path) })
  }

  /// Notes what the links among the outputs lead to.
  ///
  /// - Parameter followed: all outputs, with links followed.
  package mutating func setTargets(_ followed: SeenFiles) {
    let own = Set(outputs.lazy.filter { $0.kind != .link && $0.kind != .absent }.map(\.path))
    targets = SeenFiles(followed.lazy.filter { !own.contains($0.path) })
  }

  /// What serves as a memory of contents where these are known by that hash.
  package func known(by hash: ContentHash) -> SuccessRecord {
    hash == self.hash ? self : SuccessRecord(terms: terms, inputs: [], readings: [], hash: hash)
  }
}
