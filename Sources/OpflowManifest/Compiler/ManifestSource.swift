internal import OpflowBase
package import OpflowPlan

package struct ManifestSource: Sendable {
  package var bytes: [UInt8]
  /// The path as the user wrote it.
  package var displayPath: String
  /// The real path, or `-` for standard input.
  package var path: String
  /// The base of relative paths; absolute.
  package var folder: String
  /// The name of the run if the manifest has no `name`.
  package var defaultName: String
  /// Nil for standard input, and for a file that is gone.
  package var number: FileNumber?
  /// Returns the prefix to show before relative paths: empty, or a folder with its slash. Called
  /// only if needed.
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

  /// Inputs that are known before the manifest is read.
  ///
  /// - Parameter set: `NAME=VALUE` of each `--set`.
  package func inputs(opflowVersion: String, set: [String]) -> PlanInputs {
    var inputs = PlanInputs(opflowVersion: opflowVersion, folder: folder)
    inputs.set = set
    inputs.files = [PlanFile(path: path, realPath: path, content: Hash.planKey(bytes))]
    return inputs
  }
}

/// Everything else that a plan depends on.
package struct CompileOptions: Sendable {
  package var runID: String
  /// The values of `--set` in order; the last one of a name wins.
  package var variables: [(name: String, value: String)]
  /// For `env.NAME` in expressions.
  package var environment: [(name: String, value: String)]
  package var opflowVersion: String
  /// `-j`, the capacity of `cpu`. Affects only warnings.
  package var maxParallel: Int?
  /// The CPUs of the computer or the cgroup.
  package var cores: Int
  package var memoryBytes: UInt64
  /// Nil if unknown.
  package var stateFolder: String?
  package var readLink: @Sendable (String) -> String?
  /// Takes an absolute path, a size limit and true if the file may be missing. Must not block, so
  /// only regular files are allowed.
  package var readFile: @Sendable (String, Int, Bool) throws(NamedFileFault) -> NamedFile = {
    (_, _, _) throws(NamedFileFault) in throw .missing
  }
  /// Relative to the folder and sorted by bytes.
  package var fileNames:
    @Sendable (_ pattern: String, _ folder: String)
      -> Result<[String], FileNameFault> = { _, _ in .success([]) }
  package var fingerprints = FingerprintStyle.relative
  package var mayBeEmpty = false
  /// Unavailable secrets by name; an error where tasks list them.
  package var missingSecrets: [String: MissingSecret] = [:]
  /// The selected `interactive` tasks if there is no terminal.
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

package struct NamedFile: Sendable {
  package var bytes: [UInt8]
  /// Without symbolic links.
  package var realPath: String
  package var number: FileNumber

  package init(bytes: [UInt8], realPath: String, number: FileNumber) {
    self.bytes = bytes
    self.realPath = realPath
    self.number = number
  }
}

/// Equal for two names of a file.
package struct FileNumber: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

package enum NamedFileFault: Error, Equatable, Sendable {
  case missing
  /// Such as `a folder`.
  case noFile(String)
  case tooLarge
  /// The error message of the system.
  case failed(String)
}
