import Glibc
import OpflowCommandLine
import OpflowManifest
import OpflowRuntime
import OpflowSystem
import OpflowWorker

prepareProcess()
let words = Arguments.words
// Internal commands.
if words.first == WorkerProcess.command {
  exit(WorkerMain.run(arguments: Array(words.dropFirst())))
}
if words.first == AgentMain.command {
  exit(AgentMain.run(arguments: Array(words.dropFirst())))
}
if words.first == AllocationKeeper.command {
  exit(AllocationKeeper.run(arguments: Array(words.dropFirst())))
}
if words.first == InstanceMaker.word {
  exit(InstancesCommand.run(Array(words.dropFirst())))
}
if words.first == CompletionShell.question {
  exit(CompletionCommand.answer(Array(words.dropFirst())))
}
if words.first == PageCommand.word { exit(PageCommand.write(Array(words.dropFirst()))) }
let code = Opflow.main(words)
// Dying by the signal, not with an exit code, lets a shell stop its loop.
if let signal = Session.stopSignal, code == 128 + signal.rawValue {
  fflush(nil)
  ProcessID.die(of: signal)
}
exit(code)

/// Resets inherited settings that would change this program's behaviour.
func prepareProcess() {
  Environment.restore()
  do throws(Errno) {
    try StandardStream.openClosed()
    // Writes then report a missing reader or a file size limit.
    try Dispositions.ignore(.pipe)
    try Dispositions.ignore(.fileTooLarge)
    // The Swift runtime would prompt instead of ending at Ctrl-\.
    if !Dispositions.isIgnored(.quit) { try Dispositions.restore(.quit) }
    // Ignoring it would lose exit statuses of children.
    try Dispositions.restore(.child)
    try MappedFile.exitOnBusError()
  } catch {
    Console.complain("opflow: cannot set up standard streams and signals: \(error)\n")
    exit(ExitCode.io.rawValue)
  }
}
