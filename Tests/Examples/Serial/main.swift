// A serial queue: one task at a time, in the order of their addition.
import Opflow

let queue = try await TaskQueue(name: "letters", maxConcurrent: 1)
for letter in ["a", "b", "c"] {
  try await queue.add(letter, .shell("echo \(letter) >> letters.txt"))
}
try await queue.waitUntilAllFinished()
print("\(queue.tally[.succeeded]) written, \(queue.count) left")
try await queue.finish()
