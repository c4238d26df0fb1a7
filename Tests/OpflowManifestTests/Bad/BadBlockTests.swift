import OpflowPlan
import Testing

@testable import OpflowManifest

/// Wrong declarations of what programs do.
struct BadBlockTests {
  @Test(arguments: cases)
  func `is refused with every mistake at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a block that is none", task: "block: false", "3:12: `block` is `true` where it stands"),
    BadManifest(
      "a block that is something else", task: "block: parse",
      "3:12: `block` must be true or false, not `parse`"),
    BadManifest(
      "a block that runs something", task: "run: x\nblock: true",
      "4:5: a task has either `run` or `block`, and this one has both"),
    BadManifest(
      "a block with what is said of processes",
      task: """
        block: true
        env: { A: b }
        dir: x
        shell: [sh]
        inputs: [a]
        outputs: [b]
        secrets: [S]
        control: true
        interactive: true
        finally: true
        memory_limit: 1GB
        """,
      "4:5: `env` says nothing of a block", "5:5: `dir` says nothing of a block",
      "6:5: `shell` says nothing of a block", "7:5: `inputs` says nothing of a block",
      "8:5: `outputs` says nothing of a block", "9:5: `secrets` says nothing of a block",
      "10:5: `control` says nothing of a block", "11:5: `interactive` says nothing of a block",
      "12:5: `finally` says nothing of a block", "13:5: `memory_limit` says nothing of a block"),
    BadManifest(
      "a block that is a service", task: "block: true\nservice: true",
      "4:5: a service goes with `run`, not with `block`"),
    BadManifest(
      "a block that needs a service",
      """
      tasks:
        db: { run: x, service: true }
        b: { block: true, needs: [db] }
      """, "3:29: a block (`block`) cannot need the service `db`"),
  ]

  @Test func `a block has the policies of any task`() throws {
    let plan = try plan(
      """
      defaults: { env: { A: b }, timeout: 1m }
      tasks:
        a:
          block: true
          retry: { max: 2, exit_codes: [1] }
          priority: high
          on_interrupted: fail
          allow_failure: [2]
          stop: { grace: 1s }
          resources: { cpu: 2 }
        b: { block: true, needs: [a], if: false }
        c: { needs: [b], block: true, manual: true, matrix: { n: [1, 2] } }
      """)
    #expect(plan.hasExternalTasks)
    let task = try #require(plan.task(named: "a"))
    #expect(plan.kind(task) == .block)
    #expect(plan.policy(task).timeoutMilliseconds == 60_000)
    #expect(plan.policy(task).retryMax == 2)
    #expect(plan.policy(task).stopGraceMilliseconds == 1000)
    #expect(plan.flags(task).contains(.failWhenInterrupted))
    #expect(plan.demandList(plan.demand[task.index]).map(\.amount) == [2])
  }
}
