import Foundation
import Testing

/// Kinds of tasks that join a run which had none of them.
struct AddedKindTests {
  private func begin(
    _ flags: String...
  ) throws -> (place: Workplace, run: LiveProcess) {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        work: { run: 'echo in > in; read w < out; echo 7 > $OPFLOW_VALUES/n' }
      """)
    let (`in`, _) = (try place.gate("in"), try place.gate("out"))
    let run = try place.startShell("exec $opflow run \(flags.joined(separator: " "))")
    _ = try `in`.next()
    return (place, run)
  }

  private func add(_ text: String, to place: Workplace, _ run: LiveProcess) throws {
    try place.write("more.yaml", text)
    try place.opflow("add", "more.yaml")
    try place.gate("out").letGo()
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    place.expectNothingAlive()
  }

  @Test func `a service, and what needs it`() throws {
    let (place, run) = try begin()
    try add(
      """
      tasks:
        db:
          run: 'trap "exit 0" TERM; echo up > up; while :; do sleep 0.05; done'
          service: { ports: [db], ready: { exec: [test, -e, up], every: 20ms } }
        use: { needs: [db, work], run: 'echo ${OPFLOW_PORT_DB:+port} >> trace' }
      """, to: place, run)
    #expect(place.lines() == ["port"])
  }

  @Test func `one with inputs, which is up to date the next time`() throws {
    let (place, run) = try begin()
    try place.write("in.txt", "1")
    try add(
      """
      tasks:
        copy: { needs: [work], inputs: [in.txt], outputs: [out.txt], run: 'cp in.txt out.txt; echo c >> trace' }
        again: { needs: [copy], inputs: [out.txt], outputs: [end.txt], run: 'cp out.txt end.txt; echo a >> trace' }
      """, to: place, run)
    #expect(place.lines() == ["c", "a"])
    try place.write("in.txt", "2")
    try place.gate("out").letGo()
    try place.opflow("resume")
    #expect(place.lines() == ["c", "a", "c", "a"])
    #expect(try place.text("end.txt") == "2")
  }

  @Test func `a value of a task of the run is read`() throws {
    let (place, run) = try begin()
    try add(
      """
      tasks:
        one: { needs: [work], run: 'echo 8 > $OPFLOW_VALUES/m' }
        two: { needs: [one], env: { M: '${{ needs.one.m }}' }, run: 'echo $M >> trace' }
      """, to: place, run)
    #expect(place.lines() == ["8"])
  }

  @Test func `a download that fails as it does in any run`() throws {
    let (place, run) = try begin()
    try place.write(
      "more.yaml",
      """
      tasks:
        get: { download: { url: 'http://127.0.0.1:9/x', to: x }, retry: 0, allow_failure: true }
        after: { needs: [{ task: get, on: finished }], run: echo after >> trace }
      """)
    try place.opflow("add", "more.yaml")
    try place.gate("out").letGo()
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["after"])
    #expect(try place.status()["get"]?.state == "failed")
  }

  @Test func `a gate, which is answered`() throws {
    let (place, run) = try begin()
    try place.write(
      "more.yaml",
      "tasks: { ask: { approve: Go on? }, go: { needs: [ask, work], run: echo go >> trace } }")
    try place.opflow("add", "more.yaml")
    try place.opflow("approve", "ask")
    try place.gate("out").letGo()
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.lines() == ["go"])
  }

  @Test func `a finally task, which runs at the end`() throws {
    let (place, run) = try begin()
    try add(
      """
      tasks:
        last: { finally: true, run: 'echo last $OPFLOW_RUN_STATE >> trace' }
        a: { needs: [work], run: echo a >> trace }
      """, to: place, run)
    #expect(place.lines() == ["a", "last succeeded"])
  }

  @Test func `on another machine its workers see what was added`() throws {
    let (place, run) = try begin("--on", "'exec:exec $opflow agent'", "-j", "4")
    try add(
      """
      tasks:
        a: { matrix: { n: [1, 2, 3, 4, 5, 6] }, run: 'echo a >> trace' }
        b: { needs: [a, work], run: echo b >> trace }
      """, to: place, run)
    #expect(place.lines().count == 7 && place.lines().last == "b")
  }
}
