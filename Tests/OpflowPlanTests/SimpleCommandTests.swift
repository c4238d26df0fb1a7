import OpflowPlan
import Testing

@Suite("Simple commands")
struct SimpleCommandTests {
  func words(_ script: String) -> [String]? {
    let bytes = Array(script.utf8)
    return bytes.withUnsafeBytes { buffer in
      SimpleCommand.words(of: buffer)?.map { String(decoding: buffer[$0], as: UTF8.self) }
    }
  }

  @Test func `plain words are a command of their own`() {
    #expect(words("true") == ["true"])
    #expect(
      words("  gcc\t-O2 -DX=1 -c a/b.c -o out/b.o \n\n") == [
        "gcc", "-O2", "-DX=1", "-c", "a/b.c", "-o", "out/b.o",
      ])
    #expect(words("./run.sh") == ["./run.sh"])
    #expect(words("user@host:1,2%") == ["user@host:1,2%"])
  }

  @Test(arguments: [
    "", " \n", "echo hi", "cd src", "a=1", "a=1 make", "make; make", "make && make", "make | cat",
    "make > log", "make < in", "make &", "ls *.c", "ls ?.c", "ls [ab].c", "echo $HOME", "ls ~",
    "ls `pwd`", "say \"x\"", "say 'x'", "a\\ b", "ls {a,b}", "!true", "# comment",
    "make # comment", "first\nsecond", "if", "exit 3", "test -f x", "[ -f x ]", "caf\u{e9} x",
    "kill 1", "printf x", "ulimit -n 5", "time make", ". ./env", "exec make", "a\rb", "a\0b",
  ])
  func `whatever a shell would treat in its own way goes to the shell`(_ script: String) {
    #expect(words(script) == nil)
  }
}
