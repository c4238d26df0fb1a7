// Three ways to observe state: closures, sequences and properties.
import Opflow

let queue = try await TaskQueue(name: "observed")
let all = queue.changes
let good = try await queue.add("good", .shell("exit 0"))
let bad = try await queue.add("bad", .shell("exit 3"))
let left = try await queue.add("left", .shell("true"), needs: [bad])

await withCheckedContinuation { continuation in
  good.whenFinished { outcome in
    print("good: \(outcome.state.rawValue)")
    continuation.resume()
  }
}
let outcome = try await bad.waitUntilFinished()
print("bad: \(outcome.state.rawValue), exit code \(outcome.exitCode ?? -1)")

var seen: [TaskStatus] = []
for await change in left.changes { seen.append(change.state) }
print(
  """
  left: \(seen.last?.rawValue ?? "-"), ready: \(left.isReady), reason: \(left.outcome.reason ?? "-")
  """
)

try await queue.finish()
var ends = 0
for await change in all where change.state.isFinished { ends += 1 }
print("\(ends) ends were told")
