// What a queue does when it is asked for things that few programs ask for; a test knows what is to be printed.
import Glibc
import Opflow
import Synchronization

let running = Atomic<Int>(0)
let most = Atomic<Int>(0)

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
          // Until a second one is there, and long enough for a third.
          while most.load(ordering: .relaxed) < 2 { await Task.yield() }
          for _ in 0..<20_000 { await Task.yield() }
          running.subtract(1, ordering: .relaxed)
        })
    })
  try await queue.finish()
  print("most: \(most.load(ordering: .relaxed))")
case "reopen":
  // A queue that nobody refers to any more stops its run; the next one goes on with it.
  for number in 0..<20 {
    let queue = try await TaskQueue(name: "reopen")
    try await queue.add("t\(number)", .command(["/bin/true"])).waitUntilFinished()
  }
  let queue = try await TaskQueue(name: "reopen")
  let there = queue.tally.all
  print("there: \(there), of \(try await queue.finish().all)")
case "cancel":
  // It looks whether it is cancelled, and returns.
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
default: exit(2)
}
