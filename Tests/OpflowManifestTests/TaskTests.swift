import OpflowManifest
import OpflowPlan
import Testing

struct TaskTests {
  @Test func `a string goes to the shell and a list is executed without one`() throws {
    let plan = try plan(
      """
      tasks:
        a: { run: make all }
        b: { run: [printf, "%s", 1, true] }
      """)
    #expect(plan.kind(try plan.id("a")) == .shell)
    #expect(try plan.scriptText("a") == "make all")
    #expect(try plan.shellWords("a") == ["/bin/sh", "-ec"])
    #expect(plan.kind(try plan.id("b")) == .command)
    #expect(try plan.wordTexts("b") == ["printf", "%s", "1", "true"])
  }

  @Test func `tasks keep the order of the manifest`() throws {
    let plan = try plan("# first\ntasks:\n  b: { run: x }\n\n  a:\n    run: y\n")
    #expect(plan.nameString(TaskID(0)) == "b")
    #expect(plan.nameString(TaskID(1)) == "a")
  }

  @Test func `needs take an id, a list, and conditions`() throws {
    let plan = try plan(
      """
      tasks:
        c: { needs: [a, { task: b, on: finished }, { task: d, on: failure }], run: x }
        a: { run: x }
        b: { needs: a, run: x }
        d: { run: x }
      """)
    #expect(try plan.needTexts("c") == ["a on success", "b on finished", "d on failure"])
    #expect(try plan.needTexts("b") == ["a on success"])
    #expect(try plan.needTexts("a") == [])
  }

  @Test func `environments merge from the top level over defaults to the task`() throws {
    let plan = try plan(
      """
      env: { A: top, B: top, V: 3.10 }
      defaults: { env: { B: default, C: default } }
      tasks:
        a: { run: x, env: { C: task, D: yes } }
        b: { run: x }
      """)
    #expect(try plan.environmentTexts("a") == ["A=top", "B=default", "V=3.10", "C=task", "D=yes"])
    #expect(try plan.environmentTexts("b") == ["A=top", "B=default", "V=3.10", "C=default"])
  }

  @Test func `dir is relative to the manifest's folder and normalised`() throws {
    let plan = try plan(
      """
      defaults: { dir: src }
      tasks:
        a: { run: x }
        b: { run: x, dir: ../lib/./x }
        c: { run: x, dir: /abs/ }
        d: { run: x, dir: "../../../.." }
      """)
    #expect(try plan.directoryText("a") == "/data/project/src")
    #expect(try plan.directoryText("b") == "/data/lib/x")
    #expect(try plan.directoryText("c") == "/abs")
    #expect(try plan.directoryText("d") == "/")
  }

  @Test func `shells by name stop at the first failure`() throws {
    let plan = try plan(
      """
      defaults: { shell: bash }
      tasks:
        a: { run: x }
        b: { run: x, shell: /usr/bin/dash }
        c: { run: x, shell: [python3, -c] }
      """)
    #expect(try plan.shellWords("a") == ["bash", "-eo", "pipefail", "-c"])
    #expect(try plan.shellWords("b") == ["/usr/bin/dash", "-ec"])
    #expect(try plan.shellWords("c") == ["python3", "-c"])
  }
}
