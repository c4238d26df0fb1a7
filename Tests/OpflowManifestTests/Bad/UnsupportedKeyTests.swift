import Testing

/// Keys that are read in full and refused.
struct UnsupportedKeyTests {
  @Test(arguments: cases)
  func `is refused with every mistake at its place`(_ bad: BadManifest) {
    #expect(mistakes(in: bad.text) == bad.mistakes)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "inputs and outputs", task: "run: x\ninputs: [a]\noutputs: [b]",
      "4:5: `inputs` is not supported yet",
      "5:5: `outputs` is not supported yet"),
    BadManifest(
      "inputs that are a text", task: "run: x\ninputs: a",
      "4:5: `inputs` is not supported yet",
      "4:13: `inputs` must be a list of paths, not a string"),
    BadManifest(
      "one output of two tasks",
      "tasks:\n  a: { run: x, outputs: [out/a] }\n  b: { run: x, dir: out, outputs: [a] }",
      "2:16: `outputs` is not supported yet",
      "3:26: `outputs` is not supported yet",
      "3:36: `a` is written twice"),
  ]
}
