import Testing

@testable import OpflowPlan

@Suite struct LogNameTests {
  @Test(arguments: [
    ("build", "build.log"), ("a/b:c", "a%2Fb%3Ac.log"), (".hidden", "%2Ehidden.log"),
    ("v1.2", "v1.2.log"), ("a b~", "a%20b%7E.log"), ("é", "%C3%A9.log"),
    ("build[arch=x86_64,os=linux]", "build,arch=x86_64,os=linux.log"),
  ])
  func `a task's log is named after it`(id: String, name: String) {
    #expect(LogName.of(id) == name)
  }

  @Test func `the log of a matrix task had brackets in version 0.1`() {
    #expect(LogName.older("build[n=1]".utf8) == "build%5Bn=1%5D.log")
    #expect(LogName.older("build".utf8) == nil)
  }

  @Test func `a long name is cut, and stays apart from others that begin like it`() {
    let long = String(repeating: "x", count: 200)
    #expect(LogName.of(long) == long + ".log")
    let names = ["a", "b"].map { LogName.of(long + $0) }
    #expect(names[0] != names[1])
    for name in names {
      #expect(name.utf8.count == 204)
      #expect(name.hasPrefix(String(repeating: "x", count: 183) + "~"))
    }
  }

  @Test(arguments: 0..<3)
  func `a long name is not cut within an escape`(shift: Int) {
    let id = String(repeating: "x", count: shift) + String(repeating: "/", count: 85)
    let stem = LogName.of(id).split(separator: "~")[0].dropFirst(shift)
    #expect(stem.utf8.count % 3 == 0)
    #expect(stem.hasSuffix("%2F"))
  }
}
