package import OpflowCore
package import OpflowManifest
internal import OpflowSystem
internal import OpflowWorker

/// A manifest, read whole.
package struct ManifestFile {
  package let bytes: [UInt8]
  /// As the person wrote it, for diagnostics.
  package let displayPath: String
  /// `-` for standard input.
  package let realPath: String
  /// Absolute: where relative paths in it start.
  package let folder: String
  /// Of a run that is resumed: copies of the files that it names.
  var kept = KeptFiles()
  /// What is taken as it is here, whatever is there by now; and names of files that patterns fitted.
  var copies = KeptFiles()
  /// Gets the names that patterns fit.
  var foundNames: PatternNames?
  /// It may have no task: they are added later.
  package var mayBeEmpty = false

  package static let defaultName = "opflow.yaml"
  package static let standardInput = "-"

  init(bytes: [UInt8], displayPath: String, realPath: String, folder: String) {
    self.bytes = bytes
    self.displayPath = displayPath
    self.realPath = realPath
    self.folder = folder
  }

  /// One without a task, in the folder that opflow works in.
  ///
  /// - Parameter name: of letters, digits, `.`, `_` and `-`; empty for none.
  package static func none(named name: String) throws(PreparationError) -> ManifestFile {
    do throws(Errno) {
      var manifest = ManifestFile(
        bytes: Array("name: \"\(name.isEmpty ? "serve" : name)\"\ntasks: {}\n".utf8),
        displayPath: "<none>", realPath: standardInput,
        folder: try Path.workingDirectory())
      manifest.mayBeEmpty = true
      return manifest
    } catch {
      throw .unreadable(manifest: ".", error)
    }
  }

  /// One that nobody wrote, with tasks whose relative paths start at that folder.
  package static func composed(_ bytes: [UInt8], folder: String) -> ManifestFile {
    ManifestFile(bytes: bytes, displayPath: "<none>", realPath: standardInput, folder: folder)
  }

  /// The path that a person's word means: a folder, with its slash, stands for the manifest
  /// in it.
  package static func path(_ word: String) -> String {
    word.hasSuffix("/") ? word + defaultName : word
  }

  /// Reads the file at `path`, or standard input.
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

  /// What can be read once only: a pipe, of `<(…)` for example, a terminal, and a file that is open
  /// under a name in /proc and has no other any more, as a shell's here-document. It counts as standard
  /// input: nobody finds it again. Nil for a file that has a path.
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

  /// Of a manifest that is larger than any that people write, this much is looked at before the rest
  /// is read: a value of a gigabyte shall not take one.
  private static let beginningBytes = 16 << 20
  private static let largeBytes = 64 << 20

  /// One byte beyond the largest manifest is read, so that the compiler says it is too large.
  static let mostBytes = ManifestCompiler.maximumBytes + 1

  /// Reads a file, but nothing beyond a beginning that is refused whatever follows.
  private static func read(_ path: String) throws(Errno) -> [UInt8] {
    let file = try File.open(path, .readOnly)
    if try file.status().sizeBytes > largeBytes {
      let beginning = try file.readAll(atMost: beginningBytes)
      if ManifestCompiler.refuses(beginning: beginning) { return beginning }
      try file.seek(to: 0)
    }
    return try file.readAll(atMost: mostBytes)
  }

  /// Compiles it into a plan.
  ///
  /// - Throws: all its mistakes.
  package func compile(
    runID: String, set: [String], maxParallel: UInt32?, state: StateFolder? = nil,
    fingerprints: FingerprintStyle = .relative
  ) throws(PreparationError) -> CompiledManifest {
    var options = options(runID: runID, set: set, maxParallel: maxParallel, state: state)
    options.fingerprints = fingerprints
    do throws(ManifestError) {
      return try ManifestCompiler.compile(source, options: options)
    } catch {
      throw .mistakes(error)
    }
  }

  /// Compiles it into a segment of the plan of a run.
  ///
  /// - Parameter adder: the task of the run that adds it; `none` for somebody else.
  /// - Throws: all its mistakes.
  func compile(
    addedTo plan: Plan, by adder: TaskID, runID: String, state: StateFolder
  ) throws(PreparationError) -> CompiledSegment {
    let options = options(runID: runID, set: [], maxParallel: nil, state: state)
    do throws(ManifestError) {
      return try ManifestCompiler.compile(
        source, addedTo: plan, by: adder.isNone ? nil : adder, options: options)
    } catch {
      throw .mistakes(error)
    }
  }

  /// Makes the legs of a family that it declares, as a segment of the plan of a run; nil where it declares none that
  /// are made by that task.
  ///
  /// - Throws: all its mistakes.
  func compileLegs(
    madeBy maker: TaskID, of plan: Plan, runID: String, set: [String], state: StateFolder
  ) throws(PreparationError) -> CompiledSegment? {
    let options = options(runID: runID, set: set, maxParallel: nil, state: state)
    do throws(ManifestError) {
      return try ManifestCompiler.compileLegs(source, madeBy: maker, of: plan, options: options)
    } catch {
      throw .mistakes(error)
    }
  }

  /// The mistakes that secrets make where tasks list them which cannot be had.
  func mistakes(
    _ secrets: SecretFaults, runID: String, _ request: RunRequest
  ) -> PreparationError {
    var options = options(
      runID: runID, set: request.set, maxParallel: request.maxParallel, state: nil)
    for fault in secrets.faults {
      options.missingSecrets[fault.name] = MissingSecret(
        what: fault.what, help: fault.help, tasks: secrets.tasks)
    }
    do throws(ManifestError) {
      _ = try ManifestCompiler.check(source, options: options)
      // It is another by now, in which no task lists them.
      return .secrets(secrets)
    } catch {
      return .mistakes(error)
    }
  }

  /// The places of `interactive` tasks that would have no terminal, where it is not another by now.
  func mistakes(
    withoutTerminal tasks: [String], runID: String, _ request: RunRequest
  ) -> PreparationError {
    var options = options(
      runID: runID, set: request.set, maxParallel: request.maxParallel, state: nil)
    options.tasksWithoutTerminal = Set(tasks)
    do throws(ManifestError) {
      _ = try ManifestCompiler.check(source, options: options)
      return .noTerminal(tasks: tasks)
    } catch {
      return .mistakes(error)
    }
  }

  /// Finds what is wrong with it.
  ///
  /// - Throws: all its mistakes.
  package func check(
    set: [String], state: StateFolder
  ) throws(PreparationError) -> CheckedManifest {
    let options = options(runID: Self.runIDOfCheck, set: set, maxParallel: nil, state: state)
    do throws(ManifestError) {
      return try ManifestCompiler.check(source, options: options)
    } catch {
      throw .mistakes(error)
    }
  }

  /// What `run.id` stands for where there is no run.
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

  /// Looks for the names that a pattern fits.
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

  /// Reads the files that it names; one that is gone and may not be
  /// from its copy, where there is one.
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
        else {
          throw error
        }
        return Self.copy(bytes, of: path)
      }
    }
  }

  /// Checks a file that is read only where it is found: in a folder such as `/tmp` anybody can put it there.
  private static func expectTrusted(
    _ path: String, of manifest: String
  ) throws(NamedFileFault) {
    let writers = TrustedWriters.own.including(writersOf: manifest)
    guard let foreign = writers.doubt(path) else { return }
    throw .failed("\(foreign). If you trust it, name it without the `?`")
  }

  private static func copy(_ bytes: [UInt8], of path: String) -> NamedFile {
    // No file has that number.
    let number = FileNumber(device: .max, inode: Hash.xxh3(Array(path.utf8)))
    return NamedFile(bytes: bytes, realPath: path, number: number)
  }

  /// The plan that an older opflow would have made of it, in the folder that it was in: for its
  /// fingerprints.
  func compileAsBefore(
    runID: String, set: [String], folder: String
  ) throws(PreparationError) -> Plan {
    let old = ManifestFile(
      bytes: bytes, displayPath: displayPath, realPath: realPath, folder: folder)
    let compiled = try old.compile(
      runID: runID, set: set, maxParallel: nil, fingerprints: .absolute)
    return try compiled.openPlan()
  }

  /// - Throws: a word that names no task of it.
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

  /// How many tasks a mistake in their names may list.
  package static let mostTasksTold = 20

  /// What a plan of it is compiled from, as far as it is known before the manifest is read.
  func inputs(set: [String]) -> PlanInputs {
    source.inputs(opflowVersion: Version.text, set: set)
  }

  /// What the compiler reads.
  private var source: ManifestSource {
    var source = ManifestSource(
      bytes: bytes, displayPath: displayPath, path: realPath, folder: folder,
      defaultName: defaultName)
    let (displayPath, folder) = (displayPath, folder)
    source.displayFolder = { Self.displayFolder(displayPath, folder: folder) }
    if realPath != Self.standardInput, let status = try? Path.status(realPath) {
      source.number = FileNumber(
        device: status.identity.device, inode: status.identity.inode)
    }
    return source
  }

  /// What relative paths in it are shown behind: its folder as the person wrote it, where that is the
  /// one it lies in.
  private static func displayFolder(_ displayPath: String, folder: String) -> String {
    let slash = displayPath.lastIndex(of: "/")
    let written = slash.map { String(displayPath[...$0]) } ?? ""
    if (try? Path.real(written.isEmpty ? "." : written)) == folder { return written }
    return folder == "/" ? folder : folder + "/"
  }

  /// The run's name where the manifest gives none.
  private var defaultName: String {
    if realPath == Self.standardInput { return "stdin" }
    return Path.name(realPath)
  }

  /// `NAME=VALUE` in two.
  private static func pair(_ text: String) -> (name: String, value: String) {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (text, "") }
    return (String(text[..<equals]), String(text[text.utf8.index(after: equals)...]))
  }
}
