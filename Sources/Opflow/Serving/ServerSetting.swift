internal import OpflowRuntime
internal import OpflowSystem

/// What the run of a queue is driven with.
struct ServerSetting: Sendable {
  let name: String
  /// Absolute.
  let stateFolder: String
  /// Absolute: where relative paths of tasks start.
  let workingFolder: String
  /// Nil for the processors that there are.
  var maxConcurrent: Int?
  let goesOn: Bool
  /// Of `opflow`: a path.
  let program: String

  var state: StateFolder { StateFolder(path: stateFolder) }

  init(
    name: String, folder: String, maxConcurrent: Int?, goesOn: Bool, opflow: String?
  ) throws(QueueError) {
    guard Self.isName(name) else {
      throw QueueError(
        .usage,
        "a queue's name has 1 to \(Self.mostNameBytes) letters, digits, `.`, `_` and `-`, begins with a letter,"
          + " a digit or `_`, and is not `\(name.prefix(Self.mostNameBytes))`")
    }
    guard !folder.isEmpty, !folder.utf8.contains(0) else {
      throw QueueError(
        .usage, "a queue's folder has a name, without a NUL; `.opflow` is the usual one")
    }
    if let maxConcurrent, !(1...1_000_000).contains(maxConcurrent) {
      throw QueueError(
        .usage, "maxConcurrent is a whole number from 1 to 1000000, not \(maxConcurrent)")
    }
    do throws(Errno) {
      workingFolder = try Path.workingDirectory()
    } catch {
      throw QueueError(.io, "cannot work in this folder: \(error)")
    }
    self.name = name
    stateFolder = Self.absolute(folder, from: workingFolder)
    self.maxConcurrent = maxConcurrent
    self.goesOn = goesOn
    program = try Self.find(opflow, from: workingFolder)
  }

  /// As `--name` has it.
  private static let mostNameBytes = 100

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, first != UInt8(ascii: "."), first != UInt8(ascii: "-") else {
      return false
    }
    return text.utf8.count <= mostNameBytes && text.utf8.allSatisfy(mayName)
  }

  private static func mayName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func absolute(_ path: String, from folder: String) -> String {
    if let real = try? Path.real(path) { return real }
    return path.hasPrefix("/") ? path : "\(folder)/\(path)"
  }

  private static func find(_ given: String?, from folder: String) throws(QueueError) -> String {
    if let given {
      guard !given.utf8.contains(0) else {
        throw QueueError(.opflow, "the path of opflow has a NUL in it: \(given)")
      }
      let path = given.contains("/") ? absolute(given, from: folder) : inPath(given)
      if let path, Path.exists(path) { return path }
      throw QueueError(.opflow, "there is no program \(given)")
    }
    if let own = try? Path.linkTarget("/proc/self/exe") {
      let beside = "\(Path.parent(of: own))/opflow"
      if Path.exists(beside) { return beside }
    }
    if let found = inPath("opflow") { return found }
    throw QueueError(
      .opflow,
      "there is no program opflow beside this one and none in PATH; `TaskQueue(…, opflow: PATH)` names it"
    )
  }

  private static func inPath(_ name: String) -> String? {
    let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(
      separator: ":", omittingEmptySubsequences: false)
    return folders.lazy.map { $0.isEmpty ? "./\(name)" : "\($0)/\(name)" }.first {
      Path.exists($0) && !Path.isDirectory($0)
    }
  }
}
