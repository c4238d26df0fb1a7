import Testing

@testable import OpflowManifest

/// Wrong declarations about the processes of a task: `jobserver`, `memory_limit` and `clean`.
struct BadProcessTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a jobserver of another kind", task: "run: x\njobserver: socket",
      "4:16: `jobserver` must be true, false, fifo or pipe, not `socket`"),
    BadManifest(
      "a jobserver that is a list", task: "run: x\njobserver: [fifo]",
      "4:16: `jobserver` must be true, false, fifo or pipe, not a list"),
    BadManifest(
      "a jobserver of a download", task: "download: { url: http://a/b, to: b }\njobserver: true",
      "4:5: a download cannot have `jobserver`"),
    BadManifest(
      "a jobserver of an approval", task: "approve: yes?\njobserver: true",
      "4:5: an approval (`approve`) cannot have `jobserver`"),
    BadManifest(
      "a jobserver of a service", task: "run: x\nservice: true\njobserver: pipe",
      "5:5: a service cannot have `jobserver`"),
    BadManifest(
      "a jobserver without a processor", task: "run: x\nresources: { cpu: 0 }\njobserver: fifo",
      "5:5: a task with `jobserver` needs at least 1 `cpu`"),
    BadManifest(
      "a jobserver where defaults hold no processor",
      """
      defaults: { resources: { cpu: 0 } }
      tasks: { a: { run: x, jobserver: true } }
      """, "2:23: a task with `jobserver` needs at least 1 `cpu`"),
    BadManifest(
      "a limit that is no size", task: "run: x\nmemory_limit: much",
      "4:19: `memory_limit` must be a size, not `much`"),
    BadManifest(
      "a limit of a download", task: "download: { url: http://a/b, to: b }\nmemory_limit: 1GiB",
      "4:5: a download cannot have `memory_limit`"),
    BadManifest(
      "a limit of an approval", task: "approve: yes?\nmemory_limit: 1GiB",
      "4:5: an approval (`approve`) cannot have `memory_limit`"),
    BadManifest(
      "a clean start without inputs", task: "run: x\noutputs: [o]\nclean: true",
      "5:5: `clean` needs `inputs` and `outputs`"),
    BadManifest(
      "a clean start without outputs", task: "run: x\ninputs: [i]\nclean: true",
      "5:5: `clean` needs `inputs` and `outputs`"),
    BadManifest(
      "a clean start of a download", task: "download: { url: http://a/b, to: b }\nclean: true",
      "4:5: a download cannot have `clean`"),
    BadManifest(
      "a clean start of a service", task: "run: x\nservice: true\nclean: true",
      "5:5: a service cannot have `clean`"),
    BadManifest(
      "a clean start that would remove an input",
      task: "run: x\ninputs: [src]\noutputs: [src]\nclean: true",
      "4:14: `src` is also an output of this task, and `clean` would delete it"),
    BadManifest(
      "a clean start elsewhere", task: "run: x\ninputs: [i]\noutputs: [../o]\nclean: true",
      "5:15: `../o` is outside the manifest's folder, and `clean` removes nothing there"),
  ]

  @Test(arguments: [
    "jobserver: true", "jobserver: false", "jobserver: fifo", "jobserver: 'pipe'",
    "jobserver: true, resources: { cpu: 3 }", "memory_limit: 1MiB", "memory_limit: 2GiB",
    "service: true, memory_limit: 64MiB", "inputs: [], outputs: [o], clean: true",
    "clean: false", "jobserver: false, resources: { cpu: 0 }",
  ])
  func `valid declarations are accepted`(keys: String) throws {
    #expect(try compile("tasks: { a: { run: x, \(keys) } }").warnings.isEmpty)
  }
}
