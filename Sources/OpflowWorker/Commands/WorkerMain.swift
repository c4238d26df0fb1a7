/// `opflow worker RUN-FOLDER RUN-ID`: runs commands for a coordinator. Logs go to
/// `RUN-FOLDER/logs`, which must exist.
package enum WorkerMain {
  /// Returns the exit code.
  package static func run(arguments: [String]) -> Int32 {
    WorkerProcess.run(CommandWorker.trade, arguments: arguments) {
      frame throws(WorkerFailure) in try CommandWorker(frame)
    }
  }
}
