import Glibc
import OpflowCommandLine
import OpflowManifest
import OpflowRuntime
import OpflowSystem
import OpflowWorker

prepareProcess()
let words = Arguments.words
// A worker is no command of a person's: its arguments are the coordinator's.
if words.first == WorkerProcess.command {
  exit(WorkerMain.run(arguments: Array(words.dropFirst())))
}
// Nor is the agent of a machine.
if words.first == AgentMain.command {
  exit(AgentMain.run(arguments: Array(words.dropFirst())))
}
// Nor is what keeps an allocation of Slurm for one.
if words.first == AllocationKeeper.command {
  exit(AllocationKeeper.run(arguments: Array(words.dropFirst())))
}
// Nor is what a task runs that makes legs.
if words.first == LegMaker.word {
  exit(LegsCommand.run(Array(words.dropFirst())))
}
// Nor are the questions that a shell asks while a line is typed.
if words.first == CompletionShell.question {
  exit(CompletionCommand.answer(Array(words.dropFirst())))
}
// What packages are made with.
if words.first == PageCommand.word {
  exit(PageCommand.write(Array(words.dropFirst())))
}
let code = Opflow.main(words)
// A shell sees by that whether to go on with its loop: an exit code alone does not end it.
if let signal = Drive.stopSignal, code == 128 + signal.rawValue {
  fflush(nil)
  ProcessID.die(of: signal)
}
exit(code)

/// What whoever started this program left must not decide what it does.
func prepareProcess() {
  Environment.restore()
  do throws(Errno) {
    try StandardStream.openClosed()
    // A reader that goes away is then told by the write, and ends a view quietly; so is a limit on
    // the size of files.
    try Dispositions.ignore(.pipe)
    try Dispositions.ignore(.fileTooLarge)
    // The Swift runtime would ask the terminal what to do, and hold what Ctrl-\ is to end.
    if !Dispositions.isIgnored(.quit) { try Dispositions.restore(.quit) }
    // Ignored, it would take away the ends of the processes that are started here.
    try Dispositions.restore(.child)
    try MappedFile.exitOnBusError()
  } catch {
    Console.complain("opflow: cannot set up standard streams and signals: \(error)\n")
    exit(ExitCode.io.rawValue)
  }
}
