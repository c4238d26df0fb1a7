/// A file that a plan was compiled from.
package struct PlanFile: Equatable, Sendable {
  /// By which it is looked for; of the root its real path.
  package var path: String
  /// With no symbolic link in it: a link that leads elsewhere now makes another plan, since paths in the
  /// file start from its folder.
  package var realPath: String
  /// Of its bytes.
  package var content: PlanKey

  package init(path: String, realPath: String, content: PlanKey) {
    self.path = path
    self.realPath = realPath
    self.content = content
  }

  /// One that may be missing, and is.
  package init(missing path: String) {
    self.init(path: path, realPath: "", content: PlanKey(high: 0, low: 0))
  }
}

/// All that a plan was compiled from. Two plans of equal inputs are the same bytes, so a plan is known
/// by a hash of them, its key, and serves any run or resume for which that comes out the same.
///
/// `-j` and the machine's capacities are no part of it: a plan holds what the manifest says.
package struct PlanInputs: Sendable {
  package var opflowVersion: String
  /// Where relative paths start from.
  package var folder: String
  /// `NAME=VALUE` of each `--set`, in order.
  package var set: [String] = []
  /// All files of the manifest, the root first.
  package var files: [PlanFile] = []
  /// The patterns on names of files that legs are made of, in the order in which they are read.
  package var globs: [FoundNames] = []
  /// What expressions read of the inherited environment, by name; nil for what is not set.
  package var environment: [(name: String, value: String?)] = []
  /// Of a plan that speaks of it, which is never shared with another run.
  package var runID: String?

  /// A pattern, and what fits it.
  package struct FoundNames: Sendable {
    package var pattern: String
    /// Where it begins.
    package var folder: String
    /// Of the names that fit.
    package var hash: PlanKey

    package init(pattern: String, folder: String, hash: PlanKey) {
      self.pattern = pattern
      self.folder = folder
      self.hash = hash
    }

    /// No name holds a NUL.
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

  /// XXH3-128 of everything. Counts stand before lists, so that no two inputs read alike.
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
  /// What this plan was compiled from, where a compilation would make the same now; nil where it would
  /// not. The plan need not have been validated.
  ///
  /// - Parameters:
  ///   - inputs: those of now, but for what only a compiled plan knows: which files the manifest
  ///     includes, which variables its expressions read and whether they speak of the run's id.
  ///   - runID: of the run that the plan is to serve.
  ///   - file: a further file as it is now, by its path; nil where it cannot be read.
  ///   - names: what fits a pattern in a folder; nil where that cannot be found out.
  ///   - variable: a variable of the inherited environment; nil where it is not set.
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

  /// The paths of the files that it was compiled from, the manifest's first.
  package var filesRead: [String] { files.map(string) }

  /// The patterns that names of files were looked for by, each with where it begins.
  package var patternsRead: [(pattern: String, folder: String)] {
    globs.map { (string($0.pattern), string($0.folder)) }
  }

  /// What expressions read of the inherited environment, with the values that it has now.
  package func environmentRead(
    _ variable: (String) -> String?
  ) -> [(name: String, value: String?)] {
    environmentNames.map { (string($0), variable(string($0))) }
  }

  /// Whether compiling the manifest again would have something to say besides: it did before, or a
  /// task wants more than there is.
  ///
  /// - Parameter capacities: how much there is of each of the plan's resources.
  package func mayWarn(_ capacities: [UInt64]) -> Bool {
    manifest.hasWarnings == 1
      || demandItems.contains { $0.amount > capacities[Int($0.resource)] }
  }
}
