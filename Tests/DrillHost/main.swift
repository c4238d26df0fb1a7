// A program that is killed at any moment, for a drill: adds COUNT tasks in steps, closures among
// them, each of which may need the one before it, tells each that is added, waits for all, and
// closes the queue.
import Glibc
import Opflow

/// At once: what is told is true whenever this program is killed.
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
    // Who kills a worker may hit what it is just about to start.
    retry: .init(max: 10, delay: .milliseconds(1)))
  tell("added \(id)")
  last = task
}
let tally = try await queue.waitUntilAllFinished()
tell("finished \(tally.all) \(tally.isSuccess)")
try await queue.finish()
tell("closed")
