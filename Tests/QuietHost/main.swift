// Checks that the library leaves the program's children, signals and threads alone. A test compares
// the output.
import Glibc
import Opflow
import Synchronization

let childSignals = Atomic<Int>(0)

func statusLine(_ name: String) -> String {
  guard let file = fopen("/proc/self/status", "r") else { return "" }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 512)
  while fgets(&line, Int32(line.count), file) != nil {
    let text = line.withUnsafeBufferPointer { buffer in
      String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    if text.hasPrefix("\(name):") { return String(text.dropFirst(name.count + 1)) }
  }
  return ""
}

/// Returns a set of signals without the two that the C library uses itself.
func signals(_ name: String) -> UInt64 {
  (UInt64(statusLine(name).filter { !$0.isWhitespace }, radix: 16) ?? 0) & ~(3 << 31)
}

/// Returns the process ID of the run's coordinator, from its lock file.
func owner(of queue: TaskQueue) -> pid_t {
  guard let file = fopen("\(queue.folder)/runs/\(queue.runID)/lock", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 64)
  guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
  return pid_t(strtol(line, nil, 10))
}

signal(SIGCHLD) { _ in childSignals.add(1, ordering: .relaxed) }
let (ignored, caught) = (signals("SigIgn"), signals("SigCgt"))

// Two queues at once, one of which loses its coordinator.
let one = try await TaskQueue(name: "one")
let two = try await TaskQueue(name: "two")
try await one.add("a", .shell("true"))
let slow = try await two.add("b", .shell("sleep 0.3"))
for await change in slow.changes where change.state == .running { break }
kill(owner(of: two), SIGKILL)
try await one.waitUntilAllFinished()
let outcome = try await slow.waitUntilFinished()
print("b: \(outcome.state.rawValue), tries: \(outcome.attempts)")

print("children: \(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD ? "none" : "some")")
print("SIGCHLD: \(childSignals.load(ordering: .relaxed))")
print(
  "handlers are those of before: \(signals("SigIgn") == ignored && signals("SigCgt") == caught)"
)

// A child of the program, which only the program may reap.
var child = pid_t()
var arguments: [UnsafeMutablePointer<CChar>?] = [
  strdup("/bin/sh"), strdup("-c"), strdup("exit 7"), nil,
]
posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ)
var status: Int32 = 0
while waitpid(child, &status, 0) == -1, errno == EINTR {}
print("own child: \(status >> 8)")

// A forked child has no queue and cannot use one. Its inherited descriptors must not keep the run
// alive after this program has ended.
typealias Fork = @convention(c) () -> pid_t
let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
let forked = fork()
if forked == 0 {
  // A forked child of a threaded program may do little: it waits for its kill.
  for descriptor: Int32 in 0...2 { close(descriptor) }
  while true { pause() }
}
print("forked: \(forked)")
print("waiting")
fflush(nil)
try await one.add("c", .shell("sleep 600"))
try await one.waitUntilAllFinished()
