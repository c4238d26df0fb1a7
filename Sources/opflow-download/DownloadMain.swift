internal import CTransfer
internal import OpflowSystem
internal import OpflowWorker

/// `opflow-download worker RUN-FOLDER RUN-ID [PATIENCE-MS]`: the download worker of a coordinator.
enum DownloadMain {
  static func run(arguments: [String]) -> Int32 {
    let trade = DownloadWorker.trade
    // Only tests pass PATIENCE-MS.
    guard (3...4).contains(arguments.count), arguments[0] == WorkerProcess.command else {
      trade.complain("usage: \(trade.usage)")
      return 2
    }
    var patience = ActiveDownload.Patience()
    if arguments.count == 4 {
      guard let milliseconds = Int64(arguments[3]), milliseconds > 0, milliseconds < 1 << 40 else {
        trade.complain("'\(arguments[3])' is no number of milliseconds")
        return 2
      }
      patience.beforeAnswer = milliseconds * 1_000_000
      patience.betweenBytes = milliseconds * 1_000_000
    }
    return WorkerProcess.run(trade, arguments: Array(arguments[1...2])) {
      frame throws(WorkerFailure) in
      DownloadWorker(frame, tools: try tools(runFolder: frame.runFolder, patience: patience))
    }
  }

  private static func tools(
    runFolder: String, patience: ActiveDownload.Patience
  ) throws(WorkerFailure) -> ActiveDownload.Tools {
    guard ctransfer_start() == 0, let transfer = Transfer(environment: Environment.value) else {
      throw WorkerFailure(what: "libcurl cannot be used")
    }
    let settler = try WorkerFailure.naming("cannot set up syncing") { () throws(Errno) in
      try Settler()
    }
    let journals = JournalSearch(runFolder: runFolder)
    return ActiveDownload.Tools(
      transfer: transfer, settler: settler, buffer: SpareBuffer(), bootID: Machine.bootID,
      standardMode: 0o666 & ~File.creationMask, patience: patience,
      lastSuccess: journals.lastSuccess)
  }
}
