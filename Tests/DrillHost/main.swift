// A client program that a drill kills at any moment: adds COUNT tasks in steps, some of them
// closures and some dependent on the task before, prints each addition, waits for all, and closes
// the queue.
import Glibc
import Opflow

/// Unbuffered, so that each printed fact survives a kill.
@Sendable func tell(_ text: String) {
  let line = Array((text + "\n").utf8)
  guard write(1, line, line.count) == line.count else { exit(74) }
}

let count = Int(CommandLine.arguments[1]) ?? 40
let queue = try await TaskQueue(
  name: "drill", maxConcurrent: 3, whenHostEnds: CommandLine.arguments[2] == "stop" ? .stop : .goOn)
tell("run \(queue.runID)")
var last: QueuedTask?
for number in 0..<count {
  let id = "t\(number)"
  let milliseconds = Int32(10 * (number % 7))
  let task = try await queue.add(
    id,
    number % 5 == 4
      ? .block {
        tell("began \(id)")
        _ = poll(nil, 0, milliseconds)
        tell("ended \(id)")
      } : .shell("echo \(id) >> trace; sleep 0.0\(number % 7)"),
    needs: number % 3 == 0 ? [] : last.map { [$0] } ?? [],
    // A kill may hit a worker that is about to start the task.
    retry: .init(max: 10, delay: .milliseconds(1)))
  tell("added \(id)")
  last = task
}
let tally = try await queue.waitUntilAllFinished()
tell("finished \(tally.all) \(tally.isSuccess)")
try await queue.finish()
tell("closed")
