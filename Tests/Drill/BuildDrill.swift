import Foundation
import Glibc

/// Builds a few hundred C files while processes are killed and system calls fail at random, resumes
/// until the build is complete, and compares all files with those of an undisturbed build.
package struct BuildDrill {
  private let program: String
  private let injector: String
  private let parent: String
  private let mark = UUID().uuidString
  private let files: Int
  private var random: DrillNumbers
  private var strikes: Strikes
  private var proven: Set<String> = []
  private var attempts = 0
  package private(set) var kills = 0
  package private(set) var faults = 0
  package private(set) var sessions = 0

  package init(program: String, injector: String, seed: UInt64, files: Int, parent: String) throws {
    self.program = program
    self.injector = injector
    self.files = files
    self.parent = parent + "/opflow-build-" + mark
    random = DrillNumbers(seed: seed)
    strikes = Strikes(mark: mark)
    let source = SourceTree(files: files, &random)
    for folder in [disturbed, undisturbed] { try source.write(to: folder) }
  }

  private var disturbed: String { parent + "/disturbed" }
  private var undisturbed: String { parent + "/undisturbed" }

  /// Disturbs at most `count` sessions. Removes the folder unless an error is found.
  package mutating func run(disturbing count: Int) throws {
    let whole = try Victim(program, ["run", "--output", "quiet"], folder: undisturbed, mark: mark)
    guard whole.end(withinMilliseconds: 600_000) == 0 else {
      throw DrillFinding("the build fails by itself: " + output(undisturbed))
    }
    while try !session(isDisturbed: sessions < count) {}
    let difference = try Victim(
      "/usr/bin/diff",
      // A killed `ar` leaves a temporary file.
      ["-r", "-x", ".opflow", "-x", "attempts", "-x", "last.out", "-x", "st??????"]
        + [undisturbed, disturbed],
      folder: parent, mark: mark)
    if difference.end(withinMilliseconds: 60_000) != 0 {
      throw finding("the results differ: " + output(parent))
    }
    try FileManager.default.removeItem(atPath: parent)
  }

  /// Returns true if the build is complete.
  private mutating func session(isDisturbed: Bool) throws -> Bool {
    sessions += 1
    strikes.begin()
    let words = [journalPath == nil ? "run" : "resume", "--output", "quiet", "-k"]
    var signal: Int32 = 0
    var isFaulty = false
    let victim: Victim
    if isDisturbed, random.chance(20) {
      isFaulty = true
      faults += 1
      victim = try Victim(
        injector, fault.arguments + ["--", program] + words, folder: disturbed, mark: mark)
    } else {
      victim = try Victim(program, words, folder: disturbed, mark: mark)
      while isDisturbed, signal == 0 {
        if victim.end(withinMilliseconds: random.below(700)) != nil { break }
        signal = strikes.strike(victim, &random)
        kills += 1
      }
    }
    guard let status = victim.end(withinMilliseconds: 600_000) else {
      throw finding("it does not end after signal \(signal)")
    }
    switch status {
    case 0: break
    case 1 where strikes.killedOthers || isFaulty: break
    case 74 where isFaulty: break
    case 128 + signal where signal != 0, -signal where signal != 0: break
    case -SIGKILL where isFaulty, -SIGABRT where isFaulty, -SIGSEGV where isFaulty,
      -SIGILL where isFaulty, -SIGTRAP where isFaulty:
      break
    default: throw finding("it ended with \(status) after signal \(signal)")
    }
    if !strikes.mayHaveOrphans {
      let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 20_000)
      if !left.isEmpty { throw finding("left alive: \(left.map(\.command))") }
    }
    try checkJournal()
    return status == 0
  }

  private var fault: Fault {
    mutating get {
      let calls = [
        "read", "write", "close", "openat", "epoll_ctl", "fdatasync", "pipe2", "waitid",
        "execve", "ppoll", "clone", "mmap", "newfstatat", "fcntl", "epoll_pwait2",
      ]
      let errors = Fault.Error.allCases
      let first = 1 + random.below(400)
      return Fault(
        role: random.chance(50) ? "coordinator" : "worker", call: calls[random.below(calls.count)],
        error: errors[random.below(errors.count)], first: first, last: first)
    }
  }

  private mutating func checkJournal() throws {
    let lines = text("attempts").split(separator: "\n").map(String.init)
    let again = Set(lines.dropFirst(attempts)).intersection(proven)
    if !again.isEmpty { throw finding("ran again though proven: \(again.sorted())") }
    attempts = lines.count
    guard let path = journalPath, let data = FileManager.default.contents(atPath: path) else {
      return
    }
    let proof = JournalProof([UInt8](data))
    let lost = proven.subtracting(proof.successes)
    if !lost.isEmpty { throw finding("proven, and not any more: \(lost.sorted())") }
    proven = proof.successes
  }

  private var journalPath: String? { JournalProof.newestPath(in: disturbed) }

  private func text(_ name: String) -> String {
    let data = FileManager.default.contents(atPath: disturbed + "/" + name) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  private func output(_ folder: String) -> String {
    let data = FileManager.default.contents(atPath: folder + "/last.out") ?? Data()
    return String(String(decoding: data, as: UTF8.self).suffix(3000))
  }

  private func finding(_ text: String) -> DrillFinding {
    DrillFinding("drive \(sessions): \(text)\n\(parent)\n\(output(disturbed))")
  }
}

/// C files that call each other, and a manifest that builds libraries and a program from them and
/// runs the program.
struct SourceTree {
  private var sources: [String] = []
  private var manifest = "max_parallel: 3\ndefaults: { retry: { max: 1000, delay: 0 } }\ntasks:\n"
  private var headers = ""

  private static let perLibrary = 20

  init(files: Int, _ random: inout DrillNumbers) {
    for index in 0..<files {
      headers += "unsigned f\(index)(unsigned);\n"
      var body = "#include \"all.h\"\nstatic const char name[] = \"file \(index)\";\n"
      body +=
        "unsigned f\(index)(unsigned x) {\n  x = x * 2654435761u + sizeof name + name[x % 4];\n"
      for _ in 0..<min(index, 2) {
        body += "  if (x % 7 == \(random.below(7))) x += f\(random.below(index))(x / 3);\n"
      }
      sources.append(body + "  return x;\n}\n")
      manifest += task("o\(index)", needs: [], "cc -O1 -Isrc -c src/\(index).c -o obj/\(index).o")
    }
    var libraries: [String] = []
    for first in stride(from: 0, to: files, by: Self.perLibrary) {
      let members = first..<min(first + Self.perLibrary, files)
      let library = "lib\(first)"
      libraries.append(library)
      let objects = members.map { "obj/\($0).o" }.joined(separator: " ")
      // Starts from scratch, since a killed build may leave half an archive.
      manifest += task(
        library, needs: members.map { "o\($0)" },
        "rm -f obj/\(library).a; ar rcD obj/\(library).a \(objects)")
    }
    let archives = libraries.map { "obj/\($0).a" }.joined(separator: " ")
    manifest += task(
      "app", needs: libraries,
      "cc -O1 -Isrc src/main.c -Wl,--start-group \(archives) -Wl,--end-group -o obj/app")
    manifest += task("result", needs: ["app"], "obj/app > obj/result")
    let calls = (0..<files).map { "  x += f\($0)(x);\n" }.joined()
    sources.append(
      "#include \"all.h\"\n#include <stdio.h>\nint main(void) {\n  unsigned x = 1;\n\(calls)"
        + "  printf(\"%u\\n\", x);\n  return 0;\n}\n")
  }

  private func task(_ name: String, needs: [String], _ command: String) -> String {
    "  \(name):\n    needs: [\(needs.joined(separator: ", "))]\n    run: |\n"
      + "      echo \(name) >> attempts\n      \(command)\n"
  }

  func write(to folder: String) throws {
    for part in ["src", "obj"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(part)", withIntermediateDirectories: true)
    }
    for (index, source) in sources.enumerated() {
      let name = index == sources.count - 1 ? "main" : "\(index)"
      try source.write(toFile: "\(folder)/src/\(name).c", atomically: false, encoding: .utf8)
    }
    try headers.write(toFile: "\(folder)/src/all.h", atomically: false, encoding: .utf8)
    try manifest.write(toFile: "\(folder)/opflow.yaml", atomically: false, encoding: .utf8)
  }
}
