// A queue of closures with dependencies and priorities, and of other tasks.
import Opflow

actor Trace {
  private(set) var words: [String] = []
  func note(_ word: String) { words.append(word) }
}

let trace = Trace()
let queue = try await TaskQueue(name: "blocks", maxConcurrent: 1)
try await queue.pause()
let fetch = try await queue.add("fetch", .block { await trace.note("fetch") })
let parse = try await queue.add("parse", .block { await trace.note("parse") }, needs: [fetch])
try await queue.add("late", .block { await trace.note("late") }, priority: .low)
try await queue.add("early", .block { await trace.note("early") }, priority: .veryHigh)
try await queue.add("write", .shell("echo parsed > parsed.txt"), needs: [parse])

struct NoSuchPage: Error { var number: Int }
let page = try await queue.add(
  "page", .block { throw NoSuchPage(number: 7) }, needs: [fetch], retry: .init(max: 1, delay: .zero)
)

try await queue.continue()
let outcome = try await page.waitUntilFinished()
print("page: \(outcome.state.rawValue), \(outcome.message ?? "-"), \(outcome.attempts) tries")

let nothing = AsyncStream<Void> { _ in }
let slow = try await queue.add(
  "slow",
  .block {
    for await _ in nothing {}
    try Task.checkCancellation()
  })
for await change in slow.changes where change.state == .running { break }
try await slow.cancel()
print("slow: \(try await slow.waitUntilFinished().state.rawValue)")

try await queue.waitUntilAllFinished()
print(await trace.words.joined(separator: " "))
try await queue.finish()
