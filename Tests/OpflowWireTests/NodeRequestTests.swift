import OpflowWire
import Testing

@Suite("What --on asks for")
struct NodeRequestTests {
  func message(_ word: String) -> String? {
    do throws(NodeRequestError) {
      _ = try NodeRequest.parse(word)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func `each transport is known by the word before its colon`() throws {
    #expect(try NodeRequest.parse("local") == [])
    #expect(try NodeRequest.parse("slurm") == [.slurm(options: [])])
    #expect(try NodeRequest.parse("slurm:") == [.slurm(options: [])])
    #expect(
      try NodeRequest.parse("ssh:one,me@two") == [.ssh(host: "one"), .ssh(host: "me@two")])
    #expect(
      try NodeRequest.parse("exec:ssh -p 2222 a 'b c': d")
        == [.exec(command: "ssh -p 2222 a 'b c': d")])
  }

  @Test(arguments: [
    ("-N 4 -t 12:00:00", ["-N", "4", "-t", "12:00:00"]),
    ("  -N\t4\n", ["-N", "4"]),
    ("--comment='two words' -A \"a b\"", ["--comment=two words", "-A", "a b"]),
    (#"-J a\ b --x='\' --y="\"\\\$\n""#, ["-J", "a b", #"--x=\"#, #"--y="\$\n"#]),
    ("-J ''", ["-J", ""]),
    ("-C $A*~ -J a'b'\"c\"", ["-C", "$A*~", "-J", "abc"]),
    ("-J a\\\nb", ["-J", "ab"]),
    ("-J caf\u{e9}", ["-J", "caf\u{e9}"]),
  ])
  func `options are split as a shell splits words, and nothing is expanded`(
    _ text: String, _ words: [String]
  ) throws {
    let request = NodeRequest.slurm(options: words)
    #expect(try NodeRequest.parse("slurm:" + text) == [request])
    #expect(try NodeRequest.parse(request.text) == [request])
  }

  @Test(arguments: [
    ("slurm:-J 'a", "slurm: a quote is not closed in `-J 'a`"),
    ("slurm:-J \"a'", "slurm: a quote is not closed in `-J \"a'`"),
    ("slurm:-J a\\", "slurm: the last backslash escapes nothing in `-J a\\`"),
    (
      "slurm:4",
      "slurm: options start with a dash, as in 'slurm:-N 4 -t 12:00:00', not `4`"
    ),
    ("ssh", "ssh needs a host, such as ssh:HOST,HOST"),
    ("ssh:", "ssh needs a host, such as ssh:HOST,HOST"),
    ("ssh:a,,b", "ssh needs a host, such as ssh:HOST,HOST"),
    ("ssh:-oProxyCommand=x", "ssh: `-oProxyCommand=x` is not a valid host name"),
    ("ssh:a b", "ssh: `a b` is not a valid host name"),
    ("ssh:a,b,a", "ssh: `a` occurs twice"),
    ("exec", "exec needs a command, such as exec:'ssh HOST opflow agent'"),
    ("exec: \t", "exec needs a command, such as exec:'ssh HOST opflow agent'"),
    (
      "slrum:-N 4",
      "NODES must be one of local, slurm[:OPTIONS], ssh:HOST,HOST, exec:COMMAND, not `slrum:-N 4`;"
        + " did you mean slurm?"
    ),
    ("local:x", "local takes no options"),
    ("", "NODES must be one of local, slurm[:OPTIONS], ssh:HOST,HOST, exec:COMMAND, not ``"),
  ])
  func `what asks for nothing that is known says what is wrong`(_ word: String, _ text: String) {
    #expect(message(word) == text)
  }
}
