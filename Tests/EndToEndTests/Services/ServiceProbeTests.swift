import Testing

/// Readiness checks of services, and the messages if they fail.
struct ServiceProbeTests {
  /// Serves one status at every path, at the port that was found for it.
  private static func server(_ address: String, status: Int) -> String {
    """
    import http.server, os, socket
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(\(status))
            self.end_headers()
    class Server(http.server.HTTPServer):
        address_family = socket.AF_INET6 if ":" in "\(address)" else socket.AF_INET
    Server(("\(address)", int(os.environ["OPFLOW_PORT_WEB"])), Handler).serve_forever()

    """
  }

  private func place(_ ready: String, _ server: String) throws -> Workplace {
    let place = try Workplace(
      """
      tasks:
        web: { service: { ports: [web], ready: \(ready) }, run: exec python3 server.py }
        read: { needs: [web], run: echo read >> trace }
      """)
    try place.write("server.py", server)
    return place
  }

  @Test(
    arguments: ["127.0.0.1", "::1"],
    ["{ port: web }", "{ http: \"http://localhost:$OPFLOW_PORT_WEB/\" }"])
  func `localhost is both of its addresses`(address: String, ready: String) throws {
    let place = try place(ready, Self.server(address, status: 302))
    try place.opflow("run")
    #expect(place.lines() == ["read"])
    place.expectNothingAlive()
  }

  @Test func `an answer that is no success is told`() throws {
    let place = try place(
      "{ http: \"http://127.0.0.1:$OPFLOW_PORT_WEB/\", timeout: 5s, every: 10ms }",
      Self.server("127.0.0.1", status: 503))
    let run = try place.opflow("run", status: 1)
    #expect(
      run.errors.contains(
        /not ready after 5.0s: no successful response from http:.*; status 503/), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `a server that takes the question and says nothing is told apart from none`() throws {
    let place = try place(
      "{ http: \"http://127.0.0.1:$OPFLOW_PORT_WEB/\", timeout: 5s, every: 10ms }",
      """
      import os, signal, socket
      server = socket.create_server(("127.0.0.1", int(os.environ["OPFLOW_PORT_WEB"])))
      signal.pause()

      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains(/not ready after 5.0s: .*; it has not answered yet/), "\(run)")
    place.expectNothingAlive()
  }

  @Test func `a command that hangs, or leaves something behind, is ended with the service`() throws
  {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        hangs:
          service: { ready: { exec: [tail, -f, /dev/null], timeout: 100ms } }
          run: exec tail -f /dev/null
        leaves:
          service: { ready: { exec: [sh, -c, "setsid tail -f /dev/null & exit 0"] } }
          run: exec tail -f /dev/null
        a: { needs: [hangs], run: echo a >> trace }
        b: { needs: [leaves], run: echo b >> trace }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("`tail -f /dev/null` did not succeed"), "\(run)")
    #expect(place.lines() == ["b"])
    place.expectNothingAlive()
  }

  @Test func `a probe is not a process that the service left behind`() throws {
    let place = try Workplace(
      """
      tasks:
        db:
          service: { ready: { exec: [sh, -c, "echo asked > asked; tail -f /dev/null & wait"] } }
          run: "read line < asked; exit 1"
        web: { needs: [db], run: echo web }
      """)
    _ = try place.gate("asked")
    let run = try place.opflow("run", status: 1)
    #expect(!run.errors.contains("leftover"), "\(run)")
    place.expectNothingAlive()
  }

  @Test(arguments: [
    "  Local: http://localhost:\\033[1m5173\\033[22m/\\n",
    "Local: \\033]8;;x\\007http://localhost:5173\\n",
  ])
  func `a line of the log is matched as a person sees it, without colors`(line: String) throws {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ready: { log: "Local: http://localhost:5173" } }
          run: sh say.sh
        test: { needs: [web], run: echo tested >> trace }
      """)
    try place.write("say.sh", "printf '\(line)'; exec tail -f /dev/null\n")
    try place.opflow("run")
    #expect(place.lines() == ["tested"])
    place.expectNothingAlive()
  }

  @Test func `what the last look printed is told where it is never ready`() throws {
    let place = try Workplace(
      """
      tasks:
        db:
          service: { ready: { exec: [sh, ask.sh], timeout: 300ms, every: 10ms } }
          run: printf up; exec tail -f /dev/null
          secrets: [TOKEN]
        a: { needs: [db], run: "true" }
      """)
    try place.write(
      "ask.sh", "seq 5000 1>&2; echo connection refused; printf \"with $TOKEN\"; exit 2\n")
    let run = try place.opflow(
      "run", "-q", status: 1, environment: ["TOKEN": "quite-a-secret"])
    #expect(run.errors.contains("connection refused\n"), "\(run)")
    #expect(run.errors.contains("`sh ask.sh` did not succeed; it ended with exit 2"), "\(run)")
    let log = try place.log("db")
    #expect(log.hasPrefix("up\n`sh ask.sh` printed last:\n4993\n"), "\(log)")
    #expect(log.contains("5000\nconnection refused\nwith ***\n"), "\(log)")
  }

  @Test func `a look that has not ended, or could not begin, is told as that`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        hangs:
          service: { ready: { exec: [sh, -c, "echo asking; exec tail -f /dev/null"], timeout: 300ms } }
          run: exec tail -f /dev/null
        none:
          service: { ready: { exec: [no-such-program] } }
          run: exec tail -f /dev/null
        a: { needs: [hangs], run: "true" }
        b: { needs: [none], run: "true" }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("did not succeed; it has not ended"), "\(run)")
    #expect(try place.log("hangs").contains("printed last:\nasking\n"), "\(run)")
    #expect(
      run.errors.contains(
        "cannot execute its readiness check `no-such-program`: No such file"),
      "\(run)")
    place.expectNothingAlive()
  }

  @Test func `nobody asks any more once it is ready`() throws {
    let place = try Workplace(
      """
      tasks:
        web:
          service: { ready: { exec: [sh, -c, "echo asked >> trace; read word < told"], every: 1ms } }
          run: exec tail -f /dev/null
        a: { needs: [web], run: "echo begun > begun; read word < go" }
      """)
    let (told, begun, go) = (try place.gate("told"), try place.gate("begun"), try place.gate("go"))
    let run = try place.start("run")
    try told.letGo()
    _ = try begun.next()
    // Another check would read it.
    try told.letGo()
    try go.letGo()
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["asked"])
    #expect(try told.next() == "go")
  }
}
