import CTestSupport
import Foundation
import Glibc

/// How to start a program: a value, so that a test can say only what matters to it.
struct Launch {
  var program: String
  var arguments: [String]
  var environment: [String: String]
  var folder: String
  var input: Input = .null
  /// A process group of its own, so that a signal to the group reaches it and not the tests.
  var ownGroup = true

  enum Input {
    case null
    case text(String)
  }

  /// Starts it with every signal at its default and none blocked. Standard output and standard
  /// error are pipes that the returned process owns.
  func start() throws -> LiveProcess {
    let output = try Pipe.make()
    let errors = try Pipe.make()
    let inputDescriptor = try openInput()
    defer {
      close(output.writing)
      close(errors.writing)
      close(inputDescriptor)
    }

    do {
      let pid = try spawn(ownGroup ? Int32(POSIX_SPAWN_SETPGROUP) : 0) { actions in
        posix_spawn_file_actions_adddup2(actions, inputDescriptor, 0)
        posix_spawn_file_actions_adddup2(actions, output.writing, 1)
        posix_spawn_file_actions_adddup2(actions, errors.writing, 2)
      }
      return try LiveProcess(pid: pid, output: output.reading, errors: errors.reading)
    } catch {
      close(output.reading)
      close(errors.reading)
      throw error
    }
  }

  /// Starts it in a session of its own at the terminal of that path, in its foreground.
  func start(atTerminal path: String) throws -> pid_t {
    // The first terminal that a session's leader opens becomes the session's.
    try spawn(Int32(ctest_spawn_new_session())) { actions in
      posix_spawn_file_actions_addopen(actions, 0, path, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(actions, 0, 1)
      posix_spawn_file_actions_adddup2(actions, 0, 2)
    }
  }

  private func spawn(
    _ flags: Int32, _ streams: (UnsafeMutablePointer<posix_spawn_file_actions_t>) -> Void
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    ctest_spawn_in_folder(&actions, folder)
    streams(&actions)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(Int32(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | flags))

    var pid: pid_t = 0
    let argv = [program] + arguments
    let envp = environment.map { "\($0.key)=\($0.value)" }
    let failure = withCStrings(argv) { argv in
      withCStrings(envp) { envp in
        posix_spawnp(&pid, program, &actions, &attributes, argv, envp)
      }
    }
    guard failure == 0 else { throw HarnessFailure.errno("starting \(program)", failure) }
    return pid
  }

  /// Text is given as an unlinked file: the whole of it is there and a reader meets its end.
  private func openInput() throws -> Int32 {
    switch input {
    case .null:
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw HarnessFailure.errno("/dev/null") }
      return descriptor
    case .text(let text):
      let path = NSTemporaryDirectory() + "opflow-input-" + UUID().uuidString
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      unlink(path)
      guard descriptor >= 0 else { throw HarnessFailure.errno(path) }
      return descriptor
    }
  }
}

/// A pipe whose ends no other child inherits.
private struct Pipe {
  let reading: Int32
  let writing: Int32

  static func make() throws -> Pipe {
    var ends: [Int32] = [0, 0]
    let failure = ctest_pipe(&ends)
    guard failure == 0 else { throw HarnessFailure.errno("pipe2", -failure) }
    return Pipe(reading: ends[0], writing: ends[1])
  }
}

private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
  pointers.append(nil)
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers)
}
