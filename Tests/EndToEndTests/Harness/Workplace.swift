import Foundation
import Glibc
import Testing

/// A folder of its own in which a test runs opflow: files in, a command line, then status, standard
/// output, standard error and files out.
///
/// Everything started here carries a mark in its environment, by which survivors are found; what
/// is left at the end is killed and removed with the folder.
final class Workplace {
  let path: String
  /// The value of OPFLOW_TEST_MARK in everything that is started here.
  let mark = UUID().uuidString
  private var gates: [String: Gate] = [:]

  /// With `manifest` as `opflow.yaml`.
  init(_ manifest: String? = nil, in parent: String = NSTemporaryDirectory()) throws {
    let folder = URL(fileURLWithPath: parent).appendingPathComponent("opflow-test-\(mark)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    // The real path: opflow names files by it.
    path = folder.resolvingSymlinksInPath().path
    if let manifest { try write("opflow.yaml", manifest) }
  }

  deinit {
    Survivors.kill(mark: mark)
    _ = try? FileManager.default.removeItem(atPath: path)
  }

  // MARK: Files

  func file(_ name: String) -> String { path + "/" + name }

  /// Overwrites an existing file in one call if it does not get shorter, so that a reader never
  /// finds it empty.
  func write(_ name: String, _ text: String) throws {
    let url = URL(fileURLWithPath: file(name))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    guard let old = FileHandle(forUpdatingAtPath: url.path) else {
      return try Data(text.utf8).write(to: url)
    }
    try old.write(contentsOf: Data(text.utf8))
    if try old.seekToEnd() > text.utf8.count {
      try old.truncate(atOffset: UInt64(text.utf8.count))
    }
    try old.close()
  }

  /// A program. Another process writes it: a descriptor of this one could be inherited by what
  /// another test starts at this moment, and then the kernel refuses to execute the file.
  func writeProgram(_ name: String, _ text: String, mode: String = "755") throws {
    try write(name + ".text", text)
    try shell("cp '\(name).text' '\(name)' && rm '\(name).text' && chmod \(mode) '\(name)'")
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }

  func text(_ name: String) throws -> String {
    String(decoding: try bytes(name), as: UTF8.self)
  }

  /// The lines of a file that tasks append to; none when there is no such file.
  func lines(_ name: String = "trace") -> [String] {
    guard let text = try? text(name) else { return [] }
    return text.split(separator: "\n").map(String.init)
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: file(name))
  }

  /// The names in a folder, sorted; none when there is no such folder.
  func entries(_ name: String = ".") -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []).sorted()
  }

  /// A FIFO of that name, made on first use: how tasks tell the test something, or wait for it.
  func gate(_ name: String) throws -> Gate {
    if let gate = gates[name] { return gate }
    let gate = try Gate(path: file(name))
    gates[name] = gate
    return gate
  }

  // MARK: Running

  /// Runs opflow to its end and expects the exit code.
  @discardableResult
  func opflow(
    _ arguments: String..., status: Int32? = 0, input: String? = nil,
    environment: [String: String] = [:], in folder: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Finished {
    let launch = launch(
      Program.path, arguments, input: input, environment: environment, in: folder)
    let finished = try launch.start().finish()
    if let status {
      #expect(
        finished.status == status, "opflow \(arguments.joined(separator: " ")): \(finished)",
        sourceLocation: sourceLocation)
    }
    return finished
  }

  /// Starts opflow and returns at once.
  func start(
    _ arguments: String..., environment: [String: String] = [:], in folder: String? = nil
  ) throws -> LiveProcess {
    try launch(Program.path, arguments, input: nil, environment: environment, in: folder).start()
  }

  /// Starts opflow at a terminal.
  func startAtTerminal(
    _ arguments: String..., columns: Int = 80, rows: Int = 24, environment: [String: String] = [:]
  ) throws -> LiveTerminal {
    var all = ["TERM": "xterm-256color"]
    all.merge(environment) { $1 }
    return try LiveTerminal(
      launch(Program.path, arguments, input: nil, environment: all, in: nil), columns: columns,
      rows: rows)
  }

  /// Starts a shell with jobs at a terminal, which prompts with `> `; `$opflow` is the program.
  func startShellAtTerminal(columns: Int = 80, rows: Int = 24) throws -> LiveTerminal {
    try LiveTerminal(
      launch(
        "/bin/bash", ["--norc", "--noprofile", "--noediting", "-i"], input: nil,
        environment: ["TERM": "xterm-256color", "PS1": "> "], in: nil), columns: columns,
      rows: rows)
  }

  /// Runs a shell command in the folder, with `$opflow` as the program's path.
  @discardableResult
  func shell(
    _ command: String, status: Int32? = 0, environment: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Finished {
    let finished = try launch(
      "/bin/bash", ["-c", command], input: nil, environment: environment, in: nil
    ).start().finish()
    if let status {
      #expect(finished.status == status, "\(command): \(finished)", sourceLocation: sourceLocation)
    }
    return finished
  }

  /// Starts a shell command in the folder and returns at once.
  func startShell(_ command: String) throws -> LiveProcess {
    try launch("/bin/bash", ["-c", command], input: nil, environment: [:], in: nil).start()
  }

  /// A small environment that is the same everywhere, so that no setting of the person who runs
  /// the tests changes what they see.
  func launch(
    _ program: String, _ arguments: [String], input: String?, environment: [String: String],
    in folder: String?
  ) -> Launch {
    var all = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
      "HOME": path, "LANG": "C.UTF-8", "OPFLOW_TEST_MARK": mark, "opflow": Program.path,
    ]
    // Options of a sanitizer apply to all programs that the tests start.
    all["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
    all.merge(environment) { $1 }
    return Launch(
      program: program, arguments: arguments, environment: all, folder: folder ?? path,
      input: input.map { .text($0) } ?? .null)
  }

  // MARK: Survivors

  /// Waits until all processes that were started here have ended.
  func expectNothingAlive(sourceLocation: SourceLocation = #_sourceLocation) {
    let left = Survivors.waitForNone(mark: mark)
    #expect(left.isEmpty, "still alive: \(left)", sourceLocation: sourceLocation)
  }
}
