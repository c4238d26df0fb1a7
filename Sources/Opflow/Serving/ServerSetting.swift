internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem

struct ServerSetting: Sendable {
  let name: String
  let stateFolder: String
  /// Where relative paths of tasks start.
  let workingFolder: String
  /// Nil for the number of CPUs.
  var maxConcurrent: Int?
  let goesOn: Bool
  let program: String

  var state: StateFolder { StateFolder(path: stateFolder) }

  init(
    name: String, folder: String, maxConcurrent: Int?, goesOn: Bool, opflow: String?
  ) throws(QueueError) {
    guard RunName.isValid(name) else {
      throw QueueError(
        .usage, "a queue's name has \(RunName.rule), and is not `\(name.prefix(RunName.mostBytes))`"
      )
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
      "there is no program opflow beside this one and none in PATH; `TaskQueue(…, opflow: PATH)` "
        + "names it"
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
