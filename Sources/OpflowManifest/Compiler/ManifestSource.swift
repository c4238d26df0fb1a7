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
  /// Of the file; nil where it has none of its own any more.
  package var number: FileNumber?
  /// What a relative path in the manifest has before it as a person sees it: nothing, or a folder with
  /// its slash. Only asked when there is one.
  package var displayFolder: @Sendable () -> String = { "" }

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
    inputs.files = [PlanFile(path: path, realPath: path, content: Hash.planKey(bytes))]
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
  /// Where runs are kept; nil where that is not known.
  package var stateFolder: String?
  /// What the symbolic link at a path names; nil for a path that is none: to see that two names are one.
  package var readLink: @Sendable (String) -> String?
  /// Reads a further file of the manifest: its absolute path, how many bytes it may have, and whether it
  /// may be missing. It never waits: what is no file is a fault.
  package var readFile: @Sendable (String, Int, Bool) throws(NamedFileFault) -> NamedFile = {
    (_, _, _) throws(NamedFileFault) in throw .missing
  }
  /// The names that a pattern fits in a folder, as seen from there: sorted by their bytes.
  package var fileNames:
    @Sendable (_ pattern: String, _ folder: String)
      -> Result<[String], FileNameFault> = { _, _ in .success([]) }
  package var fingerprints = FingerprintStyle.relative
  /// It may have no task.
  package var mayBeEmpty = false
  /// Secrets that cannot be had, by name: a mistake where a task lists them.
  package var missingSecrets: [String: MissingSecret] = [:]
  /// `interactive` tasks that are to be run where there is no terminal.
  package var tasksWithoutTerminal: Set<String> = []

  package init(
    runID: String, variables: [(name: String, value: String)] = [],
    environment: [(name: String, value: String)] = [], opflowVersion: String,
    maxParallel: Int? = nil, cores: Int, memoryBytes: UInt64,
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
  }
}
