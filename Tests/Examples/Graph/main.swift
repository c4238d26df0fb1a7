// Dependencies and priorities, and a program that continues where it stopped.
import Opflow

let queue = try await TaskQueue(name: "release", maxConcurrent: 2)
let fetch = try await queue.add("fetch", .shell("echo source > source.txt"), priority: .high)
let build = try await queue.add(
  "build", .shell("cat source.txt > app.txt; test -e ready || exit 1"), needs: [fetch],
  retry: .init(max: 1, delay: .milliseconds(10)))
let notes = try await queue.add(
  "notes", .command(["cp", "source.txt", "notes.txt"]), needs: [fetch])
try await queue.add(
  "publish", .shell("cat app.txt notes.txt > release.txt"), needs: [build, notes])
let report = try await queue.add(
  "report", .shell("echo reported"), needs: [.finished(build), "notes"])

try await queue.waitUntilAllFinished()
for task in queue.tasks {
  let outcome = task.outcome
  print(task.id, outcome.state.rawValue, outcome.reason ?? "-", outcome.attempts)
}
if queue.tally.isSuccess { try await queue.finish() }
