import OpflowPlan
import Testing

@testable import OpflowManifest

/// Wrong declarations of external tasks.
struct BadBlockTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a block that is none", task: "block: false", "3:12: `block` must be `true`"),
    BadManifest(
      "a block that is something else", task: "block: parse",
      "3:12: `block` must be true or false, not `parse`"),
    BadManifest(
      "a block that runs something", task: "run: x\nblock: true",
      "4:5: a task cannot have both `run` and `block`"),
    BadManifest(
      "a block with keys of processes",
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
      "4:5: an external task (`block`) cannot have `env`",
      "5:5: an external task (`block`) cannot have `dir`",
      "6:5: an external task (`block`) cannot have `shell`",
      "7:5: an external task (`block`) cannot have `inputs`",
      "8:5: an external task (`block`) cannot have `outputs`",
      "9:5: an external task (`block`) cannot have `secrets`",
      "10:5: an external task (`block`) cannot have `control`",
      "11:5: an external task (`block`) cannot have `interactive`",
      "12:5: an external task (`block`) cannot have `finally`",
      "13:5: an external task (`block`) cannot have `memory_limit`"),
    BadManifest(
      "a block that is a service", task: "block: true\nservice: true",
      "4:5: a service must have `run`, not `block`"),
    BadManifest(
      "a block that needs a service",
      """
      tasks:
        db: { run: x, service: true }
        b: { block: true, needs: [db] }
      """, "3:29: an external task (`block`) cannot need the service `db`"),
  ]

  @Test func `an external task has the policies of any task`() throws {
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
