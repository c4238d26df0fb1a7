import Foundation
import Glibc
import Testing

/// Secrets: who has them, and that nobody else ever sees them.
struct SecretTests {
  static let token = "hunter2-s3cr3t/with+signs"

  /// Every file below a folder, with its contents.
  private func files(of place: Workplace) throws -> [(name: String, bytes: [UInt8])] {
    let root = URL(fileURLWithPath: place.file(".opflow"))
    let all = FileManager.default.enumerator(atPath: root.path)
    return try (all?.allObjects as? [String] ?? []).compactMap { name in
      let url = root.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
        !isFolder.boolValue
      else { return nil }
      return (name, Array(try Data(contentsOf: url)))
    }
  }

  private func expectNowhere(_ words: [String], in place: Workplace) throws {
    for (name, bytes) in try files(of: place) {
      let text = String(decoding: bytes, as: UTF8.self)
      for word in words { #expect(!text.contains(word), "\(word) is in \(name)") }
    }
  }

  @Test func `only a task that lists a secret has it, and no log shows it`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { secrets: [TOKEN], run: 'printf %s "$TOKEN" > a; echo "it is $TOKEN."; env' }
        b: { needs: [a], run: 'printf %s "${TOKEN-none}" > b; env' }
      """)
    let done = try place.opflow("run", environment: ["TOKEN": Self.token])
    #expect(try place.text("a") == Self.token)
    #expect(try place.text("b") == "none")
    #expect(done.errors.contains("it is ***."))
    #expect(done.errors.contains("TOKEN=***"))
    for text in [done.errors, done.output, try place.opflow("logs").output] {
      #expect(!text.contains(Self.token))
    }
    try expectNowhere([Self.token], in: place)
  }

  @Test func `what an input's failed command prints is not shown where secrets are not known`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        a:
          secrets: [TOKEN]
          inputs: [{ run: [sh, -c, "cat token; exit 3"] }]
          run: "true"
      """)
    try place.write("token", Self.token + "\n")
    let environment = ["TOKEN": Self.token]
    let run = try place.opflow("run", "--output", "line", environment: environment)
    #expect(run.errors.contains("failed: exit 3: ***"), "\(run)")
    for words in [["plan"], ["why", "a"], ["resume", "-n"]] {
      let view = try place.shell(
        "\"$opflow\" \(words.joined(separator: " ")); true", environment: environment)
      #expect(!view.output.contains(Self.token) && !view.errors.contains(Self.token), "\(view)")
    }
    let plan = try place.opflow("plan", environment: environment)
    #expect(plan.output.contains("failed: exit 3"), "\(plan)")
  }

  @Test func `a value comes from another variable, a file and a command`() throws {
    let place = try Workplace(
      """
      secrets:
        A: { env: OTHER }
        B: { file: b.txt }
        C: { run: [sh, -c, 'echo noise >&2; cat c.txt'] }
      tasks:
        a: { secrets: [A, B, C], run: 'printf %s "$A,$B,$C,${OTHER-gone}" > a; cat a' }
      """)
    try place.write("b.txt", "second-secret\n")
    try place.write("c.txt", "third-secret\n")
    let done = try place.opflow("run", environment: ["OTHER": "first-secret"])
    #expect(try place.text("a") == "first-secret,second-secret,third-secret,gone")
    #expect(done.errors.contains("***,***,***,gone"))
    #expect(done.errors.contains("noise"))
    try expectNowhere(["first-secret", "second-secret", "third-secret"], in: place)
  }

  @Test(arguments: [
    ("is not set", [:]), ("is not set", ["TOKEN": ""]),
    ("has fewer than 4 bytes", ["TOKEN": "abc"]),
    ("is longer than 64 KiB", ["TOKEN": String(repeating: "x", count: 65_537)]),
  ])
  func `one that cannot be had is an error at its place, before anything starts`(
    _ detail: String, _ environment: [String: String]
  ) throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: touch ran }
        b: { run: x, secrets: [TOKEN] }
      """)
    let refused = try place.opflow("run", status: 3, environment: environment)
    #expect(refused.errors.contains("opflow.yaml:3:26: error: the secret `TOKEN` \(detail)"))
    #expect(!refused.errors.contains("xxxx"))
    #expect(!place.exists("ran"))
    #expect(place.runs.isEmpty)
    // A task that is not to be run needs nothing.
    try place.opflow("run", "a", environment: environment)
    #expect(place.exists("ran"))
  }

  @Test(arguments: [
    ("{ file: gone }", "cannot be read: "), ("{ file: . }", "is not a regular file"),
    ("{ file: /dev/zero }", "is not a regular file"), ("{ file: empty }", "is empty"),
    ("{ file: nul }", "contains a NUL byte"), ("{ file: huge }", "is longer than 64 KiB"),
    ("{ run: [sh, -c, 'exit 7'] }", "cannot be read: `sh` exited with code 7"),
    ("{ run: [sh, -c, 'kill -9 $$'] }", "cannot be read: `sh` was killed by SIGKILL"),
    ("{ run: [no-such-program] }", "cannot be read: `no-such-program` cannot be started: "),
    ("{ run: [cat, /dev/zero] }", "is longer than 64 KiB"),
    ("{ run: ['true'] }", "is empty"),
  ])
  func `a source that gives nothing is an error at its place`(
    _ source: String, _ detail: String
  ) throws {
    let place = try Workplace(
      "secrets: { TOKEN: \(source) }\ntasks: { a: { run: touch ran, secrets: [TOKEN] } }")
    try place.write("empty", "")
    try place.write("nul", "a\0bcd")
    try place.write("huge", "")
    #expect(truncate(place.file("huge"), 1 << 30) == 0)
    let refused = try place.opflow("run", status: 3)
    #expect(refused.errors.contains("opflow.yaml:2:41: error: the secret `TOKEN` "))
    #expect(refused.errors.contains(detail), "\(refused.errors)")
    #expect(!place.exists("ran"))
  }

  @Test(arguments: ["false", "kill -9 $$", "head -c 70000 /dev/zero", "printf 'a\\0b'"])
  func `what a command complained of holds no value, also where it failed`(_ end: String) throws {
    let place = try Workplace(
      """
      secrets: { TOKEN: { run: [sh, -x, give] } }
      tasks: { a: { secrets: [TOKEN], run: "true" } }
      """)
    try place.write("give", "echo '  \(Self.token)'\necho other-value\n\(end)\n")
    let refused = try place.opflow("run", status: 3)
    let masked = "opflow: warning: + echo ***\n"
    #expect(refused.errors.contains(masked + masked), "\(refused)")
    #expect(!refused.errors.contains("hunter2") && !refused.errors.contains("other-value"))
  }

  @Test func `a result whose files are named by it is not kept, and that is told`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          secrets: [TOKEN]
          run: 'mkdir -p out; echo a >> trace; : > "out/$TOKEN"'
          inputs: [opflow.yaml]
          outputs: [out/*]
          cache: { secrets: true }
        b: { needs: a, run: echo b >> trace, inputs: [out/*] }
      """)
    for _ in 0..<2 {
      let run = try place.opflow("run", environment: ["TOKEN": "hunter2-s3cr3t"])
      #expect(
        run.errors.contains("the name of an input or output contains a secret"), "\(run)")
      try expectNowhere(["hunter2"], in: place)
    }
    #expect(place.lines() == ["a", "b", "a", "b"])
    try place.shell("rm out/*")
    #expect(try !place.opflow("plan", "-v").output.contains("hunter2"))
  }

  @Test func `a resume takes the values anew, and needs those that its tasks need`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'printf %s "$TOKEN" > a', secrets: [TOKEN] }
        b: { needs: [a], run: 'printf %s "$OTHER" > b; test -e go', secrets: [OTHER] }
      """)
    try place.opflow(
      "run", status: 1, environment: ["TOKEN": "first-token", "OTHER": "other-token"])
    try place.write("go", "")
    let refused = try place.opflow("resume", status: 3)
    #expect(refused.errors.contains("opflow.yaml:3:73: error: the secret `OTHER` is not set"))
    try place.opflow("resume", environment: ["OTHER": "second-token"])
    #expect(try place.text("a") == "first-token")
    #expect(try place.text("b") == "second-token")
    try expectNowhere(["first-token", "other-token", "second-token"], in: place)
  }

  @Test func `a task that a resume finds changed when it is ready has its secrets`() throws {
    let place = try Workplace(
      """
      secrets: { KEY: { file: key } }
      tasks:
        lint: { inputs: [src], secrets: [KEY], run: "echo lint ${#KEY} >> trace" }
        report: { needs: [lint], secrets: [KEY], run: "echo report ${#KEY} >> trace" }
        other: { run: test -e ok }
      """)
    try place.write("key", "some-value\n")
    try place.write("src", "1\n")
    try place.opflow("run", "-k", status: 1)
    for name in ["ok", "src"] { try place.write(name, "2\n") }
    try place.opflow("resume")
    #expect(place.lines() == ["lint 10", "report 10", "lint 10", "report 10"])
  }

  @Test func `what only tasks need that do not run is not asked for`() throws {
    let place = try Workplace(
      """
      secrets: { LATE: { run: [sh, -c, 'touch asked; echo late-secret'] } }
      tasks:
        a: { run: touch ran }
        off: { if: env.DEPLOY == 'yes', run: x, secrets: [TOKEN, LATE] }
        empty: { matrix: { f: { glob: 'none/*' } }, run: x, secrets: [KEY] }
        after: { needs: [{ task: off, on: ran }], run: x, secrets: [OTHER] }
        last: { needs: after, run: x, secrets: [OTHER] }
        still: { needs: off, run: touch still, secrets: [HERE] }
      """)
    try place.opflow("run", environment: ["HERE": "here-secret"])
    #expect(place.exists("ran"))
    #expect(place.exists("still"))
    #expect(!place.exists("asked"))
    let refused = try place.opflow(
      "run", status: 3, environment: ["HERE": "here-secret", "DEPLOY": "yes"])
    for name in ["TOKEN", "OTHER"] {
      #expect(refused.errors.contains("the secret `\(name)` is not set"), "\(refused)")
    }
    #expect(!refused.errors.contains("`KEY`"), "\(refused)")
    #expect(try place.opflow("run", status: 3).errors.contains("8:52: error: the secret `HERE`"))
  }

  @Test func `neither coordinator nor worker has it in its environment`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          secrets: [TOKEN]
          run: |
            p=$$
            for i in 1 2; do
              p=$(awk '/^PPid:/ { print $2 }' /proc/$p/status)
              tr '\\0' '\\n' < /proc/$p/environ | grep -c hunter2 >> counts || true
              tr '\\0' ' ' < /proc/$p/cmdline >> lines; echo >> lines
            done
      """)
    try place.opflow("run", environment: ["TOKEN": Self.token])
    #expect(place.lines("counts") == ["0", "0"])
    #expect(place.lines("lines").count == 2)
    #expect(!(try place.text("lines")).contains("hunter2"))
  }

  @Test func `a failure, its tail and its error say nothing`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { secrets: [TOKEN], run: 'echo "curl -H $TOKEN" >&2; exit 3' }
        b: { secrets: [TOKEN], shell: [bash, -c], run: 'set -x; : "$TOKEN"; false' }
        c: { secrets: [TOKEN], shell: [sh, -c], run: 'exec "$TOKEN"' }
      """)
    for mode in ["line", "group", "quiet"] {
      let failed = try place.opflow(
        "run", "-k", "--json", "--output", mode, status: 1, environment: ["TOKEN": Self.token])
      #expect(failed.errors.contains("curl -H ***"))
      #expect(!(failed.errors + failed.output).contains("hunter2"))
    }
    for shown in [
      try place.opflow("status", "-v"), try place.opflow("status", "--json"),
      try place.opflow("journal", "export"), try place.opflow("logs"),
    ] {
      #expect(!(shown.errors + shown.output).contains("hunter2"))
    }
    try expectNowhere(["hunter2"], in: place)
  }

  @Test func `output that comes byte by byte, from both streams and in words is masked`() throws {
    let place = try Workplace(
      #"""
      tasks:
        a:
          secrets: [TOKEN]
          shell: [bash, -c]
          run: |
            t=$TOKEN
            for ((i = 0; i < ${#t}; i++)); do printf %s "${t:i:1}" >&$((1 + i % 2)); done; echo
            printf '%q\n' "$t"
            printf %s "$t" | base64
            printf 'x%s' "$t" | base64 -w 7
            printf %s "$t" | od -An -v -tx1 | tr -d ' \n'; echo
            printf %s "$t" | sed 's,/,%2F,g; s/+/%2b/g'; echo
            printf %s "$t" | sed 's,/,\\/,g'; echo
            (printf %s "${t:0:5}"; exec 1>&2; printf %s "${t:5}") &
            wait
      """#)
    try place.opflow("run", environment: ["TOKEN": Self.token])
    let log = try place.opflow("logs").output
    let base64 = Data(Self.token.utf8).base64EncodedString()
    let hex = Self.token.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    for word in [Self.token, "hunter2", String(base64.prefix(12)), hex.joined()] {
      #expect(!log.contains(word), "\(word) in \(log)")
    }
    #expect(log.split(separator: "\n").first == "***")
    #expect(log.count { $0 == "*" } >= 24)
  }

  @Test func `what was held back is written when the task ends`() throws {
    let place = try Workplace(
      "tasks: { a: { secrets: [TOKEN], run: 'printf hunter2-s3' }, b: { run: printf hunt } }")
    try place.opflow("run", environment: ["TOKEN": Self.token])
    #expect(try place.opflow("logs", "a").output.contains("hunter2-s3"))
    #expect(try place.opflow("logs", "b").output.contains("hunt"))
  }

  @Test func `neither plan nor fingerprint knows the value`() throws {
    let place = try Workplace(
      "tasks: { a: { secrets: [TOKEN], run: 'echo a >> trace; test -e go' } }")
    try place.opflow("run", status: 1, environment: ["TOKEN": "first-token"])
    try place.write("go", "")
    try place.opflow("resume", environment: ["TOKEN": "other-token"])
    let plan = try place.opflow("plan", environment: [:])
    #expect(!plan.output.contains("token"))
    try place.opflow("check")
    try expectNowhere(["first-token", "other-token"], in: place)
  }

  @Test(arguments: [
    // Read by another task or by none, and of a script that does not show that it leaves anything.
    ("run: 'echo $TOKEN > $OPFLOW_VALUES/v'", true),
    ("run: 'echo $TOKEN > $OPFLOW_VALUES/v; exit 1'", true),
    ("run: 'echo $TOKEN > $OPFLOW_VALUES/v; exit 1'", false),
    ("run: 'mkdir -p $OPFLOW_VALUES/x/y; echo $TOKEN > $OPFLOW_VALUES/x/y/z'", false),
    ("run: [./leave], allow_failure: true", false),
    ("run: [./leave, '1'], retry: { max: 1, delay: 0 }", false),
    ("run: 'echo $TOKEN > $OPFLOW_VALUES/v; read x < never', timeout: 100ms", true),
    ("run: 'echo $TOKEN > $OPFLOW_VALUES/v; kill -9 $PPID; read x < never'", true),
    ("run: [./leave, kill], on_interrupted: fail", false),
  ])
  func `one that is left as a value is nowhere afterwards`(
    _ task: String, _ isRead: Bool
  ) throws {
    let place = try Workplace()
    let reader = "b: { needs: a, env: { V: \"${{ needs.a.v }}\" }, run: 'true' }"
    try place.write(
      "opflow.yaml",
      "tasks:\n  a: { secrets: [TOKEN], \(task) }\n" + (isRead ? "  \(reader)\n" : ""))
    try place.writeProgram(
      "leave",
      """
      #!/bin/sh
      echo $TOKEN > $OPFLOW_VALUES/v
      test "$1" != kill || { kill -9 $PPID; read x < never; }
      exit ${1:-0}
      """)
    _ = try place.gate("never")
    let done = try place.start("run", environment: ["TOKEN": Self.token]).finish()
    #expect(done.status == (task.contains("allow") ? 0 : 1), "\(done)")
    try expectNowhere([Self.token], in: place)
    #expect(place.entries(try place.runFolder() + "/values") == [])
  }

  @Test func `one that the kernel cuts in the name of a process is nowhere`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          secrets: [TOKEN]
          run: |
            cp /bin/sleep "$TOKEN"; "./$TOKEN" 600 &
            until grep -q signs /proc/$!/comm; do :; done
      """)
    let run = try place.opflow("run", environment: ["TOKEN": "signs-hunter2-s3cr3t"])
    #expect(run.errors.contains("ended 1 leftover process: ***\n"), "\(run)")
    try expectNowhere(["hunter2"], in: place)
  }

  @Test func `one that is left when all is killed is nowhere after a resume`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          secrets: [TOKEN]
          run: 'echo $TOKEN > $OPFLOW_VALUES/v; echo $PPID > here; read x < go; rm $OPFLOW_VALUES/v'
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let run = try place.start("run", environment: ["TOKEN": Self.token])
    let worker = try #require(Int32(try here.next()))
    // Neither sees the other go.
    run.send(SIGSTOP)
    #expect(kill(worker, SIGKILL) == 0)
    run.send(SIGKILL)
    _ = try run.finish()
    let values = try place.runFolder() + "/values"
    #expect(place.entries(values) == ["a.1"])
    let resume = try place.start("resume", environment: ["TOKEN": Self.token])
    _ = try here.next()
    try go.letGo()
    #expect(try resume.finish().status == 0)
    try expectNowhere([Self.token], in: place)
  }

  @Test func `no view puts together what a terminal's sequence cuts`() throws {
    let place = try Workplace(
      """
      secrets: { TOK: { env: TOK } }
      tasks:
        t: { secrets: [TOK], run: [sh, print] }
      """)
    // Text of the manifest is not a secret.
    try place.write(
      "print",
      """
      printf 'ghp_\\033[31mAb12\\033[mCd34Ef\\n'; echo $TOK | sed 's/A/\\x00A/'; exit 1
      """)
    let run = try place.opflow("run", status: 1, environment: ["TOK": "ghp_Ab12Cd34Ef"])
    let logs = try place.opflow("logs", "t")
    for text in [run.output, run.errors, logs.output] {
      #expect(!text.contains("Cd34Ef"), "\(text)")
    }
    #expect(logs.output.contains("***"))
  }

  @Test func `a secret in --set is refused, and written nowhere`() throws {
    let place = try Workplace(
      """
      vars: { v: x }
      tasks:
        a: { run: test -e go }
        t: { secrets: [TOKEN], run: 'echo "${{ vars.v }}"' }
      """)
    let environment = ["TOKEN": Self.token]
    let run = try place.opflow(
      "run", "--set", "v=a\(Self.token)b", status: 2, environment: environment)
    #expect(
      run.errors.contains(
        "opflow: --set v: the value contains a secret, and opflow records it; list the secret under"
          + " `secrets` of the task and read it from the environment\n"), "\(run)")
    #expect(place.runs.isEmpty)
    try place.opflow("run", status: 1, environment: environment)
    let resume = try place.opflow(
      "resume", "--set", "v=\(Self.token)", status: 2, environment: environment)
    #expect(resume.errors.contains("--set v: the value contains a secret"), "\(resume)")
    try expectNowhere([Self.token], in: place)
    try place.write("go", "")
    try place.opflow("resume", "--set", "v=fine", environment: environment)
  }

  @Test func `who never starts is asked for no secret`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        off: { if: "false", run: "true" }
        ran: { needs: [{ task: off, on: ran }], secrets: [TOKEN], run: "true" }
        skipped: { needs: [{ task: a, on: ran }], secrets: [TOKEN], run: "true" }
        last: { finally: true, needs: [off], secrets: [TOKEN], run: "echo last >> trace" }
      """)
    // None of the needs of `last` runs, so that it does not.
    try place.opflow("run", "off", "a", "ran")
    #expect(place.lines() == ["a"])
    try place.opflow("run", "--skip", "a", "skipped")
    let run = try place.opflow("run", status: 3)
    #expect(run.errors.contains("TOKEN"))
  }

  @Test func `a plan tells which secrets a run would miss, and takes none`() throws {
    let place = try Workplace(
      """
      secrets: { KEY: { file: key }, CMD: { run: [touch, ran] }, UNUSED: { env: UNUSED } }
      tasks:
        a: { secrets: [TOKEN, KEY, CMD], run: test -e go }
        off: { if: "false", secrets: [OTHER], run: "true" }
      """)
    let text =
      """
      opflow: warning: missing secrets, without which the run does not start: KEY, TOKEN

      """
    #expect(try place.opflow("plan").errors == text)
    #expect(try place.opflow("run", "-n").errors == text)
    try place.write("key", "key-of-some-length")
    #expect(try place.opflow("plan", environment: ["TOKEN": Self.token]).errors == "")
    #expect(!place.exists("ran"))
  }

  @Test func `the name of a value is no secret`() throws {
    let place = try Workplace(
      """
      secrets: { TOK: { env: TOK } }
      tasks:
        t: { secrets: [TOK], run: 'echo 1 > $OPFLOW_VALUES/$TOK' }
        u: { needs: [t], env: { V: "${{ needs.t.v || 1 }}" }, run: "true" }
      """)
    let run = try place.opflow("run", status: 1, environment: ["TOK": "ghp_Ab12Cd34Ef"])
    #expect(
      run.errors.contains("the name of a file in $OPFLOW_VALUES contains a secret"), "\(run)")
    #expect(try !place.shell("cat .opflow/runs/*/journal.log").output.contains("Cd34Ef"))
  }
}
