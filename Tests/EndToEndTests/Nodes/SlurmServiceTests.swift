import Foundation
import Glibc
import Testing

/// Services on the nodes of a real cluster, with their dependents.
@Suite(.whereSlurmIs, .serialized, .onSlurmCluster)
struct SlurmServiceTests {
  /// A service that tells its node, and tasks that ask it by the address of their own.
  ///
  /// - Parameter rest: of the script of those.
  private static func tasks(then rest: String) -> String {
    """
      web:
        service: { ports: [http], ready: { port: http } }
        run: |
          mkdir -p www-$OPFLOW_ATTEMPT
          echo $SLURMD_NODENAME > www-$OPFLOW_ATTEMPT/node
          exec python3 -m http.server "$OPFLOW_PORT_HTTP" --bind 127.0.0.1 --directory www-$OPFLOW_ATTEMPT
      read:
        matrix: { n: { range: [1, 6] } }
        needs: [web]
        shell: bash
        run: |
          node=$(curl -s "http://127.0.0.1:$OPFLOW_PORT_HTTP/node")
          echo "$node $SLURMD_NODENAME" >> asked
          \(rest)
    """
  }

  @Test func `a service is on the node of what needs it`() throws {
    let run = try SlurmRun(tasks: 30, seconds: 0.1, extra: Self.tasks(then: ""))
    let finished = try run.start().finish()
    #expect(finished.status == 0, "\(finished)")
    let asked = Set(run.place.lines("asked"))
    #expect(["n1 n1", "n2 n2", "n3 n3"].contains(asked.first) && asked.count == 1, "\(asked)")
    #expect(try run.place.status().counts["succeeded"] == 37)
    try run.expectGone()
  }

  @Test func `the node of a service is lost while it is in use`() throws {
    let run = try SlurmRun(
      tasks: 60, seconds: 0.2,
      extra: Self.tasks(then: "if [[ ! -e struck ]]; then echo $node > in-use; exec sleep 1000; fi")
    )
    let used = try run.place.gate("in-use")
    let process = try run.start()
    let node = try used.next()
    try run.place.shell("touch struck")
    try run.strike("kill -KILL $agent", on: node)
    let finished = try process.finish()
    #expect(finished.status == 0, "\(finished)")
    let asked = run.place.lines("asked")
    #expect(asked.allSatisfy { $0.split(separator: " ").count == 2 }, "\(asked)")
    // Each was answered by its own node, before and after.
    #expect(asked.allSatisfy { Set($0.split(separator: " ")).count == 1 }, "\(asked)")
    #expect(try run.place.status().counts["succeeded"] == 67)
    #expect(run.place.lines("twice") == [])
    try run.expectGone()
  }
}
