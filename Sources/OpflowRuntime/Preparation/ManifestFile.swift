internal import OpflowBase
package import OpflowManifest
package import OpflowPlan
internal import OpflowSystem
internal import OpflowWorker

package struct ManifestFile {
  package let bytes: [UInt8]
  /// As the user wrote it, for diagnostics.
  package let displayPath: String
  /// `-` for standard input.
  package let realPath: String
  /// The base of relative paths; absolute.
  package let folder: String
  /// For a resume: copies of named files, used if a file is missing.
  var kept = KeptFiles()
  /// Files, and names matched by patterns, to use instead of the current ones.
  var copies = KeptFiles()
  var foundNames: PatternNames?
  /// Tasks may be added later.
  package var mayBeEmpty = false

  package static let defaultName = "opflow.yaml"
  package static let standardInput = "-"

  init(bytes: [UInt8], displayPath: String, realPath: String, folder: String) {
    self.bytes = bytes
    self.displayPath = displayPath
    self.realPath = realPath
    self.folder = folder
  }

  /// A manifest without tasks, in the working directory. An empty `name` means the default.
  package static func none(named name: String) throws(PreparationError) -> ManifestFile {
    do throws(Errno) {
      var manifest = ManifestFile(
        bytes: Array("name: \"\(name.isEmpty ? "serve" : name)\"\ntasks: {}\n".utf8),
        displayPath: "<none>", realPath: standardInput, folder: try Path.workingDirectory())
      manifest.mayBeEmpty = true
      return manifest
    } catch {
      throw .unreadable(manifest: ".", error)
    }
  }

  /// A generated manifest, whose relative paths start at `folder`.
  package static func composed(_ bytes: [UInt8], folder: String) -> ManifestFile {
    ManifestFile(bytes: bytes, displayPath: "<none>", realPath: standardInput, folder: folder)
  }

  /// Accepts a folder with a slash for the manifest in it.
  package static func path(_ word: String) -> String {
    word.hasSuffix("/") ? word + defaultName : word
  }

  package init(at path: String) throws(PreparationError) {
    do throws(Errno) {
      if path == Self.standardInput {
        displayPath = "<stdin>"
        realPath = path
        folder = try Path.workingDirectory()
        bytes = try StandardStream.input.duplicateToRead().readAll(atMost: Self.mostBytes)
      } else if let pipe = try Self.pipe(path) {
        displayPath = path
        realPath = Self.standardInput
        folder = try Path.workingDirectory()
        bytes = try pipe.readAll(atMost: Self.mostBytes)
      } else {
        displayPath = path
        realPath = try Path.real(path)
        folder = Path.parent(of: realPath)
        bytes = try Self.read(realPath)
      }
    } catch {
      throw .unreadable(manifest: path, error)
    }
  }

  /// Opens a file that can be read only once: a pipe such as `<(…)`, a terminal, or an unlinked
  /// file in /proc such as a here-document. It is treated like standard input, since it cannot be
  /// found again. Returns nil for other files.
  private static func pipe(_ path: String) throws(Errno) -> Descriptor? {
    switch try Path.status(path).kind {
    case .directory: return nil
    case .file, .link:
      do throws(Errno) {
        _ = try Path.real(path)
        return nil
      } catch {
        if error != .noSuchFile { return nil }
      }
    case .device, .fifo, .socket, .other: break
    }
    return try File.open(path, .readOnly)
  }

  /// A very large manifest is checked this far first: a value of a gigabyte must not take a
  /// gigabyte of memory.
  private static let beginningBytes = 16 << 20
  private static let largeBytes = 64 << 20

  /// One byte above the limit, so that the compiler reports a too large manifest.
  static let mostBytes = ManifestCompiler.maximumBytes + 1

  private static func read(_ path: String) throws(Errno) -> [UInt8] {
    let file = try File.open(path, .readOnly)
    if try file.status().sizeBytes > largeBytes {
      let beginning = try file.readAll(atMost: beginningBytes)
      if ManifestCompiler.refuses(beginning: beginning) { return beginning }
      try file.seek(to: 0)
    }
    return try file.readAll(atMost: mostBytes)
  }

  package func compile(
    runID: String, set: [String], maxParallel: UInt32?, state: StateFolder? = nil,
    fingerprints: FingerprintStyle = .relative
  ) throws(PreparationError) -> CompiledManifest {
    var options = options(runID: runID, set: set, maxParallel: maxParallel, state: state)
    options.fingerprints = fingerprints
    return try rethrowing(ManifestCompiler.compile(source, options: options)) {
      PreparationError.diagnostics($0)
    }
  }

  /// Compiles a segment of a run's plan. `generator` is the task that adds it, or `none`.
  func compile(
    addedTo plan: Plan, by generator: TaskID, runID: String, state: StateFolder
  ) throws(PreparationError) -> CompiledSegment {
    let options = options(runID: runID, set: [], maxParallel: nil, state: state)
    return try rethrowing(
      ManifestCompiler.compile(
        source, addedTo: plan, by: generator.isNone ? nil : generator, options: options)
    ) { PreparationError.diagnostics($0) }
  }

  /// Compiles the matrix tasks that `maker` generates; nil if the manifest declares no such matrix.
  func compileInstances(
    madeBy maker: TaskID, of plan: Plan, runID: String, set: [String], state: StateFolder
  ) throws(PreparationError) -> CompiledSegment? {
    let options = options(runID: runID, set: set, maxParallel: nil, state: state)
    return try rethrowing(
      ManifestCompiler.compileInstances(source, madeBy: maker, of: plan, options: options)
    ) { PreparationError.diagnostics($0) }
  }

  /// Gives errors that `note` adds their places; `plain` if the manifest has changed meanwhile.
  func placing(
    _ plain: PreparationError, runID: String, set: [String], maxParallel: UInt32?,
    noting note: (inout CompileOptions) -> Void
  ) -> PreparationError {
    var options = options(runID: runID, set: set, maxParallel: maxParallel, state: nil)
    note(&options)
    do throws(ManifestError) {
      _ = try ManifestCompiler.check(source, options: options)
      return plain
    } catch {
      return .diagnostics(error)
    }
  }

  package func check(set: [String], state: StateFolder) throws(PreparationError) -> CheckedManifest
  {
    let options = options(runID: Self.runIDOfCheck, set: set, maxParallel: nil, state: state)
    return try rethrowing(ManifestCompiler.check(source, options: options)) {
      PreparationError.diagnostics($0)
    }
  }

  /// `run.id` outside a run.
  package static let runIDOfCheck = "check"

  private func options(
    runID: String, set: [String], maxParallel: UInt32?, state: StateFolder?
  ) -> CompileOptions {
    var options = CompileOptions(
      runID: runID, variables: set.map(Self.pair),
      environment: Environment.entries().map { Self.pair(String(decoding: $0, as: UTF8.self)) },
      opflowVersion: Version.text, maxParallel: maxParallel.map { Int($0) },
      cores: Machine.cores, memoryBytes: Machine.memoryBytes,
      stateFolder: (state ?? StateFolder.beside(manifest: "\(folder)/-")).path,
      readLink: { try? Path.linkTarget($0) })
    options.mayBeEmpty = mayBeEmpty
    options.readFile = furtherFile
    options.fileNames = names
    return options
  }

  private var names: @Sendable (String, String) -> Result<[String], FileNameFault> {
    let (copies, folder, found) = (copies, folder, foundNames)
    return { pattern, start in
      let path = PatternNames.path(pattern, in: KeptFiles.relative(start, to: folder))
      if let names = copies.bytes(of: path, from: folder) {
        found?.add(path, names)
        return .success(PatternNames.names(in: names))
      }
      let result = FileNames.texts(fitting: pattern, in: start)
      if case .success(let names) = result { found?.add(path, PatternNames.bytes(names)) }
      return result
    }
  }

  /// Reads the files that the manifest names, or copies of missing files that are not optional.
  private var furtherFile: @Sendable (String, Int, Bool) throws(NamedFileFault) -> NamedFile {
    let (kept, copies, folder, manifest) = (kept, copies, folder, realPath)
    return { (path, limit, mayBeMissing) throws(NamedFileFault) in
      if let bytes = copies.bytes(of: path, from: folder) { return Self.copy(bytes, of: path) }
      do throws(NamedFileFault) {
        let file = try FurtherFile.read(path, atMost: limit)
        if mayBeMissing { try Self.expectTrusted(path, of: manifest) }
        return file
      } catch {
        guard error == .missing, !mayBeMissing, let bytes = kept.bytes(of: path, from: folder)
        else { throw error }
        return Self.copy(bytes, of: path)
      }
    }
  }

  /// In a folder like `/tmp` any user could create an optional file.
  private static func expectTrusted(_ path: String, of manifest: String) throws(NamedFileFault) {
    let writers = TrustedWriters.own.including(writersOf: manifest)
    guard let foreign = writers.doubt(path) else { return }
    throw .failed("\(foreign); if you trust it, name it without the `?`")
  }

  private static func copy(_ bytes: [UInt8], of path: String) -> NamedFile {
    // Differs from all real files.
    let number = FileNumber(device: .max, inode: Hash.xxh3(Array(path.utf8)))
    return NamedFile(bytes: bytes, realPath: path, number: number)
  }

  /// Compiles like an older opflow, in the original folder, for its fingerprints.
  func compileAsBefore(
    runID: String, set: [String], folder: String
  ) throws(PreparationError) -> Plan {
    let old = ManifestFile(
      bytes: bytes, displayPath: displayPath, realPath: realPath, folder: folder)
    let compiled = try old.compile(
      runID: runID, set: set, maxParallel: nil, fingerprints: .absolute)
    return try compiled.openPlan()
  }

  package func expectTasks(_ words: [String], in plan: Plan) throws(PreparationError) {
    for word in words {
      do throws(UnfitSelector) {
        _ = try Selector.tasks([word], of: plan)
      } catch {
        let names =
          word.hasPrefix("tag:")
          ? Array(Selector.tags(of: plan).prefix(Self.mostTasksTold))
          : Array(plan.foldedNames.prefix(Self.mostTasksTold + 1))
        throw .noSuchTask(error, manifest: displayPath, tasks: names)
      }
    }
  }

  package static let mostTasksTold = 20

  func inputs(set: [String]) -> PlanInputs {
    source.inputs(opflowVersion: Version.text, set: set)
  }

  private var source: ManifestSource {
    var source = ManifestSource(
      bytes: bytes, displayPath: displayPath, path: realPath, folder: folder,
      defaultName: defaultName)
    let (displayPath, folder) = (displayPath, folder)
    source.displayFolder = { Self.displayFolder(displayPath, folder: folder) }
    if realPath != Self.standardInput, let status = try? Path.status(realPath) {
      source.number = FileNumber(device: status.identity.device, inode: status.identity.inode)
    }
    return source
  }

  /// The prefix of shown relative paths: the folder as the user wrote it, if it is the manifest's.
  private static func displayFolder(_ displayPath: String, folder: String) -> String {
    let slash = displayPath.lastIndex(of: "/")
    let written = slash.map { String(displayPath[...$0]) } ?? ""
    if (try? Path.real(written.isEmpty ? "." : written)) == folder { return written }
    return folder == "/" ? folder : folder + "/"
  }

  private var defaultName: String {
    if realPath == Self.standardInput { return "stdin" }
    return Path.name(realPath)
  }

  private static func pair(_ text: String) -> (name: String, value: String) {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (text, "") }
    return (String(text[..<equals]), String(text[text.utf8.index(after: equals)...]))
  }
}

/// Reads the files that a manifest names, but no FIFOs, devices or sockets, which could block.
enum FurtherFile {
  static func read(_ path: String, atMost limit: Int) throws(NamedFileFault) -> NamedFile {
    let status: FileStatus
    let realPath: String
    let bytes: [UInt8]
    do throws(Errno) {
      (status, realPath) = (try Path.status(path), try Path.real(path))
    } catch {
      throw error == .noSuchFile ? .missing : .failed("\(error)")
    }
    if let kind = words(for: status.kind) { throw .noFile(kind) }
    // Error messages show a file's first line: /proc/self/environ would reveal the environment.
    if isOfProcesses(status) { throw .noFile("an entry of /proc") }
    if status.sizeBytes > limit { throw .tooLarge }
    bytes = try rethrowing(File.openRegular(realPath, .readOnly).readAll(atMost: limit + 1)) {
      NamedFileFault.failed("\($0)")
    }
    if bytes.count > limit { throw .tooLarge }
    return NamedFile(
      bytes: bytes, realPath: realPath,
      number: FileNumber(device: status.identity.device, inode: status.identity.inode))
  }

  /// Returns nil if the file cannot be read.
  static func planFile(_ path: String) -> PlanFile? {
    do throws(Errno) {
      let realPath = try Path.real(path)
      guard try Path.status(realPath).kind == .file else { return nil }
      let content = try FileHash.planKey(realPath)
      return PlanFile(path: path, realPath: realPath, content: content)
    } catch {
      return error == .noSuchFile ? PlanFile(missing: path) : nil
    }
  }

  private static func isOfProcesses(_ status: FileStatus) -> Bool {
    (try? Path.linkStatus("/proc/self"))?.identity.device == status.identity.device
  }

  private static func words(for kind: FileStatus.Kind) -> String? {
    switch kind {
    case .file: nil
    case .directory: "a folder"
    case .link: "a link"
    case .device: "a device"
    case .fifo: "a FIFO"
    case .socket: "a socket"
    case .other: "a special file"
    }
  }
}

/// The file names that matched a manifest's patterns, stored like copies of files, to compile the
/// manifest again.
final class PatternNames: @unchecked Sendable {
  // SAFETY: @unchecked, because one thread compiles the manifest, and this is read only afterwards.

  private(set) var all: [(path: String, bytes: [UInt8])] = []

  func add(_ path: String, _ bytes: [UInt8]) { all.append((path, bytes)) }

  /// Differs from all real paths.
  static func path(_ pattern: String, in folder: String) -> String {
    "//names/\(folder)//\(pattern)"
  }

  static func bytes(_ names: [String]) -> [UInt8] {
    Array(names.joined(separator: "\0").utf8)
  }

  static func names(in bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension ManifestFile {
  /// Returns a plan for its names: an earlier run's if current, else compiled now, else the newest
  /// run's.
  package func planToGlanceAt(_ state: StateFolder) -> Plan? {
    let inputs = inputs(set: [])
    let earlier = try? state.runs(ofManifest: realPath, amongNewest: Self.mostRunsGlancedAt)
    var newest: Plan?
    for run in earlier.map({ Array($0) }) ?? [] {
      guard let plan = try? run.openPlan(verifyingChecksum: false) else { continue }
      let isOfManifest = !plan.hasRoom
      if isOfManifest, plan.inputs(ifCurrent: inputs, runID: Self.runIDOfCheck) != nil {
        return plan
      }
      newest = newest ?? plan
    }
    guard bytes.count <= Self.mostBytesCompiled,
      let compiled = try? compile(runID: Self.runIDOfCheck, set: [], maxParallel: nil, state: state)
    else { return newest }
    return (try? compiled.openPlan()) ?? newest
  }

  private static let mostRunsGlancedAt = 3
  /// The user waits for the compilation.
  private static let mostBytesCompiled = 4 << 20
}
