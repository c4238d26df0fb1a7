import Foundation
import Testing

/// Services beside what needs them, behind agents of other machines.
struct NodeServiceTests {
  private static let agent = "exec:exec $opflow agent"

  /// Tells the agent above its worker.
  private static let told = "ps -o ppid= -p $PPID"

  /// Serves the agent that it is behind, on a port of its own.
  private static let web = """
      web:
        service: { ports: [http], ready: { http: "http://127.0.0.1:$OPFLOW_PORT_HTTP/agent" } }
        run: |
          mkdir -p www-$OPFLOW_ATTEMPT
          \(told) > www-$OPFLOW_ATTEMPT/agent
          exec python3 -m http.server "$OPFLOW_PORT_HTTP" --bind 127.0.0.1 --directory www-$OPFLOW_ATTEMPT
    """

  /// Asks for that, and tells its own.
  private static let asks =
    "curl -s http://127.0.0.1:$OPFLOW_PORT_HTTP/agent >> asked; \(told) >> asked"

  @Test func `a service is behind the agent of all that needs it, and nothing is left`() throws {
    let place = try Workplace(
      """
      tasks:
      \(Self.web)
        read:
          matrix: { n: { range: [1, 4] } }
          needs: [web]
          run: \(Self.asks)
        free:
          matrix: { n: { range: [1, 4] } }
          run: echo free >> trace
      """)
    let run = try place.opflow("run", "--on", Self.agent, "--on", Self.agent, "-j", "4")
    #expect(place.lines("asked").count == 8, "\(run)")
    #expect(Set(place.lines("asked")).count == 1, "\(run)")
    #expect(place.lines().count == 4)
    #expect(try place.status().counts["succeeded"] == 9)
    place.expectNothingAlive()
  }

  @Test func `services of what stays on the coordinator's machine are there, and those that stay`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
      \(Self.web)
        read: { needs: [web], run: '\(Self.asks)', local: true }
        far: { run: '\(Self.told) > far' }
      """)
    try place.opflow("run", "--on", Self.agent)
    #expect(Set(place.lines("asked")).count == 1)
    #expect(Set(place.lines("asked")).isDisjoint(with: place.lines("far")))
    place.expectNothingAlive()
  }

  @Test
  func
    `an agent that is killed loses its services, and what needs them starts with them behind another`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
      \(Self.web)
        read:
          needs: [web]
          run: |
            \(Self.asks)
            test $OPFLOW_ATTEMPT = 2 && exit
            \(Self.told) > agent
            exec sleep 1000
      """)
    let run = try place.start("run", "--on", Self.agent, environment: ["OPFLOW_LEASE": "300ms"])
    try place.shell("until test -s agent; do :; done; kill -9 $(cat agent)")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    let asked = place.lines("asked")
    #expect(asked.count == 4 && asked[0] == asked[1] && asked[2] == asked[3], "\(asked)")
    #expect(asked[0] != asked[2])
    let events = try place.journal().filter { $0.task == "web" }.map(\.event)
    #expect(
      events == ["start", "ready", "interrupt", "start", "ready", "stopping", "success"],
      "\(events)")
    place.expectNothingAlive()
  }

  @Test func `a service that stays goes on from one round of a watched run to the next`() throws {
    let place = try Workplace(
      """
      tasks:
        db:
          local: true
          service: { ready: { log: up } }
          run: 'echo $$ >> services; echo up; exec sleep 1000'
        lint: { inputs: [src], run: 'cat src >> trace; \(Self.told) > far' }
      """)
    try place.write("src", "1\n")
    let run = try place.watch("--on", Self.agent)
    for round in 2...3 {
      try place.write("src", "\(round)\n")
      try run.waitForRounds(round)
    }
    let told = try run.leave()
    #expect(place.lines() == ["1", "2", "3"], "\(told)")
    #expect(place.lines("services").count == 1, "\(told)")
    // That it stops, and nothing of machines.
    #expect(told.components(separatedBy: "warning").count == 2, "\(told)")
    place.expectNothingAlive()
  }
}
