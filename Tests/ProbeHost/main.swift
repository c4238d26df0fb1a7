// Uses a queue in unusual ways; a test compares the output.
import Glibc
import Opflow
import Synchronization

let running = Atomic<Int>(0)
let most = Atomic<Int>(0)

/// Prints an error.
func tell(_ body: () async throws -> Void) async {
  do {
    try await body()
    print("done")
  } catch {
    print((error as? QueueError).map { "\($0.kind): \($0)" } ?? "\(error)")
  }
}

/// Returns the process ID of a queue's coordinator.
func owner(of queue: TaskQueue) -> pid_t {
  var text = [CChar](repeating: 0, count: 32)
  guard let file = fopen("\(queue.folder)/runs/\(queue.runID)/lock", "r") else { return 0 }
  defer { fclose(file) }
  return fgets(&text, Int32(text.count), file) == nil ? 0 : pid_t(atoi(text))
}

switch CommandLine.arguments[1] {
case "parallel":
  // One at a time, then two.
  let queue = try await TaskQueue(name: "parallel", maxConcurrent: 1)
  try await queue.setMaxConcurrent(2)
  try await queue.add(
    (0..<12).map { number in
      NewTask(
        "t\(number)",
        .block {
          let now = running.add(1, ordering: .relaxed).newValue
          most.max(now, ordering: .relaxed)
          // Waits until a second task runs, and long enough for a third.
          while most.load(ordering: .relaxed) < 2 { await Task.yield() }
          for _ in 0..<20_000 { await Task.yield() }
          running.subtract(1, ordering: .relaxed)
        })
    })
  try await queue.finish()
  print("most: \(most.load(ordering: .relaxed))")
case "reopen":
  // An unreferenced queue stops its run; the next queue continues it.
  for number in 0..<20 {
    let queue = try await TaskQueue(name: "reopen")
    try await queue.add("t\(number)", .command(["/bin/true"])).waitUntilFinished()
  }
  let queue = try await TaskQueue(name: "reopen")
  let there = queue.tally.all
  print("there: \(there), of \(try await queue.finish().all)")
case "cancel":
  // The closure polls for cancellation and returns.
  let queue = try await TaskQueue(name: "cancel")
  let task = try await queue.add("t", .block { while !Task.isCancelled { await Task.yield() } })
  let next = try await queue.add("next", .shell("true"), needs: [task])
  for await change in task.changes where change.state == .running { break }
  try await task.cancel()
  _ = try await queue.waitUntilAllFinished()
  print("t: \(task.state), next: \(next.state)")
  try await queue.finish()
case "finish":
  let queue = try await TaskQueue(name: "finish")
  try await queue.add("t", .shell("sleep 0.1"))
  try await queue.close()
  print("finished: \(try await queue.finish().isSuccess)")
  print("again: \(try await queue.finish().isSuccess)")
case "open":
  await tell { _ = try await TaskQueue(name: "open", folder: CommandLine.arguments[2]) }
case "wrong":
  let queue = try await TaskQueue(name: "wrong")
  let good = try await queue.add("good", .shell("true"))
  var far = NewTask("far", .shell("true"))
  far.stop = StopPolicy(signal: "NOPE")
  for task in [
    NewTask("late", .shell("true"), needs: ["nobody"]),
    NewTask("again", .shell("true"), needs: [.success(good)], retry: .init(max: -1)),
    NewTask("file", .download("ftp://example.org/", to: "f", maxSpeed: 0)),
    NewTask("here", .shell("true"), cwd: ""), far,
  ] {
    // Together with a valid task.
    await tell { try await queue.add([NewTask("right", .shell("true")), task]) }
  }
  for limit in [Duration.seconds(-5), .seconds(Int64.max) * 4] {
    await tell { try await queue.add("long", .shell("true"), timeout: limit) }
  }
  let other = try await TaskQueue(name: "other")
  await tell { try await other.add("cross", .shell("true"), needs: [good]) }
  await tell { try await queue.add(contentsOf: "-") }
  print("there: \(queue.tasks.map(\.id))")
  for name in ["", ".", "..", "-x", String(repeating: "a", count: 101)] {
    await tell { _ = try await TaskQueue(name: name) }
  }
case "stopped":
  // The coordinator is stopped for a while.
  let queue = try await TaskQueue(name: "stopped", whenHostEnds: .goOn)
  let changes = queue.changes
  let owner = owner(of: queue)
  kill(owner, SIGSTOP)
  let add = Task { try await queue.add("t", .command(["/bin/true"])) }
  let second = Task { try await TaskQueue(name: "stopped") }
  add.cancel()
  second.cancel()
  await tell { _ = try await add.value }
  await tell { _ = try await second.value }
  kill(owner, SIGCONT)
  // The cancelled call had sent its request.
  for await change in changes where change.task.id == "t" && change.state.isFinished { break }
  print("t: \(queue.tally[.succeeded])")
  // A cancelled call does not lose its request either.
  let leaving = Task {
    withUnsafeCurrentTask { $0?.cancel() }
    try await queue.pause()
  }
  await tell { try await leaving.value }
  print("paused: \(queue.isSuspended)")
  try await queue.`continue`()
  try await queue.finish()
case "lost":
  // The coordinator is killed; ended tasks keep their ends.
  let queue = try await TaskQueue(name: "lost")
  let failed = try await queue.add("failed", .shell("echo failed >> trace; exit 1"))
  _ = try await failed.waitUntilFinished()
  let skipped = try await queue.add("skipped", .shell("echo skipped >> trace"), needs: [failed])
  try await queue.pause()
  let cancelled = try await queue.add("cancelled", .shell("echo cancelled >> trace"))
  try await cancelled.cancel()
  kill(owner(of: queue), SIGKILL)
  try await queue.`continue`()
  let report = try await queue.add(
    "report", .shell("echo report >> trace"), needs: [.failure(failed), .finished(cancelled)])
  _ = try await report.waitUntilFinished()
  print("\(failed.state) \(failed.outcome.attempts), \(skipped.state), \(cancelled.state)")
  try await failed.retry()
  _ = try await failed.waitUntilFinished()
  print("\(try await queue.waitUntilAllFinished().unfinished), \(failed.outcome.attempts)")
  try await queue.finish()
case "held":
  // The coordinator is killed; requests stay in force.
  let queue = try await TaskQueue(name: "held")
  let changes = queue.changes(.everyChange(limit: .max))
  try await queue.pause()
  let held = try await queue.add("held", .shell("echo held >> trace"))
  try await held.suspend()
  let stubborn = try await queue.add(
    "stubborn",
    .shell("echo try $OPFLOW_ATTEMPT >> trace; trap '' TERM; while :; do sleep 600; done"))
  try await queue.`continue`()
  for await change in changes where change.task.id == "stubborn" && change.state == .running {
    break
  }
  try await stubborn.cancel()
  try await queue.pause()
  kill(owner(of: queue), SIGKILL)
  _ = try await stubborn.waitUntilFinished()
  let free = try await queue.add("free", .shell("echo free >> trace"))
  print("paused: \(queue.isSuspended), \(stubborn.state), \(free.state)")
  try await queue.`continue`()
  _ = try await free.waitUntilFinished()
  print("held: \(held.state)")
  try await held.`continue`()
  _ = try await queue.waitUntilAllFinished()
  try await queue.finish()
case "away":
  // This program is stopped, and later finds the changes of another program.
  let queue = try await TaskQueue(name: "shared", maxConcurrent: 1)
  try await queue.pause()
  let held = try await queue.add("held", .shell("echo held >> trace"))
  let gone = try await queue.add("gone", .shell("echo gone >> trace"))
  try await gone.cancel()
  print("away")
  fflush(nil)
  raise(SIGSTOP)
  try await queue.add("last", .shell("true"))
  print("paused: \(queue.isSuspended), \(held.state), \(gone.state)")
  try await queue.`continue`()
  print("finished: \(try await queue.finish().all), \(held.state)")
case "other":
  let queue = try await TaskQueue(name: "shared", maxConcurrent: 4)
  print("paused: \(queue.isSuspended), \(queue.task("gone").map { "\($0.state)" } ?? "none")")
case "asleep":
  let queue = try await TaskQueue(name: "asleep")
  try await queue.add("first", .shell("true")).waitUntilFinished()
  let changes = queue.changes(.everyChange(limit: .max))
  print("asleep")
  fflush(nil)
  raise(SIGSTOP)
  while queue.task("more") == nil { await Task.yield() }
  let tally = try await queue.waitUntilAllFinished()
  print("\(tally.all), more: \(queue.task("more")!.state)")
  try await queue.finish()
  for await change in changes where change.task.id == "more" { print(change.state) }
case "busy":
  let queue = try await TaskQueue(name: "asleep")
  try await queue.add("more", .shell("true")).waitUntilFinished()
case "ghosts":
  // A generator is interrupted when the coordinator is killed, and then adds no tasks.
  let queue = try await TaskQueue(name: "ghosts")
  let generator = try await queue.add(contentsOf: "adder.yaml")[0]
  // Programs are not notified of new tasks.
  while queue.task("later") == nil { await Task.yield() }
  kill(owner(of: queue), SIGKILL)
  let tally = try await queue.waitUntilAllFinished()
  let later = queue.task("later")?.outcome
  print("\(generator.state), later: \(later?.reason ?? "none"), \(tally[.skipped])")
  try await queue.finish()
case "closing":
  // The coordinator is killed after the queue was closed.
  let queue = try await TaskQueue(name: "closing", maxConcurrent: 1)
  let changes = queue.changes(.everyChange(limit: .max))
  let first = try await queue.add(
    "first", .shell("test \"$OPFLOW_ATTEMPT\" != 1 || exec sleep 600"))
  try await queue.add("second", .shell("true"), needs: [first])
  for await change in changes where change.state == .running { break }
  try await queue.close()
  kill(owner(of: queue), SIGKILL)
  print("finished: \(try await queue.finish().isSuccess), tries: \(first.outcome.attempts)")
case "closed":
  // Lets the runtime open its descriptors first.
  let before = try await TaskQueue(name: "before")
  try await before.add("t", .block {}).waitUntilFinished()
  try await before.finish()
  close(0)
  let queue = try await TaskQueue(name: "closed")
  try await queue.add("t", .block {}).waitUntilFinished()
  print("0 is nobody's: \(fcntl(0, F_GETFD) == -1)")
  try await queue.finish()
default: exit(2)
}
