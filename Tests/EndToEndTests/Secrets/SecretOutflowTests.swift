import Drill
import Foundation
import Testing

/// Two hundred secrets from everywhere, said in every way by tasks that print, fail and download.
struct SecretOutflowTests {
  private let place: Workplace
  private var numbers = DrillNumbers(seed: 2026)
  private var environment: [String: String] = [:]
  private var sources: [String] = []
  private var values: [[UInt8]] = []
  /// What tasks print.
  private var speech: [SecretSpeech.Word] = []
  private static let speakers = 6

  private static let alphabets: [[UInt8]] = [
    Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8),
    Array(33...126), Array(" '\"\\/$%+&<>;#".utf8) + Array("aZ9kQ4xW".utf8),
  ]

  init() throws {
    place = try Workplace()
    for index in 0..<200 {
      // Those of the environment, and the first ones of all, are text.
      let alphabet =
        index % 40 == 0
        ? Self.alphabets[0]
        : index >= 80 && index % 5 == 1
          ? Array(1...9) + Array(14...255) : Self.alphabets[index % 3]
      let value = index % 7 == 3 ? lines(alphabet) : text(alphabet)
      values.append(value)
      switch index {
      case ..<80: environment["S\(index)"] = String(decoding: value, as: UTF8.self)
      case ..<170: sources.append("  S\(index): { file: in/\(index) }")
      default: sources.append("  S\(index): { run: [cat, in/\(index)] }")
      }
      if index >= 80 { try write("in/\(index)", value) }
      speech += SecretSpeech.words(value, &numbers)
      guard value.contains(10) else { continue }
      for line in value.split(separator: 10) { speech += SecretSpeech.words(Array(line), &numbers) }
    }
  }

  private mutating func text(_ alphabet: [UInt8]) -> [UInt8] {
    let count = Int.random(in: 12...40, using: &numbers)
    // Programs drop a space at the end of a line.
    return (0..<count).map { _ in alphabet.randomElement(using: &numbers) ?? 120 } + [81]
  }

  private mutating func lines(_ alphabet: [UInt8]) -> [UInt8] {
    let lines = (0..<3).map { _ in text(alphabet) }
    return Array(lines.joined(separator: [10]))
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws {
    try place.write(name, "")
    try Data(bytes).write(to: URL(fileURLWithPath: place.file(name)))
  }

  /// What each speaker says: all that there is to say between them, and other words.
  private mutating func writeSpeech() throws {
    let filler = ["the quick ", "brown fox\n", "jumps, ", "over = ", "\t(lazy)\n", "\n\n", "dog; "]
    var texts = [[UInt8]](repeating: [], count: Self.speakers)
    for (index, word) in speech.shuffled(using: &numbers).enumerated() {
      let around = (0..<2).map { _ in filler.randomElement(using: &numbers) ?? "" }
      texts[index % Self.speakers] += Array(around[0].utf8) + word.printed + Array(around[1].utf8)
    }
    for (index, text) in texts.enumerated() { try write("speech/\(index)", text) }
  }

  /// Its own words as they are, in pieces of any size, some of them to standard error.
  private mutating func speaker(_ index: Int) -> String {
    let sizes = (0..<12).map { _ in
      [1, 2, 3, 5, 17, 60, 700].randomElement(using: &numbers) ?? 1
    }
    let pieces = sizes.enumerated().map {
      "dd bs=\($1) count=\(400 / $1 + 5) status=none <&3\($0 % 3 == 2 ? " >&2" : "")"
    }
    return "exec 3< speech/\(index); \(pieces.joined(separator: "; ")); cat <&3"
  }

  private mutating func writeManifest(_ first: Substring, _ second: Substring) throws {
    var tasks = (0..<Self.speakers).map { "  speak\($0): { run: '\(speaker($0))' }" }
    let names = (0..<200).map { "S\($0)" }
    tasks += [
      "  all: { secrets: [\(names.joined(separator: ", "))], run: 'env; env | base64; set' }",
      "  hex: { secrets: [S1, S90], run: 'env | od -An -v -tx1 | tr -d \" \"' }",
      "  exec: { secrets: [S0], shell: [sh, -c], run: 'exec \"$S0\"' }",
      """
        trace: { secrets: [S2, S81], shell: [bash, -c], run: 'set -x; : "$S2" "$S81"; exit 3' }
      """,
      "  value: { secrets: [S4], run: 'printf %s \"a $S4\" > \"$OPFLOW_VALUES/v\"' }",
      "  named: { secrets: [S40], run: ': > \"$OPFLOW_VALUES/$S40\"' }",
      "  use: { needs: [value, named], env: { A: '${{ needs.value.v }}', "
        + "B: '${{ needs.named.v }}' }, run: 'true' }",
      "  own: \(download("http://127.0.0.1:\(first)/own", "one"))",
      "  there: \(download("http://127.0.0.1:\(first)/there?to=\(second)", "two"))",
      "  gone: \(download("http://127.0.0.1:\(first)/gone", "three"))",
    ]
    let text = "secrets:\n\(sources.joined(separator: "\n"))\ntasks:\n"
    try place.write("opflow.yaml", text + tasks.joined(separator: "\n") + "\n")
  }

  private func download(_ url: String, _ to: String) -> String {
    "{ download: { url: '\(url)', to: \(to), headers: { X-Token: 'k ${{ secrets.S0 }}' } },"
      + " retry: 0 }"
  }

  /// Says what it was told, and sends some on to the other one.
  private static let server = #"""
    import http.server, sys, threading
    class Server(http.server.BaseHTTPRequestHandler):
        def log_message(self, *words): pass
        def do_GET(self):
            token = self.headers.get("X-Token")
            with open("heard", "a") as heard: heard.write("%s %s\n" % (self.path.split("?")[0], token))
            if self.path.startswith("/there"):
                self.send_response(302)
                self.send_header("Location", "http://localhost:%s/end" % self.path.split("=")[1])
            elif self.path == "/gone":
                self.send_response(404, "none for " + str(token))
            else:
                self.send_response(200)
                self.send_header("ETag", '"%s"' % token)
            self.send_header("Content-Length", "0")
            self.end_headers()
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) for _ in range(2)]
    for server in servers: threading.Thread(target=server.serve_forever).start()
    print(*[server.server_port for server in servers], flush=True)
    """#

  /// The beginning and the end of everything that is secret, without line breaks.
  private var traces: Set<[UInt8]> {
    var traces: Set<[UInt8]> = []
    for word in speech {
      for line in word.secret.split(separator: 10) where line.count >= 10 {
        traces.insert(Array(line.prefix(10)))
        traces.insert(Array(line.suffix(10)))
      }
    }
    return traces
  }

  /// The files that contain any of it, also with spaces and newlines in between.
  private func leaks(in folders: String) throws -> [String] {
    try place.shell(
      """
      export LC_ALL=C
      mkdir -p joined
      for f in $(find \(folders) -type f); do tr -d ' \\n\\r\\t' < "$f" > "joined/${f//\\//_}"; done
      grep -r -a -l -F -f traces \(folders) joined > leaks || test $? = 1
      find \(folders) | grep -a -F -f traces >> leaks || test $? = 1
      grep -r -a -o -h -F -f traces \(folders) joined | sort -u | head -20 > found || true
      rm -r joined
      """)
    return place.lines("leaks")
  }

  @Test(.timeLimit(.minutes(30)))
  mutating func `of two hundred secrets nothing that opflow writes or shows has any`() throws {
    try place.write("server.py", Self.server)
    let server = try place.startShell("exec python3 server.py")
    try server.waitForOutput("\n")
    let ports = server.outputText.split { $0 == " " || $0 == "\n" }
    try #require(ports.count == 2)
    try writeSpeech()
    try writeManifest(ports[0], ports[1])
    try write("traces", Array(traces.joined(separator: [10])) + [10])

    var seen: [[UInt8]] = []
    let run = try place.opflow(
      "run", "-k", "--json", "--output", "line", status: 1, environment: environment)
    seen += [run.outputBytes, run.errorBytes]
    let status = try place.status()
    for task in ["exec", "trace", "value", "named", "gone"] {
      #expect(status[task]?.state == "failed")
    }
    for task in ["all", "hex", "own", "there"] + (0..<Self.speakers).map({ "speak\($0)" }) {
      #expect(status[task]?.state == "succeeded", "\(task)")
    }
    let group = try place.opflow(
      "run", "-k", "--output", "group", "trace", "exec", "value", "gone", status: 1,
      environment: environment)
    seen += [group.outputBytes, group.errorBytes]
    let terminal = try place.startAtTerminal(
      "run", "-k", "trace", "exec", "value", "gone", environment: environment)
    #expect(try terminal.finish() == 1)
    seen.append(terminal.bytes)
    for words in [
      ["status", "-v"], ["status", "--json"], ["logs"], ["journal", "export"],
      ["journal", "verify"],
      ["runs"], ["plan", "-v"], ["resume", "-n"], ["check"],
    ] {
      let view = try place.shell(
        "$opflow \(words.joined(separator: " "))", environment: environment)
      seen += [view.outputBytes, view.errorBytes]
    }
    for (index, bytes) in seen.enumerated() { try write("seen/\(index)", bytes) }

    #expect(try leaks(in: ".opflow seen") == [], "\(place.lines("found"))")
    // What looks for them finds them where they are.
    #expect(try leaks(in: "speech").count == 2 * Self.speakers)
    let marks = try place.shell("cat .opflow/runs/*/logs/speak* | grep -a -o -F '***' | wc -l")
    #expect((Int(marks.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 5000)

    let token = String(decoding: values[0], as: UTF8.self)
    let heard = Set(place.lines("heard"))
    #expect(heard == ["/own k \(token)", "/there k \(token)", "/gone k \(token)", "/end None"])
    server.send(SIGKILL)
  }
}
