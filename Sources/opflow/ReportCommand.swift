internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
internal import OpflowReports
import OpflowRuntime
import OpflowSystem

enum ReportCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    let run = try RunLookup.reading(
      ReadRun(folder, keepingDetails: true, keepingAttempts: arguments.report != .junit))
    for warning in run.warnings { console.warn(warning) }
    switch arguments.report {
    case .junit: try write(junit(run, arguments.view), to: arguments.outputFile)
    case .trace:
      let file = arguments.outputFile
      try write(compressed(trace(run), for: file), to: file)
    case .otel:
      let file = arguments.outputFile
      try write(compressed(spans(run), for: file), to: file)
    case .html: try write(page(run, arguments.view), to: arguments.outputFile)
    }
    return ExitCode.success.rawValue
  }

  /// Returns the next bytes; nil at the end.
  typealias Pieces = () -> [UInt8]?

  static func junit(_ run: ReadRun, _ view: ViewArguments) -> Pieces {
    let (folder, plan, shown) = (run.folder, run.plan, ShownPath(view))
    var report = JUnitReport(run.status) {
      folder.output(of: $0, in: plan, atMost: $1, shown: shown.text)
    }
    return { report.nextPiece() }
  }

  static func trace(_ run: ReadRun) -> Pieces {
    var report = TraceReport(run.status)
    return { report.nextPiece() }
  }

  static func spans(_ run: ReadRun) -> Pieces {
    var report = SpanReport(run.status)
    return { report.nextPiece() }
  }

  static func page(_ run: ReadRun, _ view: ViewArguments) -> Pieces {
    let (folder, plan, shown) = (run.folder, run.plan, ShownPath(view))
    let resume = CommandText.resume(folder, on: run.history.on, view)
    var report = PageReport(run.status, before: before(run), resumeCommand: resume) {
      folder.output(of: $0, in: plan, atMost: $1, shown: shown.text)
    }
    return { report.nextPiece() }
  }

  /// None for standard input, which differs each time.
  private static func before(_ run: ReadRun) -> RunStatus? {
    guard let open = run.history.open, open.manifestPath != ManifestFile.standardInput else {
      return nil
    }
    let path = RunManifest(open, run.folder).realPath
    let folder = StateFolder(holding: run.folder).run(before: run.folder, ofManifest: path)
    return folder.flatMap { try? ReadRun($0) }?.status
  }

  private static func compressed(_ pieces: @escaping Pieces, for path: String?) -> Pieces {
    guard let path, path.hasSuffix(".gz") else { return pieces }
    var writer = GzipWriter()
    var isDone = false
    return {
      if isDone { return nil }
      // The compressor may buffer a whole piece.
      while let piece = pieces() {
        let bytes = writer.compress(piece)
        if !bytes.isEmpty { return bytes }
      }
      isDone = true
      return writer.finish()
    }
  }

  static func write(_ pieces: Pieces, to path: String?) throws(CommandError) {
    guard let path else {
      while let piece = pieces() { try Console.write(piece) }
      return
    }
    do throws(Errno) {
      let file = try ReportFile(path)
      while let piece = pieces() { try file.write(piece) }
      try file.finish()
    } catch {
      throw CommandError(.io, "cannot write \(CleanText.string(path))", error)
    }
  }
}
