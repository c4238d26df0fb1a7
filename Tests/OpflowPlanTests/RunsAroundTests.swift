import OpflowBase
import OpflowPlan
import Testing

struct RunsAroundTests {
  private let outer = "20261126-120000-0001"
  private let inner = "20261126-120001-0002"

  private func environment(_ entries: String...) -> [UInt8] {
    entries.flatMap { Array($0.utf8) + [0] }
  }

  @Test func `each run adds itself, once`() {
    #expect(RunsAround(nil, own: nil).text(with: outer) == outer)
    #expect(RunsAround(nil, own: outer).text(with: inner) == "\(outer) \(inner)")
    #expect(RunsAround(outer, own: outer).text(with: inner) == "\(outer) \(inner)")
    #expect(RunsAround("\(outer) \(inner)", own: inner).text(with: inner) == "\(outer) \(inner)")
    #expect(RunsAround("  x \(outer) ../y ", own: nil).text(with: inner) == "\(outer) \(inner)")
    #expect(RunsAround(nil, own: nil).variables(with: outer).isEmpty)
    #expect(
      RunsAround(nil, own: outer).variables(with: inner)
        == ["OPFLOW_RUN=\(inner)", "OPFLOW_RUNS=\(outer) \(inner)"])
  }

  @Test func `a list grows no longer than anybody needs`() {
    var text: String?
    for serial in 0..<200 {
      let run = RunID(seconds: 1_000_000, serial: UInt16(serial)).description
      text = RunsAround(text, own: nil).text(with: run)
    }
    #expect(text?.split(separator: " ").count == 64)
    #expect(text?.hasSuffix(RunID(seconds: 1_000_000, serial: 199).description) == true)
  }

  @Test func `a process is of its run and of all around it`() {
    let task = environment("A=1", "OPFLOW_RUNS=\(outer) \(inner)", "OPFLOW_RUN=\(inner)")
    #expect(RunsAround.isOf(outer, task) && RunsAround.isOf(inner, task))
    #expect(RunsAround.isWithin(outer, task) && !RunsAround.isWithin(inner, task))
    let own = environment("OPFLOW_RUN=\(outer)", "OPFLOW_RUNS=\(outer)")
    #expect(RunsAround.isOf(outer, own) && !RunsAround.isOf(inner, own))
    #expect(!RunsAround.isWithin(outer, own))
    // A process without the variable gets the answer of its parent.
    for other in [[], environment("OPFLOW_RUN=\(inner)"), environment("XOPFLOW_RUNS=\(outer)")] {
      #expect(!RunsAround.isWithin(outer, other) && !RunsAround.isOf(outer, other))
    }
  }

  @Test func `a task around is what a journal says`() {
    let around = TaskAround("\(outer) build/a b")
    #expect(around?.task == "build/a b" && around?.text == "\(outer) build/a b")
    #expect(TaskAround("x y") == nil && TaskAround(outer) == nil)
  }

  @Test func `a task is around what it runs, and what that runs in turn`() {
    let key = Hash.planKey([1])
    let none = TasksAround(nil, manifest: nil, task: nil)
    #expect(none.isEmpty && none.variables(of: "/a", key) == ["OPFLOW_MANIFEST=/a"])
    let one = TasksAround(nil, manifest: "/a", task: "test")
    #expect(one.contains("test", of: "/a", key))
    #expect(!one.contains("test", of: "/b", key) && !one.contains("tes", of: "/at", key))
    let variables = one.variables(of: "/b", key)
    let text = variables.last.map { String($0.dropFirst("OPFLOW_TASKS=".count)) }
    let two = TasksAround(text, manifest: "/b", task: "x")
    #expect(two.contains("test", of: "/a", key) && two.contains("x", of: "/b", key))
    #expect(!two.contains("x", of: "/a", key))
  }

  @Test func `a manifest from standard input is told from others by its plan`() {
    let (key, other) = (Hash.planKey([1]), Hash.planKey([2]))
    let variables = TasksAround(nil, manifest: nil, task: nil).variables(of: "-", key)
    #expect(variables.first == "OPFLOW_MANIFEST=-")
    let text = variables.last.map { String($0.dropFirst("OPFLOW_TASKS=".count)) }
    let inner = TasksAround(text, manifest: "-", task: "test")
    #expect(inner.contains("test", of: "-", key) && !inner.contains("test", of: "-", other))
    let innermost = TasksAround(
      inner.variables(of: "/b", other).last.map { String($0.dropFirst("OPFLOW_TASKS=".count)) },
      manifest: "/b", task: "x")
    #expect(innermost.contains("test", of: "-", key) && innermost.contains("x", of: "/b", other))
  }
}
