import Testing

/// Invalid references to values of other tasks.
struct BadValueTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  /// A task `b` that needs `a` and has these keys, which begin at line 5, column 5.
  private static func reader(
    _ title: String, _ task: String, _ errors: String...
  ) -> BadManifest {
    var bad = BadManifest(
      title,
      "tasks:\n  a: { run: x }\n  b:\n    needs: [a]\n"
        + task.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
    bad.errors = errors
    return bad
  }

  private static func elsewhere(_ place: String) -> String {
    "\(place): `needs.a.v` cannot be used here"
  }

  static let cases: [BadManifest] = [
    reader(
      "in a string run", "run: echo ${{ needs.a.v }}",
      "5:19: `needs.a.v` cannot be part of a script in `run`"),
    reader(
      "in a block run", "run: |\n  one\n  echo ${{ needs.a.v }}",
      "7:16: `needs.a.v` cannot be part of a script in `run`"),
    reader(
      "twice in a string run", "run: echo ${{ needs.a.v }} ${{ needs.a.w }}",
      "5:19: `needs.a.v` cannot be part of a script in `run`",
      "5:36: `needs.a.w` cannot be part of a script in `run`"),
    reader("in dir", "run: x\ndir: ${{ needs.a.v }}", elsewhere("6:14")),
    reader("in shell", "run: x\nshell: [sh, '${{ needs.a.v }}']", elsewhere("6:22")),
    reader("in a shell's name", "run: x\nshell: ${{ needs.a.v }}", elsewhere("6:16")),
    reader("in timeout", "run: x\ntimeout: ${{ needs.a.v }}", elsewhere("6:18")),
    reader("in priority", "run: x\npriority: ${{ needs.a.v }}", elsewhere("6:19")),
    reader("in retry", "run: x\nretry: { max: '${{ needs.a.v }}' }", elsewhere("6:24")),
    reader("in stop", "run: x\nstop: { grace: '${{ needs.a.v }}' }", elsewhere("6:25")),
    reader("in resources", "run: x\nresources: { cpu: '${{ needs.a.v }}' }", elsewhere("6:28")),
    reader("in desc", "run: x\ndesc: ${{ needs.a.v }}", elsewhere("6:15")),
    reader("in tags", "run: x\ntags: ['${{ needs.a.v }}']", elsewhere("6:17")),
    reader("in allow_failure", "run: x\nallow_failure: ${{ needs.a.v }}", elsewhere("6:24")),
    reader("in finally", "run: x\nfinally: ${{ needs.a.v }}", elsewhere("6:18")),
    reader(
      "in on_interrupted", "run: x\non_interrupted: ${{ needs.a.v }}", elsewhere("6:25")),
    reader(
      "in to", "download: { url: 'http://h/', to: '${{ needs.a.v }}' }", elsewhere("5:44")),
    reader(
      "in mirrors",
      "download: { url: 'http://h/', to: f, mirrors: ['${{ needs.a.v }}'] }", elsewhere("5:57")),
    reader(
      "in sha512", "download: { url: 'http://h/', to: f, sha512: '${{ needs.a.v }}' }",
      elsewhere("5:55")),
    reader(
      "in size", "download: { url: 'http://h/', to: f, size: '${{ needs.a.v }}' }",
      elsewhere("5:53")),
    reader(
      "in headers", "download: { url: 'http://h/', to: f, headers: { A: '${{ needs.a.v }}' } }",
      elsewhere("5:61")),
    reader(
      "in mode", "download: { url: 'http://h/', to: f, mode: '${{ needs.a.v }}' }",
      elsewhere("5:53")),
    BadManifest(
      "in needs", "tasks:\n  a: { run: x }\n  b: { needs: [a, '${{ needs.a.v }}'], run: x }",
      "3:24: `needs.a.v` cannot be used here"),
    BadManifest(
      "in the manifest's env", "env: { A: '${{ needs.a.v }}' }\ntasks: { a: { run: x } }",
      "1:16: `needs.a.v` cannot be used here"),
    BadManifest(
      "in vars", "vars: { A: '${{ needs.a.v }}' }\ntasks: { a: { run: x } }",
      "1:17: `needs.a.v` cannot be used here"),
    BadManifest(
      "in the env of defaults",
      "defaults: { env: { A: '${{ needs.a.v }}' } }\ntasks: { a: { run: x } }",
      "1:28: `needs.a.v` cannot be used here"),
    BadManifest(
      "in the env of defaults that differ from task to task",
      "defaults: { env: { A: '${{ needs.a.v }}', B: '${{ task.id }}' } }\ntasks: { a: { run: x } }",
      "1:28: `needs.a.v` cannot be used here"),
    BadManifest(
      "in the manifest's name", "name: ${{ needs.a.v }}\ntasks: { a: { run: x } }",
      "1:11: `needs.a.v` cannot be used here"),
    BadManifest(
      "of a task that is not needed",
      "tasks:\n  a: { run: x }\n  b: { run: x, env: { V: '${{ needs.a.v }}' } }",
      "3:31: task `b` reads the value `v` of `a`, but does not need `a`"),
    reader(
      "of a task that is not there", "env: { V: '${{ needs.c.v }}' }\nrun: x",
      "5:20: task `b` reads the value `v` of `c`, but does not need `c`"),
    reader(
      "of itself", "env: { V: '${{ needs.b.v }}' }\nrun: x",
      "5:20: task `b` reads the value `v` of `b`, but does not need `b`"),
    reader(
      "two that are not needed", "env: { V: '${{ needs.c.v }}', W: '${{ needs.d.v }}' }\nrun: x",
      "5:20: task `b` reads the value `v` of `c`, but does not need `c`",
      "5:43: task `b` reads the value `v` of `d`, but does not need `d`"),
    reader(
      "in an if, of a task that is not needed", "if: needs.c.v == 'x'\nrun: x",
      "5:9: task `b` reads the value `v` of `c`, but does not need `c`"),
    reader(
      "in a list, of a task that is not needed", "run: [echo, '${{ needs.c.v }}']",
      "5:22: task `b` reads the value `v` of `c`, but does not need `c`"),
    reader(
      "in an address, of a task that is not needed",
      "download: { url: 'http://h/${{ needs.c.v }}', to: f }",
      "5:36: task `b` reads the value `v` of `c`, but does not need `c`"),
    reader(
      "in a hash, of a task that is not needed",
      "download: { url: 'http://h/', sha256: '${{ needs.c.v }}', to: f }",
      "5:48: task `b` reads the value `v` of `c`, but does not need `c`"),
    reader(
      "a task without a name", "env: { V: '${{ needs.a }}' }\nrun: x",
      "5:20: `needs.a` does not name a value"),
    reader(
      "nothing", "env: { V: '${{ needs. }}' }\nrun: x", "5:20: `needs.` does not name a value"),
    reader(
      "a dot at the end", "env: { V: '${{ needs.a. }}' }\nrun: x",
      "5:20: `needs.a.` does not name a value"),
    reader(
      "as GitHub writes it", "env: { V: '${{ needs.a.outputs.v }}' }\nrun: x",
      "5:20: `needs.a.outputs.v` does not name a value"),
    reader(
      "a name with a minus sign", "env: { V: '${{ needs.a.my-value }}' }\nrun: x",
      "5:20: `my-value` is not a valid value name"),
    reader(
      "a name with a slash", "env: { V: '${{ needs.a.x/y }}' }\nrun: x",
      "5:20: `x/y` is not a valid value name"),
    reader(
      "a name that is too long",
      "env: { V: '${{ needs.a.\(String(repeating: "n", count: 129)) }}' }\nrun: x",
      "5:20: the name of the value in `needs.a.\(String(repeating: "n", count: 32))…` is too"
        + " long"),
    reader(
      "beside a mistake", "env: { V: '${{ needs.a.v + vars.x }}' }\nrun: x",
      "5:30: expected an operator or the end, found `+`"),
    reader(
      "beside an unknown name", "env: { V: '${{ needs.a.v || vars.x }}' }\nrun: x",
      "5:33: unknown name `vars.x`"),
    reader(
      "an if with a bad operator", "if: needs.a.v = 'x'\nrun: x",
      "5:19: expected an operator or the end, found `=`"),
    reader(
      "a pattern without its right side", "if: needs.a.v =~\nrun: x",
      "5:21: the expression ends, but a value must follow"),
    reader(
      "steps", "env: { V: '${{ steps.a.outputs.v }}' }\nrun: x",
      "5:20: unknown name `steps.a.outputs.v`"),
  ]
}
