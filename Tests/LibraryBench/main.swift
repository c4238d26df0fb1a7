// Measures the cost of the library: `LibraryBench MODE COUNT FOLDER [OPFLOW]`.
//
// - `bulk`, `group` and `each` add COUNT trivial commands and wait for them: in one call, in
//   concurrent calls, and in one call after the other.
// - `changes` cancels COUNT tasks at once while a fast reader reads their changes.
// - `slow` lets ten tasks fail, in COUNT attempts in total, and then starts to read their changes.
// - `idle` keeps an idle queue for COUNT seconds.
//
// All print elapsed seconds and the processor time of this process.
import Glibc
import Opflow

struct Usage {
  var seconds = 0.0
  var residentKiB = 0

  static var now: Usage {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double {
      Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
    return Usage(
      seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), residentKiB: usage.ru_maxrss)
  }
}

let mode = CommandLine.arguments[1]
let count = Int(CommandLine.arguments[2]) ?? 1000
let clock = ContinuousClock()
let begin = clock.now
let queue = try await TaskQueue(
  name: "bench", folder: CommandLine.arguments[3], opflow: CommandLine.arguments.dropFirst(4).first)
let opened = clock.now
let before = Usage.now

func task(_ number: Int) -> NewTask { NewTask("t\(number)", .command(["/bin/true"])) }

/// Reads the changes of tasks that are cancelled together.
func readChanges(of queue: TaskQueue) async throws {
  try await queue.pause()
  try await queue.add((0..<count).map(task))
  let changes = queue.changes
  let before = Usage.now
  let begin = clock.now
  try await queue.cancelAll()
  var (read, skipped, ended) = (0, 0, 0)
  for await change in changes {
    read += 1
    skipped += change.skipped
    if change.state.isFinished { ended += 1 }
    if ended == count { break }
  }
  let after = Usage.now
  print(
    "\(read) changes read in \(clock.now - begin), \(skipped) skipped, \(ended) of \(count) ended;"
      + " own processor time \(after.seconds - before.seconds) s, memory \(before.residentKiB) KiB"
      + " before, at most \(after.residentKiB)")
  try await queue.`continue`()
}

/// Reads the changes of ten tasks that fail and are retried, after they have ended.
func readChangesLate(of queue: TaskQueue) async throws {
  let changes = queue.changes(.everyChange(limit: 1000))
  let before = Usage.now
  try await queue.add(
    (0..<10).map {
      NewTask("f\($0)", .command(["/bin/false"]), retry: .init(max: count / 10 - 1, delay: .zero))
    })
  try await queue.waitUntilAllFinished()
  let after = Usage.now
  var (read, skipped, newest) = (0, 0, [String: TaskChange]())
  for await change in changes {
    read += 1
    skipped += change.skipped
    newest[change.task.id] = change
    if newest.count == 10, newest.values.allSatisfy(\.state.isFinished) { break }
  }
  let last = Set(newest.values.map { "\($0.state) at try \($0.attempt)" }).sorted()
  print(
    "\(read) changes read and \(skipped) skipped of \(count) tries, each task last \(last);"
      + " memory \(before.residentKiB) KiB before, at most \(after.residentKiB)")
}

switch mode {
case "bulk": try await queue.add((0..<count).map(task))
case "each": for number in 0..<count { try await queue.add(task(number)) }
case "group":
  try await withThrowingTaskGroup { group in
    for number in 0..<count { group.addTask { _ = try await queue.add(task(number)) } }
    try await group.waitForAll()
  }
case "changes": try await readChanges(of: queue)
case "slow": try await readChangesLate(of: queue)
case "idle": _ = poll(nil, 0, Int32(count) * 1000)
default: fatalError("bulk, group, each, changes, slow or idle, not \(mode)")
}
let added = clock.now
try await queue.waitUntilAllFinished()
let ended = clock.now
print(
  "opened \(opened - begin), added \(added - opened), finished \(ended - added), all "
    + "\(ended - begin), own processor time \(Usage.now.seconds - before.seconds) s, succeeded "
    + "\(queue.tally[.succeeded])"
)
try await queue.finish()
