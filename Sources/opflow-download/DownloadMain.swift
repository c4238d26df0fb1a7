internal import CTransfer
internal import OpflowCore
internal import OpflowSystem

/// `opflow-download worker RUN-FOLDER RUN-ID`: runs a plan's downloads for a coordinator, over the
/// same protocol as `opflow worker`.
enum DownloadMain {
  /// Returns the exit code: 0, 2 for wrong arguments, 74 when the run's files cannot be used.
  static func run(arguments: [String]) -> Int32 {
    guard (3...4).contains(arguments.count), arguments[0] == "worker" else {
      complain("usage: opflow-download worker RUN-FOLDER RUN-ID [PATIENCE-MS]")
      return 2
    }
    var patience = ActiveDownload.Patience()
    if arguments.count == 4 {
      guard let milliseconds = Int64(arguments[3]), milliseconds > 0, milliseconds < 1 << 40 else {
        complain("'\(arguments[3])' is no number of milliseconds")
        return 2
      }
      patience.beforeAnswer = milliseconds * 1_000_000
      patience.betweenBytes = milliseconds * 1_000_000
    }
    do throws(Failure) {
      try work(runFolder: arguments[1], patience: patience)
      return 0
    } catch {
      complain(error.what)
      return 74
    }
  }

  private struct Failure: Error {
    let what: String
  }

  private static func work(
    runFolder: String, patience: ActiveDownload.Patience
  ) throws(Failure) {
    let standardMode = 0o666 & ~File.creationMask
    try attempt("cannot open standard streams") { () throws(Errno) in
      try StandardStream.openClosed()
    }
    try attempt("cannot set up signals") { () throws(Errno) in
      Dispositions.resetAll()
      try Dispositions.ignore(.pipe)
      try Dispositions.ignore(.fileTooLarge)
      try SignalSet.all.unblock()
      try MappedFile.exitOnBusError()
      // Fails where the worker leads a session already, which is as good.
      try? ProcessID.newSession()
    }
    let orders = try attempt("cannot use standard input") { () throws(Errno) in
      try StandardStream.input.duplicate()
    }
    let reports = try attempt("cannot use standard output") { () throws(Errno) in
      try StandardStream.output.duplicate()
    }
    let nothing = try attempt("cannot open /dev/null") { () throws(Errno) in
      try File.openNull()
    }
    try attempt("cannot redirect standard input and output") { () throws(Errno) in
      // So that nothing which a library prints gets between the lines.
      try StandardStream.input.redirect(to: nothing)
      try StandardStream.output.redirect(to: .error)
    }
    let lock = try attempt("cannot lock \(runFolder)/workers.lock") { () throws(Errno) in
      try FileLock.lock(runFolder + "/workers.lock", .shared)
    }
    let plan = try openPlan(runFolder + "/plan")
    guard ctransfer_start() == 0, let transfer = Transfer(environment: Environment.value) else {
      throw Failure(what: "libcurl cannot be used")
    }
    let settler = try attempt("cannot set up syncing") { () throws(Errno) in try Settler() }
    let journals = JournalSearch(runFolder: runFolder)
    let tools = ActiveDownload.Tools(
      transfer: transfer, settler: settler, buffer: SpareBuffer(), bootID: Machine.bootID,
      standardMode: standardMode, patience: patience,
      lastSuccess: journals.lastSuccess)
    let hello = WorkerHello(
      planKey: plan.key.description, pid: ProcessID.own, cores: Machine.cores,
      actions: ["download"], host: Machine.hostName)
    let loop = DownloadLoop(plan: plan, tools: tools, orders: orders, reports: reports)
    try attempt("cannot go on") { () throws(Errno) in try loop.run(hello: hello) }
    _ = consume lock
  }

  private static func openPlan(_ path: String) throws(Failure) -> Plan {
    let file = try attempt("cannot open \(path)") { () throws(Errno) in try MappedFile(path) }
    do throws(PlanError) {
      return try Plan(bytes: file.bytes, checksum: false, release: MappedFile.unmap)
    } catch {
      throw Failure(what: "\(path) is no plan that this opflow can use: \(error.message)")
    }
  }

  private static func attempt<Result: ~Copyable>(
    _ what: String, _ body: () throws(Errno) -> Result
  ) throws(Failure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw Failure(what: "\(what): \(error)")
    }
  }

  static func complain(_ text: String) {
    let line = Array("opflow-download: \(text)\n".utf8)
    // Nobody is left to tell when this fails.
    try? StandardStream.error.writeAll(line)
  }
}
