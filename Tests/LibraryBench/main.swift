// What the library costs: `LibraryBench bulk|group|each COUNT` adds so many trivial commands and waits for their end;
// `idle SECONDS` has an idle queue; both print seconds and the processor time of this process.
import Glibc
import Opflow

func processorSeconds() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

let mode = CommandLine.arguments[1]
let count = Int(CommandLine.arguments[2]) ?? 1000
let clock = ContinuousClock()
let begin = clock.now
let queue = try await TaskQueue(name: "bench", folder: CommandLine.arguments[3])
let opened = clock.now
let processorBefore = processorSeconds()

func task(_ number: Int) -> NewTask { NewTask("t\(number)", .command(["/bin/true"])) }

switch mode {
case "bulk": try await queue.add((0..<count).map(task))
case "each": for number in 0..<count { try await queue.add(task(number)) }
case "group":
  try await withThrowingTaskGroup { group in
    for number in 0..<count { group.addTask { _ = try await queue.add(task(number)) } }
    try await group.waitForAll()
  }
case "idle": _ = poll(nil, 0, Int32(count) * 1000)
default: fatalError("bulk, each, group or idle, not \(mode)")
}
let added = clock.now
try await queue.waitUntilAllFinished()
let ended = clock.now
print(
  "opened \(opened - begin), added \(added - opened), finished \(ended - added), all \(ended - begin),"
    + " own processor time \(processorSeconds() - processorBefore) s, succeeded \(queue.tally[.succeeded])"
)
try await queue.finish()
