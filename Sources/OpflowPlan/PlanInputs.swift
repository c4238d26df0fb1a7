package import OpflowBase

package struct PlanFile: Equatable, Sendable {
  /// As included; for the manifest its real path.
  package var path: String
  /// Relative paths start there, so a changed link is a new plan.
  package var realPath: String
  package var content: PlanKey

  package init(path: String, realPath: String, content: PlanKey) {
    self.path = path
    self.realPath = realPath
    self.content = content
  }

  package init(missing path: String) {
    self.init(path: path, realPath: "", content: PlanKey(high: 0, low: 0))
  }
}

/// All inputs of a plan, except `-j` and capacities. Runs with equal keys share the plan.
package struct PlanInputs: Sendable {
  package var opflowVersion: String
  package var folder: String
  package var set: [String] = []
  package var files: [PlanFile] = []
  /// In reading order.
  package var globs: [FoundNames] = []
  /// Inherited variables that expressions read; nil if unset.
  package var environment: [(name: String, value: String?)] = []
  /// Set if the manifest reads the run's ID; such a plan is never shared.
  package var runID: String?

  package struct FoundNames: Sendable {
    package var pattern: String
    package var folder: String
    package var hash: PlanKey

    package init(pattern: String, folder: String, hash: PlanKey) {
      self.pattern = pattern
      self.folder = folder
      self.hash = hash
    }

    /// NUL separates names, which cannot contain it.
    package static func hash(of names: [String]) -> PlanKey {
      var bytes: [UInt8] = []
      for name in names {
        bytes += name.utf8
        bytes.append(0)
      }
      return Hash.planKey(bytes)
    }
  }

  package init(opflowVersion: String, folder: String) {
    self.opflowVersion = opflowVersion
    self.folder = folder
  }

  /// Lengths precede lists: different inputs never have equal bytes.
  package var key: PlanKey {
    var fields = FieldWriter()
    fields.number(PlanFormat.version)
    for text in [opflowVersion, folder] { add(text, to: &fields) }
    add(count: set.count, to: &fields)
    for text in set { add(text, to: &fields) }
    add(count: files.count, to: &fields)
    for file in files {
      add(file.path, to: &fields)
      add(file.realPath, to: &fields)
      add(file.content.description, to: &fields)
    }
    add(count: globs.count, to: &fields)
    for glob in globs {
      for text in [glob.pattern, glob.folder, glob.hash.description] { add(text, to: &fields) }
    }
    add(count: environment.count, to: &fields)
    for (name, value) in environment {
      add(name, to: &fields)
      add(value.map { "set \($0)" } ?? "unset", to: &fields)
    }
    add(count: runID == nil ? 0 : 1, to: &fields)
    if let runID { add(runID, to: &fields) }
    return Hash.planKey(fields.bytes)
  }

  private func add(_ text: String, to fields: inout FieldWriter) {
    fields.tab()
    fields.escaped(text)
  }

  private func add(count: Int, to fields: inout FieldWriter) {
    fields.tab()
    fields.number(count)
  }
}

extension Plan {
  /// Returns the current inputs if they still give this plan. Works before validation. `inputs`
  /// lacks included files, variables and run ID.
  package func inputs(
    ifCurrent inputs: PlanInputs, runID: String, file: (String) -> PlanFile?,
    names: (_ pattern: String, _ folder: String) -> [String]? = { _, _ in nil },
    variable: (String) -> String?
  ) -> PlanInputs? {
    guard files.allSatisfy(isSound), environmentNames.allSatisfy(isSound),
      globs.allSatisfy({ isSound($0.pattern) && isSound($0.folder) }),
      files.first.map(string) == inputs.files.first?.path
    else { return nil }
    var inputs = inputs
    for known in files.dropFirst() {
      guard let file = file(string(known)) else { return nil }
      inputs.files.append(file)
    }
    for glob in globs {
      let (pattern, folder) = (string(glob.pattern), string(glob.folder))
      guard let names = names(pattern, folder) else { return nil }
      inputs.globs.append(
        PlanInputs.FoundNames(
          pattern: pattern, folder: folder, hash: PlanInputs.FoundNames.hash(of: names)))
    }
    inputs.environment = environmentRead(variable)
    inputs.runID = manifest.usesRunID == 1 ? runID : nil
    return inputs.key == key ? inputs : nil
  }

  package var filesRead: [String] { files.map(string) }

  package var patternsRead: [(pattern: String, folder: String)] {
    globs.map { (string($0.pattern), string($0.folder)) }
  }

  package func environmentRead(
    _ variable: (String) -> String?
  ) -> [(name: String, value: String?)] {
    environmentNames.map { (string($0), variable(string($0))) }
  }

  /// A compilation warned before, or a task wants more than a capacity.
  package func mayWarn(_ capacities: [UInt64]) -> Bool {
    manifest.hasWarnings == 1
      || demandItems.contains { $0.amount > capacities[Int($0.resource)] }
  }
}

/// A resume keeps a success only if its fingerprint is unchanged.
package struct Fingerprint: Hashable, Sendable, BitwiseCopyable {
  package var whole: UInt64
  /// The low eight bits of each part's hash, `Part.run` lowest; for messages only.
  package var parts: UInt64

  package init(whole: UInt64, parts: UInt64) {
    self.whole = whole
    self.parts = parts
  }

  /// A change between `run` and `download` is reported as `run`.
  package enum Part: UInt64, CaseIterable, Sendable {
    case run, env, dir, shell, needs, download
    /// Values of other tasks. Compared separately, not in `parts`.
    case values
  }

  package func changedPart(from old: Fingerprint) -> Part? {
    Part.allCases.first { part in
      (whole != old.whole)
        && (parts >> (part.rawValue * 8)) & 255 != (old.parts >> (part.rawValue * 8)) & 255
    }
  }
}

/// Plans use `relative`; journals of older versions have `absolute`.
package enum FingerprintStyle: Sendable {
  /// Relative to the manifest's folder if below it, so that a project can be moved.
  case relative
  case absolute
}

/// Lengths precede strings: different lists never give equal bytes.
package struct FingerprintHasher {
  private var bytes: [UInt8] = []
  private var wholes: [UInt64] = []
  private var parts: UInt64 = 0

  package init() {}

  package mutating func add(_ text: UnsafeRawBufferPointer) {
    add(UInt64(text.count))
    bytes.append(contentsOf: text)
  }

  package mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func end(_ part: Fingerprint.Part) {
    let hash = Hash.xxh3(bytes)
    bytes.removeAll(keepingCapacity: true)
    wholes.append(part.rawValue.littleEndian)
    wholes.append(hash.littleEndian)
    parts |= (hash & 255) << (part.rawValue * 8)
  }

  package mutating func finish() -> Fingerprint {
    defer {
      wholes.removeAll(keepingCapacity: true)
      parts = 0
    }
    return Fingerprint(whole: wholes.withUnsafeBytes { Hash.xxh3($0) }, parts: parts)
  }
}
