// A download with progress that continues where it stopped when the program is restarted.
import Opflow

let url = CommandLine.arguments[1]
let hash = CommandLine.arguments[2]
let enough = Double(CommandLine.arguments[3]) ?? 1

let queue = try await TaskQueue(name: "downloads")
let file = try await queue.add(
  "file", .download(url, to: "file.bin", sha256: hash, maxSpeed: 4_000_000))
for await change in file.changes(.newest) {
  guard let fraction = change.progress?.fraction, fraction >= enough else { continue }
  print("left at a part of it")
  break
}
if file.isFinished {
  print("\(file.state.rawValue): \(file.outcome.message ?? "whole")")
  try await queue.finish()
}
