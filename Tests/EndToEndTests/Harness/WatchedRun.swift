import Glibc
import Testing

/// `opflow run --watch`, which goes from one round to the next.
extension Workplace {
  /// Starts it, and waits until its first round is over.
  func watch(_ tasks: String..., environment: [String: String] = [:]) throws -> LiveProcess {
    let run = try launch(
      Program.path, ["run", "--watch"] + tasks, input: nil, environment: environment, in: nil
    ).start()
    try run.waitForRounds(1)
    return run
  }
}

extension LiveProcess {
  /// Reads until `count` rounds are over and opflow waits for changes.
  func waitForRounds(_ count: Int) throws {
    try waitForError(" for changes (Ctrl-C to quit)", times: count)
  }

  /// Does what a person does who is done.
  ///
  /// - Returns: what was told.
  func leave(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    send(SIGINT)
    let end = try finish()
    #expect(end.status == -SIGINT, "\(end)", sourceLocation: sourceLocation)
    return end.errors
  }
}
