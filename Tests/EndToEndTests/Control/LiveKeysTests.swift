import Foundation
import Glibc
import Screen
import Testing

/// The keys of the live view, at a real terminal.
struct LiveKeysEndTests {
  private static let manifest = """
    name: demo
    max_parallel: 2
    max_failures: 0
    tasks:
      a: { run: "echo from a; echo here > here; read x < go" }
      b: { run: "echo from b; echo here > here; read x < on" }
      last: { needs: [{ task: a, on: finished }, b], run: "true" }
    """

  private func wait(for terminal: LiveTerminal, keys: Bool) throws {
    try terminal.wait { _ in terminal.isCooked != keys }
  }

  /// A run at a terminal, of which two tasks run and the view has the keyboard.
  private func begin() throws -> (place: Workplace, terminal: LiveTerminal) {
    let place = try Workplace(Self.manifest)
    let (here, _, _) = (try place.gate("here"), try place.gate("go"), try place.gate("on"))
    let terminal = try place.startAtTerminal("run")
    _ = try here.next(2)
    try wait(for: terminal, keys: true)
    return (place, terminal)
  }

  private func requesters(_ place: Workplace) throws -> [String] {
    try place.journal().filter { $0.event == "order" }.map {
      "\($0.values["verb"] ?? "") \($0.values["by"] ?? "")"
    }
  }

  @Test func `p pauses and continues, and the journal tells that it was asked by keys`() throws {
    let (place, terminal) = try begin()
    try terminal.type("p")
    try terminal.wait { $0.text.last?.contains("paused by keys") == true }
    try terminal.type("p")
    try terminal.wait { $0.text.last?.contains("paused by") == false }
    // Two at once make room for two.
    try terminal.type("++")
    try terminal.wait {
      $0.text.contains { $0.hasPrefix("limit of cpu set to 4 by keys") }
    }
    try terminal.type("-")
    try terminal.wait {
      $0.text.count { $0.hasPrefix("limit of cpu set to 3 by keys") } == 2
    }
    try place.gate("go").letGo()
    try place.gate("on").letGo()
    #expect(try terminal.finish() == 0)
    #expect(terminal.isCooked)
    #expect(
      try requesters(place) == [
        "pause keys", "continue keys", "parallel keys", "parallel keys", "parallel keys",
      ])
  }

  @Test func `c cancels the task that is chosen, and no other`() throws {
    let (place, terminal) = try begin()
    try terminal.type("c")
    try terminal.wait { $0.text.contains { $0.hasPrefix("cancel which task?") } }
    try terminal.wait { $0.text.contains { $0.hasPrefix("> ") } }
    let shown = terminal.screen.text
    let first = shown.first { $0.hasPrefix("> ") }?.dropFirst(2).prefix(1)
    try terminal.type("\u{1b}[B")
    try terminal.wait {
      $0.text.contains { $0.hasPrefix("> ") && $0.dropFirst(2).prefix(1) != first }
    }
    let chosen = terminal.screen.text.first { $0.hasPrefix("> ") }?.dropFirst(2).prefix(1)
    try terminal.type("\r")
    try terminal.wait { $0.text.contains { $0.hasPrefix("cancel \(chosen ?? "?")? y to cancel") } }
    try terminal.type("y")
    let other = chosen == "a" ? "on" : "go"
    try terminal.wait { $0.text.contains { $0.hasPrefix("\(chosen ?? "?") cancelled by keys") } }
    try place.gate(other).letGo()
    #expect(try terminal.finish() == 6)
    #expect(terminal.isCooked)
    let status = try place.status()
    #expect(status[String(chosen ?? "?")]?.state == "cancelled")
    #expect(status[String(first ?? "?")]?.state == "succeeded")
  }

  @Test func `t and l show what is printed, ? what keys there are`() throws {
    let (place, terminal) = try begin()
    try terminal.type("t")
    try terminal.wait { screen in
      screen.text.contains("  | from a") && screen.text.contains("  | from b")
    }
    try terminal.type("t")
    try terminal.wait { !$0.text.contains("  | from a") }
    try terminal.type("l")
    try terminal.wait { $0.text.contains { $0.hasPrefix("follow the log of which task?") } }
    try terminal.type("\r")
    try terminal.wait { screen in
      screen.text.contains { $0.hasPrefix("log of ") }
        && screen.text.contains { $0.hasPrefix("  | from ") }
    }
    try terminal.type("?")
    try terminal.wait { $0.text.contains { $0.hasPrefix("t last output") } }
    for columns in [40, 200] {
      try terminal.resize(columns: columns, rows: 20)
      try terminal.wait { $0.text.last?.hasPrefix("[0/3]") == true }
    }
    try terminal.type("\u{1b}")
    try terminal.wait { !$0.text.contains { $0.hasPrefix("t last output") } }
    try place.gate("go").letGo()
    try place.gate("on").letGo()
    #expect(try terminal.finish() == 0)
    #expect(terminal.isCooked)
    #expect(!terminal.screen.text.contains { $0.contains("t last output") })
  }

  @Test func `a answers a question`() throws {
    let place = try Workplace(
      "tasks: { ask: { approve: May it? }, b: { needs: [ask], run: 'true' } }")
    let terminal = try place.startAtTerminal("run")
    try wait(for: terminal, keys: true)
    try terminal.type("a")
    try terminal.wait { $0.text.contains { $0.hasPrefix("approve or reject which task?") } }
    try terminal.type("\r")
    try terminal.wait { $0.text.contains { $0.hasPrefix("ask: y to approve, r to reject") } }
    try terminal.type("y")
    #expect(try terminal.finish() == 0)
    #expect(terminal.isCooked)
    #expect(try requesters(place) == ["approve keys"])
  }

  @Test func `who watches another one's run has the same keys, and q leaves it alone`() throws {
    let place = try Workplace(Self.manifest)
    let (here, _, _) = (try place.gate("here"), try place.gate("go"), try place.gate("on"))
    let run = try place.start("run")
    _ = try here.next(2)
    let terminal = try place.startAtTerminal("status", "--watch")
    try wait(for: terminal, keys: true)
    try terminal.type("p")
    try terminal.wait { $0.text.last?.contains("paused by keys") == true }
    try terminal.type("p")
    try terminal.wait { $0.text.last?.contains("paused by") == false }
    try terminal.type("++")
    try terminal.wait {
      $0.text.contains { $0.hasPrefix("limit of cpu set to 4 by keys") }
    }
    try terminal.type("+")
    try terminal.wait {
      $0.text.contains { $0.hasPrefix("limit of cpu set to 5 by keys") }
    }
    try terminal.type("q")
    #expect(try terminal.finish() == 0)
    #expect(terminal.isCooked)
    try place.gate("go").letGo()
    try place.gate("on").letGo()
    #expect(try run.finish().status == 0)
    #expect(
      try requesters(place) == [
        "pause keys", "continue keys", "parallel keys", "parallel keys", "parallel keys",
      ])
  }

  @Test func `the terminal is given back when a key sends SIGQUIT`() throws {
    let (place, terminal) = try begin()
    try terminal.type("\u{1c}")
    #expect(try terminal.finish() == -SIGQUIT)
    #expect(terminal.isCooked)
    place.expectNothingAlive()
  }

  @Test func `the terminal is given back when the view stops, is stopped or ended`() throws {
    let (place, first) = try begin()
    try first.type("\u{3}")
    #expect(try first.finish() == -SIGINT)
    #expect(first.isCooked)
    let here = try place.gate("here")
    let shell = try place.startShellAtTerminal()
    try shell.wait { $0.text.last == ">" }
    try shell.type("$opflow resume\n")
    _ = try here.next(2)
    try wait(for: shell, keys: true)
    try shell.type("\u{1a}")
    try shell.wait { screen in
      screen.text.contains { $0.contains("Stopped") } && screen.text.last == ">"
    }
    #expect(shell.isCooked)
    try shell.type("fg\n")
    try wait(for: shell, keys: true)
    try shell.type("p")
    try shell.wait { $0.text.last?.contains("paused by keys") == true }
    try shell.type("p")
    try shell.wait { $0.text.last?.contains("paused by") == false }
    try place.gate("go").letGo()
    try place.gate("on").letGo()
    try shell.wait { screen in
      screen.text.contains { $0.contains("3 succeeded") } && screen.text.last == ">"
    }
    #expect(shell.isCooked)
    try shell.type("exit $?\n")
    #expect(try shell.finish() == 0)
  }

  @Test func `an interactive task has the keyboard as it was, and what is typed then is its own`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo here > here; read x < go" }
        ask: { needs: [a], interactive: true, run: "echo here > here; read x; echo got $x > said" }
        last: { needs: [ask], run: "echo here > here; read x < on" }
      """)
    let (here, go, on) = (try place.gate("here"), try place.gate("go"), try place.gate("on"))
    let terminal = try place.startAtTerminal("run")
    _ = try here.next()
    try wait(for: terminal, keys: true)
    try go.letGo()
    _ = try here.next()
    #expect(terminal.isCooked)
    try terminal.type("pcq+\n")
    _ = try here.next()
    #expect(try place.text("said") == "got pcq+\n")
    try wait(for: terminal, keys: true)
    try terminal.type("p")
    try terminal.wait { $0.text.last?.contains("paused by keys") == true }
    try on.letGo()
    #expect(try terminal.finish() == 0)
    #expect(terminal.isCooked)
    #expect(try requesters(place) == ["pause keys"])
  }

  @Test func `behind a pipe and in the background nothing of the terminal is set`() throws {
    let place = try Workplace(Self.manifest)
    let (here, go, on) = (try place.gate("here"), try place.gate("go"), try place.gate("on"))
    let shell = try place.startShellAtTerminal()
    try shell.wait { $0.text.last == ">" }
    try shell.type("$opflow run | cat\n")
    _ = try here.next(2)
    // Frames are drawn: had it taken the keyboard, it would have by then.
    try shell.wait { $0.text.last?.hasPrefix("[0/3]") == true }
    #expect(shell.isCooked)
    try go.letGo()
    try on.letGo()
    try shell.wait { screen in
      screen.text.contains { $0.contains("3 succeeded") } && screen.text.last == ">"
    }
    try shell.type("clear; $opflow run &\n")
    _ = try here.next(2)
    #expect(shell.isCooked)
    try go.letGo()
    try on.letGo()
    try shell.type("wait; exit 0\n")
    #expect(try shell.finish() == 0)
    #expect(shell.isCooked)
  }
}
