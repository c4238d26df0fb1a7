package import OpflowCore

/// A manifest as bytes, and where it comes from.
package struct ManifestSource: Sendable {
  package var bytes: [UInt8]
  /// The path as the user wrote it, for `file:line:column`.
  package var displayPath: String
  /// The real path, `-` for standard input.
  package var path: String
  /// Absolute: what relative paths in the manifest start from.
  package var folder: String
  /// The run's name where the manifest has no `name`: the file's.
  package var defaultName: String

  package init(
    bytes: [UInt8], displayPath: String, path: String, folder: String, defaultName: String
  ) {
    self.bytes = bytes
    self.displayPath = displayPath
    self.path = path
    self.folder = folder
    self.defaultName = defaultName
  }

  /// What is known of a plan's inputs before the manifest is read.
  ///
  /// - Parameter set: `NAME=VALUE` of each `--set`, in order.
  package func inputs(opflowVersion: String, set: [String]) -> PlanInputs {
    var inputs = PlanInputs(opflowVersion: opflowVersion, folder: folder)
    inputs.set = set
    inputs.files = [(path, Hash.planKey(bytes))]
    return inputs
  }
}

/// What a plan depends on besides the manifest.
package struct CompileOptions: Sendable {
  package var runID: String
  /// `--set NAME=VALUE`, in order; the last one of a name wins.
  package var variables: [(name: String, value: String)]
  /// The inherited environment, for `env.NAME` in expressions.
  package var environment: [(name: String, value: String)]
  package var opflowVersion: String
  /// `-j`: capacity of `cpu`. Only decides what is warned of; the plan keeps the manifest's own.
  package var maxParallel: Int?
  /// The machine's, or the cgroup's.
  package var cores: Int
  package var memoryBytes: UInt64
  /// Whether the plan's bytes are wanted; a check does without.
  package var wantsPlan: Bool
  /// Where runs are kept; nil where that is not known.
  package var stateFolder: String?
  /// What the symbolic link at a path names; nil for a path that is none. The one look at the machine's
  /// files, to see that two names are one.
  package var readLink: @Sendable (String) -> String?
  package var fingerprints = FingerprintStyle.relative

  package init(
    runID: String, variables: [(name: String, value: String)] = [],
    environment: [(name: String, value: String)] = [], opflowVersion: String,
    maxParallel: Int? = nil, cores: Int, memoryBytes: UInt64, wantsPlan: Bool = true,
    stateFolder: String? = nil, readLink: @escaping @Sendable (String) -> String? = { _ in nil }
  ) {
    self.stateFolder = stateFolder
    self.readLink = readLink
    self.runID = runID
    self.variables = variables
    self.environment = environment
    self.opflowVersion = opflowVersion
    self.maxParallel = maxParallel
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.wantsPlan = wantsPlan
  }
}

/// A manifest without mistakes.
package struct CompiledManifest: Sendable {
  /// The plan file (`Plan`); nothing when it was not wanted.
  package var planBytes: [UInt8]
  /// What the plan is known by; zero when it was not wanted.
  package var planKey: PlanKey
  /// At most 50.
  package var warnings: [Diagnostic]
  /// What expressions read of the inherited environment, by name; nil for what is not set.
  package var environmentRead: [(name: String, value: String?)]
  /// Whether the plan holds the run's id, and so serves that run only.
  package var usesRunID: Bool
  /// The manifest's `name`, or the file's.
  package var name: String
  package var taskCount: Int
  package var needCount: Int
}

/// Compiles a manifest into a plan.
///
/// The way of the data: bytes, a table of nodes (`YAMLDocument`), values with expressions evaluated
/// (`ValueReader`), plan entries (`ManifestReader`), and the plan's bytes (`PlanBuilder`). Nothing
/// in it touches a file, a clock or a process, but for what the options have it ask.
package enum ManifestCompiler {
  /// The largest manifest that is read.
  package static let maximumBytes = 1 << 30

  /// Whether a manifest that begins so is refused whatever follows, and for what stands here: a value
  /// or nesting without end.
  package static func refuses(beginning bytes: [UInt8]) -> Bool {
    do throws(YAMLFailure) {
      _ = try YAMLDocument(reading: SourceFile(displayPath: "", bytes: bytes))
      return false
    } catch {
      return error.isFinal
    }
  }

  /// - Throws: all mistakes of the manifest at once.
  package static func compile(
    _ source: ManifestSource, options: CompileOptions
  ) throws(ManifestError) -> CompiledManifest {
    let file = SourceFile(displayPath: source.displayPath, bytes: source.bytes)
    let mistakes = Mistakes()
    if let compiled = compile(file, source, options, mistakes) { return compiled }
    throw ManifestError(
      diagnostics: mistakes.diagnostics(.error, in: [file])
        + mistakes.diagnostics(.warning, in: [file]), errorCount: mistakes.errorCount)
  }

  /// Nil when there are mistakes.
  private static func compile(
    _ file: SourceFile, _ source: ManifestSource, _ options: CompileOptions, _ mistakes: Mistakes
  ) -> CompiledManifest? {
    guard source.bytes.count <= maximumBytes else {
      mistakes.error(file.place(0), "the manifest is larger than 1 GiB")
      return nil
    }
    guard let document = SyntaxMistakes.read(file, mistakes) else { return nil }
    var reader = ManifestReader(
      document: document, mistakes: mistakes, source: source, options: options)
    reader.read()
    let key =
      options.wantsPlan
      ? planKey(source, options, reader: reader) : PlanKey(high: 0, low: 0)
    let environmentRead = reader.scope.environmentRead
    let usesRunID = reader.scope.sawRunID
    let name = reader.name
    let counts = (tasks: reader.tasks.count, needs: reader.needs.targets.count)
    guard let plan = reader.finish(key: key) else { return nil }
    return CompiledManifest(
      planBytes: plan, planKey: key,
      warnings: mistakes.diagnostics(.warning, in: [file]),
      environmentRead: environmentRead, usesRunID: usesRunID, name: name,
      taskCount: counts.tasks, needCount: counts.needs)
  }

  private static func planKey(
    _ source: ManifestSource, _ options: CompileOptions, reader: borrowing ManifestReader
  ) -> PlanKey {
    var inputs = source.inputs(
      opflowVersion: options.opflowVersion,
      set: options.variables.map { "\($0.name)=\($0.value)" })
    inputs.environment = reader.scope.environmentRead
    inputs.runID = reader.scope.sawRunID ? options.runID : nil
    return inputs.key
  }
}
