// A program that is killed at any moment, for a drill: adds COUNT tasks in steps, each of which needs one before it,
// tells each that is added, waits for all, and closes the queue.
import Glibc
import Opflow

setvbuf(stdout, nil, _IOLBF, 0)
let count = Int(CommandLine.arguments[1]) ?? 40
let queue = try await TaskQueue(
  name: "drill", maxConcurrent: 3, whenHostEnds: CommandLine.arguments[2] == "stop" ? .stop : .goOn)
print("run \(queue.runID)")
var last: QueuedTask?
for number in 0..<count {
  let id = "t\(number)"
  let task = try await queue.add(
    id, .shell("echo \(id) >> trace; sleep 0.0\(number % 7)"), needs: number % 3 == 0 ? [] : last.map { [$0] } ?? [])
  print("added \(id)")
  last = task
}
let tally = try await queue.waitUntilAllFinished()
print("finished \(tally.all) \(tally.isSuccess)")
try await queue.finish()
print("closed")
