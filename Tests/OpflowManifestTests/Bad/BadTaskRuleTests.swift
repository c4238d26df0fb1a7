import Testing

/// Wrong values of the keys that say when, where and how often a task runs.
struct BadTaskRuleTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a description that is a number", task: "run: x\ndesc: 5",
      "4:11: `desc` must be a string, not a number"),
    BadManifest(
      "a priority that is an unknown word", task: "run: x\npriority: urgent",
      """
      4:15: `priority` must be very_low, low, normal, high, very_high or a number from -1000 to \
      1000, not `urgent`
      """
    ),
    BadManifest(
      "a priority out of range", task: "run: x\npriority: 1001",
      """
      4:15: `priority` must be very_low, low, normal, high, very_high or a number from -1000 to \
      1000, not `1001`
      """
    ),
    BadManifest(
      "a priority that is a fraction", task: "run: x\npriority: 0.5",
      """
      4:15: `priority` must be very_low, low, normal, high, very_high or a number from -1000 to \
      1000, not `0.5`
      """
    ),
    BadManifest(
      "a priority that is a list", task: "run: x\npriority: [high]",
      """
      4:15: `priority` must be very_low, low, normal, high, very_high or a number from -1000 to \
      1000, not a list
      """
    ),
    BadManifest(
      "a dir that is a list", task: "run: x\ndir: [a]",
      "4:10: `dir` must be a string, not a list"),
    BadManifest(
      "an empty dir", task: "run: x\ndir: ''",
      "4:10: `dir` is empty"),
    BadManifest(
      "an unknown shell", task: "run: x\nshell: fish",
      "4:12: opflow does not know how to pass a script to `fish`"),
    BadManifest(
      "a shell with flags in one text", task: "run: x\nshell: bash -e",
      "4:12: opflow does not know how to pass a script to `bash -e`"),
    BadManifest(
      "a shell that is a map", task: "run: x\nshell: { a: b }",
      "4:12: `shell` must be a string or a list of strings, not a map"),
    BadManifest(
      "an empty shell", task: "run: x\nshell: []",
      "4:12: `shell` is empty"),
    BadManifest(
      "a timeout without a unit that is known", task: "run: x\ntimeout: 10 parsecs",
      "4:14: `timeout` must be a duration, not `10 parsecs`"),
    BadManifest(
      "a negative timeout", task: "run: x\ntimeout: -5",
      "4:14: `timeout` must be a duration, not `-5`"),
    BadManifest(
      "a timeout that is a list", task: "run: x\ntimeout: [1]",
      "4:14: `timeout` must be a duration, not a list"),
    BadManifest(
      "a timeout in the wrong order", task: "run: x\ntimeout: 30m1h",
      "4:14: `timeout` must be a duration, not `30m1h`"),
    BadManifest(
      "an empty timeout", task: "run: x\ntimeout:",
      "4:13: `timeout` has no value; it must be a duration"),
    BadManifest(
      "a retry that is a word", task: "run: x\nretry: often",
      "4:12: `retry` must be a whole number or a map, not `often`"),
    BadManifest(
      "a negative retry", task: "run: x\nretry: -1",
      "4:12: `retry` must be at least 0, not -1"),
    BadManifest(
      "an unknown key in retry", task: "run: x\nretry: { times: 3 }",
      "4:14: unknown key `times` in `retry`"),
    BadManifest(
      "a retry that is a list", task: "run: x\nretry: [3]",
      "4:12: `retry` must be a whole number or a map, not a list"),
    BadManifest(
      "a wrong delay", task: "run: x\nretry: { delay: later }",
      "4:21: `delay` must be a duration, not `later`"),
    BadManifest(
      "a delay beyond all bounds", task: "run: x\nretry: { delay: 1001h }",
      "4:21: `delay` must be at most 1000h"),
    BadManifest(
      "a backoff below one", task: "run: x\nretry: { backoff: 0.5 }",
      "4:23: `backoff` must be from 1 to 1000, not 0.5"),
    BadManifest(
      "a backoff that is a word", task: "run: x\nretry: { backoff: twice }",
      "4:23: `backoff` must be a number, not `twice`"),
    BadManifest(
      "a jitter above one", task: "run: x\nretry: { jitter: 1.5 }",
      "4:22: `jitter` must be from 0 to 1, not 1.5"),
    BadManifest(
      "exit codes that are a number", task: "run: x\nretry: { exit_codes: 75 }",
      "4:26: `exit_codes` must be a list of exit codes, not a number"),
    BadManifest(
      "an exit code out of range", task: "run: x\nretry: { exit_codes: [75, 256] }",
      "4:31: an item of `exit_codes` must be from 1 to 255, not 256"),
    BadManifest(
      "an exit code that is zero", task: "run: x\nretry: { exit_codes: [0] }",
      "4:27: an item of `exit_codes` must be from 1 to 255, not 0"),
    BadManifest(
      "no exit codes", task: "run: x\nretry: { exit_codes: [] }",
      "4:26: `exit_codes` is empty"),
    BadManifest(
      "a stop that is a word", task: "run: x\nstop: TERM",
      "4:11: `stop` must be a map, not a string"),
    BadManifest(
      "an unknown signal", task: "run: x\nstop: { signal: STOPP }",
      """
      4:21: `signal` must be TERM, INT, HUP, QUIT, KILL, ABRT, ALRM, USR1, USR2 or a number, not \
      `STOPP`
      """
    ),
    BadManifest(
      "a signal out of range", task: "run: x\nstop: { signal: 65 }",
      """
      4:21: `signal` must be TERM, INT, HUP, QUIT, KILL, ABRT, ALRM, USR1, USR2 or a number, not \
      `65`
      """
    ),
    BadManifest(
      "a download that is interactive",
      "tasks:\n  a:\n    interactive: true\n    download: { url: 'http://x/y', to: y }",
      "3:18: a download cannot be `interactive`"),
    BadManifest(
      "a download that may steer",
      "tasks:\n  a:\n    control: true\n    download: { url: 'http://x/y', to: y }",
      "3:14: a download cannot have `control`"),
    BadManifest(
      "a command that asks", task: "run: x\napprove: Sure?",
      "4:5: a task cannot have both `run` and `approve`"),
    BadManifest(
      "an empty question", task: "approve: ' '",
      "3:14: `approve` is empty"),
    BadManifest(
      "an approval in a list", task: "approve: [Sure?]",
      "3:14: `approve` must be a string, not a list"),
    BadManifest(
      "an approval with an environment", task: "approve: Sure?\nenv: { A: b }",
      "4:5: an approval (`approve`) cannot have `env`"),
    BadManifest(
      "an approval that is tried again", task: "approve: Sure?\nretry: 3",
      "4:5: an approval (`approve`) cannot have `retry`"),
    BadManifest(
      "an approval with exit codes", task: "approve: Sure?\nallow_failure: [1]",
      "4:20: an approval (`approve`) has no exit codes for `allow_failure`"),
    BadManifest(
      "an approval at the end of all", task: "approve: Sure?\nfinally: true",
      "4:5: an approval (`approve`) cannot have `finally`"),
    BadManifest(
      "control that is no answer", task: "run: x\ncontrol: 1",
      "4:14: `control` must be true or false, not `1`"),
    BadManifest(
      "local that is no answer", task: "run: x\nlocal: 1",
      "4:12: `local` must be true or false, not `1`"),
    BadManifest(
      "interactive that is no answer", task: "run: x\ninteractive: 1",
      "4:18: `interactive` must be true or false, not `1`"),
    BadManifest(
      "a wrong grace", task: "run: x\nstop: { grace: x }",
      "4:20: `grace` must be a duration, not `x`"),
    BadManifest(
      "an unknown key in stop", task: "run: x\nstop: { sig: TERM }",
      "4:13: unknown key `sig` in `stop`"),
  ]
}
