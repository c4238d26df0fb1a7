import Glibc
import OpflowRuntime
import OpflowSystem

let words = Arguments.words
// A worker is no command of a person's: its arguments are the coordinator's.
if words.first == WorkerMain.command {
  exit(WorkerMain.run(arguments: Array(words.dropFirst())))
}
exit(Opflow.main(words))
