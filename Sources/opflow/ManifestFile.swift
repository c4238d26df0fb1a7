import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

/// A manifest as a command was given it, read whole.
struct ManifestFile {
  let bytes: [UInt8]
  /// As the person wrote it, for diagnostics.
  let displayPath: String
  /// `-` for standard input.
  let realPath: String
  /// Absolute: where relative paths in it start.
  let folder: String

  static let defaultName = "opflow.yaml"
  static let standardInput = "-"

  init(bytes: [UInt8], displayPath: String, realPath: String, folder: String) {
    self.bytes = bytes
    self.displayPath = displayPath
    self.realPath = realPath
    self.folder = folder
  }

  /// Reads the manifest that a command line names; without a name the one that is here or in the
  /// nearest folder above, which is said.
  ///
  /// - Parameter tasks: what the command line names beside it. Where there is no manifest they may have
  ///   been meant as one.
  init(_ word: String?, naming tasks: [String] = []) throws(CommandError) {
    guard let word else {
      guard let found = try ManifestLookup.nearest() else {
        throw ManifestLookup.nothing(naming: tasks)
      }
      if found != Self.defaultName {
        Console.complain("opflow: using \(CleanText.string(found))\n")
      }
      try self.init(at: found)
      return
    }
    try self.init(at: Self.path(word))
  }

  /// The path that a word of the command line means: a folder, with its slash, stands for the manifest
  /// in it.
  static func path(_ word: String) -> String {
    word.hasSuffix("/") ? word + defaultName : word
  }

  /// Reads the file at `path`, or standard input.
  init(at path: String) throws(CommandError) {
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
      throw CommandError(
        Self.isMistake(error) ? .usage : .io,
        "cannot read \(CleanText.string(path)): \(error)\(ManifestLookup.hint(path, error))")
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

  /// Whether the person named what cannot be read, and not the machine failed.
  private static func isMistake(_ error: Errno) -> Bool {
    [
      .noSuchFile, .accessDenied, .notADirectory, .isADirectory, .tooManyLinks, .nameTooLong,
      .invalid, .notUTF8,
    ].contains(error)
  }

  /// One byte beyond the largest manifest is read, so that the compiler says it is too large.
  private static let mostBytes = ManifestCompiler.maximumBytes + 1

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
  /// - Throws: all its mistakes, laid out, with exit code 3.
  func compile(
    runID: String, set: [String], maxParallel: UInt32?, console: Console,
    state: StateFolder? = nil, fingerprints: FingerprintStyle = .relative
  ) throws(CommandError) -> CompiledManifest {
    var options = options(runID: runID, set: set, maxParallel: maxParallel, state: state)
    options.fingerprints = fingerprints
    return try Self.showing(console) { () throws(ManifestError) in
      try ManifestCompiler.compile(source, options: options)
    }
  }

  /// Finds what is wrong with it.
  ///
  /// - Throws: all its mistakes, laid out, with exit code 3.
  func check(
    set: [String], console: Console, state: StateFolder
  ) throws(CommandError) -> CheckedManifest {
    let options = options(runID: Self.runIDOfCheck, set: set, maxParallel: nil, state: state)
    return try Self.showing(console) { () throws(ManifestError) in
      try ManifestCompiler.check(source, options: options)
    }
  }

  /// What `run.id` stands for where there is no run.
  static let runIDOfCheck = "check"

  private func options(
    runID: String, set: [String], maxParallel: UInt32?, state: StateFolder?
  ) -> CompileOptions {
    CompileOptions(
      runID: runID, variables: set.map(Self.pair),
      environment: Environment.entries().map { Self.pair(String(decoding: $0, as: UTF8.self)) },
      opflowVersion: Version.text, maxParallel: maxParallel.map { Int($0) },
      cores: Machine.cores, memoryBytes: Machine.memoryBytes,
      stateFolder: (state ?? StateFolder.beside(manifest: "\(folder)/-")).path,
      readLink: { try? Path.linkTarget($0) })
  }

  /// Lays mistakes out.
  private static func showing<Result>(
    _ console: Console, _ body: () throws(ManifestError) -> Result
  ) throws(CommandError) -> Result {
    let renderer = DiagnosticRenderer(isColored: console.colorsError)
    do throws(ManifestError) {
      return try body()
    } catch {
      throw CommandError(.manifest, verbatim: renderer.render(error))
    }
  }

  /// The plan that an older opflow would have made of it, in the folder that it was in: for its
  /// fingerprints.
  func compileAsBefore(
    runID: String, set: [String], folder: String, console: Console
  ) throws(CommandError) -> Plan {
    let old = ManifestFile(
      bytes: bytes, displayPath: displayPath, realPath: realPath, folder: folder)
    return try CompiledPlan.open(
      old.compile(
        runID: runID, set: set, maxParallel: nil, console: console, fingerprints: .absolute
      ).planBytes)
  }

  /// What the compiler reads.
  var source: ManifestSource {
    ManifestSource(
      bytes: bytes, displayPath: displayPath, path: realPath, folder: folder,
      defaultName: defaultName)
  }

  /// The run's name where the manifest gives none.
  private var defaultName: String {
    if realPath == Self.standardInput { return "stdin" }
    return realPath.split(separator: "/").last.map { String($0) } ?? realPath
  }

  /// `NAME=VALUE` in two.
  private static func pair(_ text: String) -> (name: String, value: String) {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (text, "") }
    return (String(text[..<equals]), String(text[text.utf8.index(after: equals)...]))
  }
}
