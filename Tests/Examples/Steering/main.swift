// Suspend, continue, cancel all, wait.
import Opflow

let queue = try await TaskQueue(name: "steering", maxConcurrent: 2)
try await queue.pause()
let tasks = try await queue.add((1...20).map { NewTask("t\($0)", .shell("sleep 600")) })
print("suspended: \(queue.isSuspended), waiting: \(queue.count), running: \(queue.tally[.running])")

try await queue.continue()
for await change in tasks[0].changes where change.state == .running {
  print("the first one runs")
  break
}
try await tasks[0].suspend()
try await tasks[1].setPriority(.veryHigh)
try await tasks[2].cancel()
print("the third is cancelled: \(tasks[2].isCancelled)")

try await queue.setMaxConcurrent(1)
try await queue.cancelAll()
let tally = try await queue.waitUntilAllFinished()
print("cancelled: \(tally[.cancelled])")
try await queue.finish()
