import Testing

/// Wrong declarations of services, and of their dependents.
struct BadServiceTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  @Test func `a service that is needed in two ways is counted once`() {
    let text = """
      resources: { slots: 4 }
      tasks:
        a: { run: x, needs: [x, y], resources: { slots: 1 } }
        x: { service: true, run: x, needs: [db], resources: { slots: 1 } }
        y: { service: true, run: x, needs: [db], resources: { slots: 1 } }
        db: { service: true, run: x, resources: { slots: 1 } }
        other: { service: true, run: x, resources: { slots: 1 } }
        b: { run: x, needs: [other] }
      """
    #expect(errors(in: text).isEmpty)
  }

  private static func beside(_ key: String, _ value: String) -> BadManifest {
    BadManifest(
      "`\(key)` beside a service", task: "run: x\nservice: true\n\(key): \(value)",
      "5:5: a service cannot have `\(key)`")
  }

  private static func needed(_ condition: String) -> BadManifest {
    BadManifest(
      "a service that is needed on \(condition)",
      """
      tasks:
        db: { service: true, run: x }
        a: { run: x, needs: [{ task: db, on: \(condition) }] }
      """, "3:32: `on: \(condition)` does not apply to the service `db`")
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a service that is a word", task: "run: x\nservice: maybe",
      "4:14: `service` must be true or a map, not `maybe`"),
    BadManifest(
      "a service that is a list", task: "run: x\nservice: []",
      "4:14: `service` must be true or a map, not a list"),
    BadManifest(
      "a service of a download", task: "download: { url: http://a/b, to: b }\nservice: true",
      "4:5: a service must have `run`, not `download`"),
    BadManifest(
      "a service of an approval", task: "approve: yes?\nservice: true",
      "4:5: a service must have `run`, not `approve`"),
    BadManifest(
      "an unknown key", task: "run: x\nservice: { redy: { port: 1 } }",
      "4:16: unknown key `redy` in `service`"),
    BadManifest(
      "a port without a list", task: "run: x\nservice: { ports: http }",
      "4:23: `ports` must be a list of names, not a string"),
    BadManifest(
      "no ports", task: "run: x\nservice: { ports: [] }", "4:23: `ports` is empty"),
    BadManifest(
      "a port's number as a name", task: "run: x\nservice: { ports: ['80'] }",
      "4:24: `80` is not a valid port name"),
    BadManifest(
      "a port's name with a dot", task: "run: x\nservice: { ports: [a.b] }",
      "4:24: `a.b` is not a valid port name"),
    BadManifest(
      "two ports of one variable", task: "run: x\nservice: { ports: [a-b, A_B] }",
      "4:29: another port has the same variable, OPFLOW_PORT_A_B"),
    BadManifest(
      "a name of no port", task: "run: x\nservice: { ports: [a], ready: { port: b } }",
      "4:43: `b` is not one of the service's `ports`"),
    BadManifest(
      "a URL with a port that it does not have",
      task: "run: x\nservice: { ports: [a], ready: { http: 'http://localhost:$OPFLOW_PORT_B/' } }",
      "4:43: `$OPFLOW_PORT_B` in `http` is not a port of this service"),
    BadManifest(
      "values of what runs no command to its end",
      """
      tasks:
        s: { service: true, run: x }
        q: { approve: sure? }
        d: { download: { url: "http://a/b", to: b } }
        a: { run: x, needs: [s], env: { A: "${{ needs.s.x }}" } }
        b: { run: x, needs: [q, d], env: { A: "${{ needs.q.x }}", B: "b${{ needs.d.x }}" } }
      """, "5:43: `s` is a service, so it has no values",
      "6:46: `q` is an approval, so it has no values",
      "6:70: `d` is a download, so it has no values"),
    BadManifest(
      "a port of one name of two that are needed",
      """
      tasks:
        db: { service: { ports: [main] }, run: x }
        api: { service: { ports: [main] }, run: x }
        a: { run: x, needs: [db, api] }
      """, "4:28: `api` and `db` both set OPFLOW_PORT_MAIN to a port"),
    BadManifest(
      "ready as a number", task: "run: x\nservice: { ready: 80 }",
      "4:23: `ready` must be a map, not a number"),
    BadManifest(
      "ready by nothing", task: "run: x\nservice: { ready: { timeout: 3s } }",
      "4:23: `ready` has no check"),
    BadManifest(
      "ready by two things", task: "run: x\nservice: { ready: { port: 1, log: up } }",
      "4:39: `ready` can have only one of `port`, `http`, `log`, `exec`, `file`, not 2"),
    BadManifest(
      "a port that is none", task: "run: x\nservice: { ready: { port: 70000 } }",
      "4:31: `port` must be from 1 to 65535, not 70000"),
    BadManifest(
      "a URL of another machine",
      task: "run: x\nservice: { ready: { http: 'http://example.org/' } }",
      "4:31: `http` must be an http URL of this machine"),
    BadManifest(
      "a URL that is encrypted", task: "run: x\nservice: { ready: { http: 'https://localhost/' } }",
      "4:31: opflow checks services by http, not https"),
    BadManifest(
      "a script instead of a command", task: "run: x\nservice: { ready: { exec: pg_isready } }",
      "4:31: `exec` must be a list of strings, not a string"),
    BadManifest(
      "restart below 0", task: "run: x\nservice: { restart: -1 }",
      "4:25: `restart` must be at least 0, not -1"),
    beside("timeout", "1s"), beside("retry", "1"), beside("inputs", "[a]"),
    beside("outputs", "[a]"), beside("finally", "true"), beside("allow_failure", "true"),
    beside("on_interrupted", "fail"), beside("interactive", "true"),
    needed("finished"), needed("failure"), needed("ran"),
    BadManifest(
      "an approval that needs one",
      """
      tasks:
        db: { service: true, run: x }
        a: { approve: yes?, needs: [db] }
      """, "3:31: an approval (`approve`) cannot need the service `db`"),
    BadManifest(
      "more together than there is",
      """
      resources: { slots: 2 }
      tasks:
        db: { service: true, run: x, resources: { slots: 1 } }
        api: { service: true, run: x, needs: [db], resources: { slots: 1 } }
        a: { run: x, needs: [api], resources: { slots: 1 } }
      """,
      "5:24: the task and its services (api, db) need 3 of `slots`; the limit is 2"),
    BadManifest(
      "more together than there is, of a service that others need",
      """
      resources: { slots: 1 }
      tasks:
        a: { run: x, needs: [web, db], resources: { slots: 1 } }
        web: { service: true, run: x, needs: [api] }
        api: { service: true, run: x, needs: [db], resources: { slots: 1 } }
        db: { service: true, run: x, resources: { slots: 1 } }
      """,
      "5:41: the task and its services (db) need 2 of `slots`; the limit is 1"),
  ]
}
