// The fuzzer: `Fuzz TARGET [LIBFUZZER-ARGUMENT...]`. scripts/stress builds it with OPFLOW_FUZZ,
// since all its code needs libFuzzer's coverage.

import CFuzzer
import FuzzEntries
import Glibc

nonisolated(unsafe) var target = FuzzTarget.manifest

// A merge restarts this program with libFuzzer's arguments only.
let variable = "OPFLOW_FUZZ_TARGET"
let isNamed = CommandLine.arguments.count > 1 && !CommandLine.arguments[1].hasPrefix("-")
let name =
  isNamed ? CommandLine.arguments[1] : getenv(variable).map { String(cString: $0) } ?? ""
guard let chosen = FuzzTarget(rawValue: name), setenv(variable, name, 1) == 0 else {
  print("usage: Fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) ARGUMENT...")
  exit(2)
}
target = chosen
if CommandLine.arguments.count == 4, CommandLine.arguments[2] == "--seeds" {
  for (number, seed) in try chosen.seeds().enumerated() {
    let file = open(
      "\(CommandLine.arguments[3])/seed-\(number)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0, write(file, seed, seed.count) == seed.count, close(file) == 0 else {
      perror("Fuzz: a seed cannot be written")
      exit(1)
    }
  }
  exit(0)
}

// libFuzzer gets the arguments after the target.
let words =
  [CommandLine.arguments[0], "-max_len=\(chosen.longestBytes)"]
  + CommandLine.arguments.dropFirst(isNamed ? 2 : 1)
var pointers = words.map { strdup($0) } + [nil]
var count = Int32(words.count)
let code = pointers.withUnsafeMutableBufferPointer { buffer in
  var start = buffer.baseAddress
  return LLVMFuzzerRunDriver(&count, &start) { data, size in
    do throws(FuzzFinding) {
      try target.check(UnsafeRawBufferPointer(start: data, count: size))
    } catch {
      "finding: \(error)\n".withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
      abort()
    }
    return 0
  }
}
exit(code)
