import Foundation
import Testing

/// Nothing is left of services at the end of a run, whatever they are and however it ends, and a
/// resume has them again.
struct ServiceLeftoverTests {
  private static let kinds = [
    "plain": "echo up; exec tail -f /dev/null",
    "deaf": "trap '' TERM INT HUP; echo up; tail -f /dev/null",
    "elsewhere":
      "setsid sh -c 'trap : TERM INT HUP; tail -f /dev/null & wait; wait' & echo up; wait",
    "server": #"exec python3 -u -c "$SERVER""#,
  ]

  private func place(_ kind: String) throws -> Workplace {
    try Workplace(
      """
      tasks:
        web:
          service: { ports: [web], ready: { log: up }, restart: 1 }
          stop: { grace: 100ms }
          env:
            SERVER: |
              import http.server, os
              port = int(os.environ["OPFLOW_PORT_WEB"])
              server = http.server.HTTPServer(("", port), http.server.SimpleHTTPRequestHandler)
              print("up")
              server.serve_forever()
          run: |
            \(Self.kinds[kind] ?? "exit 1")
        user:
          needs: [web]
          run: |
            if [ -e again ]; then exit 0; fi
            echo begun > says
            read word < go
            exit 3
      """)
  }

  @Test(arguments: ["plain", "deaf", "elsewhere", "server"], ["fails", "cancel", "INT", "KILL"])
  func `nothing is left, and a resume has it again`(kind: String, end: String) throws {
    let place = try place(kind)
    let (says, go) = (try place.gate("says"), try place.gate("go"))
    let run = try place.start("run")
    #expect(try says.next() == "begun")
    switch end {
    case "fails": try go.letGo()
    case "cancel": try place.opflow("cancel")
    case "INT": run.send(SIGINT)
    default: run.send(SIGKILL)
    }
    let status = try run.finish().status
    #expect(status == ["fails": 1, "cancel": 6, "INT": -SIGINT, "KILL": -SIGKILL][end])
    place.expectNothingAlive()
    try place.write("again", "")
    let resume = try place.opflow("resume")
    #expect(try place.status()["user"]?.state == "succeeded", "\(resume)")
    #expect(resume.errors.contains("web is ready"), "\(resume)")
    place.expectNothingAlive()
  }
}
