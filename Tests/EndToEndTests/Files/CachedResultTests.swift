import Glibc
import Testing

/// Results that come from a cache instead of running the task.
struct CachedResultTests {
  private static let manifest = """
    tasks:
      build:
        inputs: [src]
        outputs: [out, 'made/*.o']
        cache: true
        run: |
          echo build >> trace
          rm -rf made; mkdir -p out/deep made
          cp src out/text; ln -sf text out/link; cp src out/deep/tool; chmod 755 out/deep/tool
          for word in $(cat src); do echo $word > made/$word.o; done
          echo "printed $(cat src)"
          cat src > $OPFLOW_VALUES/word
      use:
        needs: build
        env: { WORD: "${{ needs.build.word }}" }
        run: 'echo "use $WORD $(cat out/link) $(ls made | tr "\\n" " ")" >> trace'
    """

  private func place(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.write("src", "one\n")
    return place
  }

  /// Returns the tasks that another run starts, and its output.
  private func run(
    _ place: Workplace, _ flags: String = "", status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> (starts: [String], told: String) {
    try place.shell(
      "rm -f trace; \"$opflow\" run --output line \(flags) > told 2>&1", status: status,
      sourceLocation: sourceLocation)
    return (place.lines(), try place.text("told"))
  }

  @Test func `what was made from the same inputs comes back with its files, values and output`()
    throws
  {
    let place = try place()
    #expect(try run(place).starts == ["build", "use one one one.o "])
    try place.write("src", "two\n")
    #expect(try run(place).starts == ["build", "use two two two.o "])
    try place.write("src", "one\n")
    let back = try run(place)
    #expect(back.starts == ["use one one one.o "])
    #expect(back.told.contains("build restored from the cache"))
    #expect(back.told.contains("build | printed one"))
    #expect(back.told.contains("2 succeeded (1 from the cache)"))
    try place.shell(
      "test -x out/deep/tool && test ! -x out/text && test \"$(readlink out/link)\" = text")
    #expect(try place.opflow("logs", "build").output.contains("printed one"))
    // It is up to date by that as by any other success.
    #expect(try run(place).told.contains("1 up to date"))
  }

  @Test func `a result that came back is told as that, of a task and of a family`() throws {
    let place = try place(
      """
      tasks:
        a: { inputs: [src], outputs: [o], cache: true, run: cp src o }
        b:
          matrix: { n: [1, 2] }
          inputs: [src, "in${{ matrix.n }}"]
          outputs: ["o${{ matrix.n }}"]
          cache: true
          env: { N: "${{ matrix.n }}" }
          run: cp src o$N
      """)
    try place.shell("touch in1 in2")
    _ = try run(place)
    try place.write("src", "two\n")
    _ = try run(place)
    try place.write("src", "one\n")
    try place.write("in2", "new\n")
    _ = try run(place)
    let why = try place.opflow("why", "a").output
    #expect(
      why.contains("was restored from the cache") && !why.contains("ran"), "\(why)")
    let status = try place.opflow("status").output
    #expect(status.contains("3 succeeded (2 cached)"), "\(status)")
    #expect(status.contains("2 succeeded (1 cached)"), "\(status)")
    let all = try place.opflow("status", "-v").output
    #expect(all.split(separator: "\n").count { $0.hasSuffix("restored from the cache") } == 2)
    let json = try place.opflow("status", "--json").output
    #expect(json.split(separator: #""restored":true"#).count == 3, "\(json)")
    #expect(json.contains(#""restored":1"#), "\(json)")
    let report = try place.opflow("report", "junit").output
    #expect(report.split(separator: "<system-out>restored from the cache").count == 3, "\(report)")
  }

  @Test(arguments: [
    "[o, ./o/a]", "['o/*', './o/a']", "[o//a, o/a]", "['./o/*']", "['x/../o/*']",
    "['../p/o/*', o/a]",
    "[../p/o]", "['o/**/', o/a]",
  ])
  func `outputs come back under whatever spelling, and are no inputs`(_ outputs: String) throws {
    let place = try Workplace(
      """
      tasks:
        a:
          dir: p
          inputs: ["**"]
          outputs: \(outputs)
          cache: true
          run: 'echo a >> ../trace; mkdir -p o; cp src o/a'
      """)
    try place.write("p/src", "one\n")
    #expect(try run(place).starts == ["a"])
    let again = try run(place)
    #expect(again.told.contains("1 up to date"), "\(again.told)")
    try place.shell("rm -r p/o")
    let back = try run(place)
    #expect(back.starts == [], "\(back.told)")
    #expect(try place.text("p/o/a") == "one\n")
  }

  @Test func `what is gone comes back, and what was changed stays where nothing is put`() throws {
    let place = try place()
    _ = try run(place)
    try place.write("src", "two\n")
    _ = try run(place)
    try place.shell("echo other > made/two.o; echo mine > made/mine.o; rm -r out")
    try place.write("src", "one\n")
    #expect(try run(place).starts == ["use one one mine.o one.o two.o "])
  }

  @Test func `an entry that is damaged is none, and is made anew`() throws {
    let place = try place()
    _ = try run(place)
    for damage in [
      "printf X | dd of=$f bs=1 seek=1 conv=notrunc 2>/dev/null", "truncate -s -1 $f",
      "truncate -s 0 $f", "head -c 3000 /dev/urandom > $f", "echo more >> $f",
    ] {
      try place.shell("for f in .opflow/cache/2/??/*; do \(damage); done; rm -rf out made")
      let again = try run(place)
      #expect(again.starts == ["build", "use one one one.o "], "\(damage): \(again.told)")
      try place.shell("rm -rf out made")
      #expect(try run(place).starts == ["use one one one.o "], "\(damage)")
    }
  }

  @Test func `a cache is shared where that is asked for, and written where that is allowed`() throws
  {
    let shared = try Workplace("tasks: { a: { run: 'true' } }")
    let cache = shared.path + "/cache"
    let (one, two) = (try place(), try place())
    #expect(try run(one, "--cache \(cache)").told.contains("opflow does not use the cache"))
    #expect(try run(two, "--cache \(cache) --cache-write").starts.first == "build")
    try one.shell("rm -rf out made .opflow/records")
    #expect(try run(one, "--cache \(cache)").starts == ["use one one one.o "])
    // Without --cache-write, the cache does not change.
    try one.write("src", "two\n")
    #expect(try run(one, "--cache \(cache)").starts.first == "build")
    try two.write("src", "two\n")
    #expect(try run(two, "--cache \(cache)").starts.first == "build")
    try one.shell("rm -rf out made .opflow/records; export OPFLOW_CACHE=\(cache)")
    try one.write("src", "one\n")
    try one.shell(
      "rm -f trace; OPFLOW_CACHE=\(cache) \"$opflow\" run -q 2>told; ! grep -q build trace")
  }

  @Test func `nothing comes back where that is not wanted`() throws {
    let place = try place()
    _ = try run(place, "--no-cache")
    try place.shell("test ! -e .opflow/cache; rm -rf out made")
    #expect(try run(place).starts.first == "build")
    try place.shell("rm -rf out made")
    #expect(try run(place, "--no-cache").starts.first == "build")
    #expect(try run(place, "--rerun build").starts.first == "build")
    #expect(try run(place, "--cache x --no-cache", status: 2).told.contains("--no-cache"))
  }

  @Test func `a cache keeps to its size, and what was of use last stays`() throws {
    let place = try place(
      """
      tasks:
        a: { inputs: [src], outputs: [out], cache: true, run: "echo a >> trace; head -c 30000 /dev/zero > out; cat src >> out" }
      """)
    func cached(_ text: String) throws -> Bool {
      try place.write("src", text)
      try place.shell(
        "rm -rf out .opflow/records trace; OPFLOW_CACHE_SIZE=100K \"$opflow\" run -q 2>/dev/null")
      // Times in nanoseconds show which entry was used last.
      return place.lines().isEmpty
    }
    #expect(try ["1", "2", "3"].map { try cached($0) } == [false, false, false])
    #expect(try cached("1"))
    #expect(try cached("4") == false)
    #expect(try cached("1"))
    #expect(try cached("2") == false)
    try place.shell("test $(du -sb .opflow/cache | cut -f1) -lt 125000")
    let wrong = try place.opflow(
      "run", status: 2, environment: ["OPFLOW_CACHE_SIZE": "lots"])
    #expect(wrong.errors.contains("OPFLOW_CACHE_SIZE"), "\(wrong)")
  }

  @Test func `links lead nothing out of the project`() throws {
    let place = try place()
    _ = try run(place)
    try place.write("src", "two\n")
    _ = try run(place)
    try place.shell("rm -rf out; mkdir elsewhere; ln -s elsewhere out")
    try place.write("src", "one\n")
    // It runs where its result cannot be put.
    let again = try run(place)
    #expect(again.starts.first == "build", "\(again.told)")
    #expect(again.told.contains("cache:"), "\(again.told)")
  }

  @Test(arguments: [
    "ln -s store/f out", "ln -s ../store/f sub/mid; ln -s sub/mid out", "ln -s $PWD/store/f out",
    "ln -s store way; ln -s way/f out",
  ])
  func `a link comes back only where the file that it leads to is as it was`(_ links: String)
    throws
  {
    let place = try place(
      """
      tasks:
        a:
          run: 'echo a >> trace; cat src > out'
          inputs: [src]
          outputs: out
          cache: true
      """)
    try place.shell("mkdir store sub; touch store/f; \(links)")
    for text in ["one\n", "two\n", "one\n"] {
      try place.write("src", text)
      let run = try run(place)
      #expect(run.starts == ["a"], "\(run.told)")
      #expect(try place.text("store/f") == text, "\(run.told)")
    }
    try place.shell("rm .opflow/records")
    let back = try run(place)
    #expect(back.starts == [], "\(back.told)")
  }

  @Test(arguments: [
    ("out", false), ("[out, store]", true), ("[out, store/v]", true), ("[out, 'store/v/*']", false),
    ("[out, 'store/v/**']", true), ("[out, 'store/v/f']", false),
  ])
  func `a link to a folder is kept only with all that it leads to`(
    outputs: String, isKept: Bool
  ) throws {
    let place = try place(
      """
      tasks:
        a:
          run: 'echo a >> trace; mkdir -p out/in; cp src out/f; cp src out/in/g'
          inputs: [src]
          outputs: \(outputs)
          cache: true
      """)
    try place.shell("mkdir -p store/v; ln -s store/v out")
    for text in ["one\n", "two\n", "one\n"] {
      try place.write("src", text)
      let run = try run(place)
      let told =
        "the result is not cached; the link `out` leads to `store/v`, which is in neither"
        + " `outputs` nor `inputs`"
      #expect(run.told.contains(told) == !isKept, "\(run.told)")
      #expect(try place.text("out/f") == text)
      #expect(try place.text("out/in/g") == text)
    }
    #expect(place.lines().isEmpty == isKept)
  }

  @Test func `a link to an input is kept, since the key has its content`() throws {
    let place = try place(
      """
      tasks:
        a:
          run: 'echo a >> trace; ln -sfn data out; ln -sfn data/x file'
          inputs: [src, data]
          outputs: [out, file]
          cache: true
      """)
    try place.write("data/x", "1\n")
    #expect(try run(place).starts == ["a"])
    try place.write("data/x", "2\n")
    #expect(try run(place).starts == ["a"])
    try place.write("data/x", "1\n")
    #expect(try run(place).starts == [])
  }

  @Test func `an output behind a link is not kept, and the message says so`() throws {
    let place = try place(
      "tasks: { a: { run: 'cp src way/o', inputs: [src], outputs: way/o, cache: true } }")
    try place.shell("mkdir real; ln -s real way")
    let told = try run(place).told
    #expect(
      told.contains("task a: the result is not cached; the path `way/o` leads through a link"),
      "\(told)")
  }

  @Test func `a cache that cannot be written is told, and nobody is the worse for it`() throws {
    let place = try place()
    try place.shell("mkdir .opflow; touch .opflow/cache")
    let first = try run(place)
    #expect(first.starts.first == "build")
    let folder = place.file(".opflow/cache")
    #expect(
      first.told.contains("cache: cannot write a result to \(folder): Not a directory"),
      "\(first.told)")
    #expect(first.told.contains("2 succeeded"), "\(first.told)")
  }

  @Test func `what stands in place of an entry is replaced, or told with where it is`() throws {
    let place = try place()
    _ = try run(place)
    let entry = try place.shell("find .opflow/cache/2/?? -type f").output.split(separator: "\n")[0]
    try place.shell("rm \(entry); mkfifo \(entry); rm -r out")
    #expect(try run(place).starts.first == "build")
    try place.shell("test -f \(entry); rm \(entry); mkdir \(entry); rm -r out")
    let told = try run(place).told
    let path = "\(place.file(String(entry))): Is a directory"
    #expect(told.contains("cache: cannot write a result to \(path)"), "\(told)")
    try place.shell("rmdir \(entry); rm -r .opflow/cache/2/size out; mkdir .opflow/cache/2/size")
    let uncounted = try run(place).told
    let size = "\(place.file(".opflow/cache/2/size")): Is a directory"
    #expect(uncounted.contains("cannot write its size to \(size)"), "\(uncounted)")
  }

  @Test func `an entry with wrong bytes is told with where it is, and its task runs`() throws {
    let place = try place()
    _ = try run(place)
    let entry = try place.shell("find .opflow/cache/2/?? -type f").output.split(separator: "\n")[0]
    try place.shell("chmod u+w \(entry); printf x | dd of=\(entry) conv=notrunc; rm -r out")
    let again = try run(place)
    #expect(again.starts.first == "build")
    #expect(
      again.told.contains(
        "cannot restore the cached result \(place.file(String(entry))): it is damaged"),
      "\(again.told)")
  }

  @Test func `files with holes, folders and private files come back as they were kept`() throws {
    let place = try place(
      """
      tasks:
        a:
          inputs: [src]
          outputs: [out]
          cache: true
          run: |
            echo a >> trace; mkdir out out/shut; chmod 750 out
            truncate -s 20M out/holes; cat src >> out/holes; truncate -s 30M out/holes; : > out/empty
            cat src > out/shut/file; chmod 600 out/shut/file; chmod 555 out/shut
      """)
    let look = "stat -c '%n %a %F %s' out out/* out/shut/*; cat out/holes | sha256sum"
    #expect(try run(place).starts == ["a"])
    let before = try place.shell(look).output
    for removal in ["chmod u+w out/shut; rm -r out", "chmod u+w out/shut; rm out/shut/file", ":"] {
      try place.shell(removal)
      #expect(try run(place).starts == [], "\(removal)")
      #expect(try place.shell(look).output == before, "\(removal)")
    }
    let taken = try place.shell("du -k out/holes .opflow/cache/1/??/* | cut -f1").output
    for size in taken.split(separator: "\n") { #expect(try #require(Int(size)) < 1000) }
  }

  @Test func `a result is read in a shared cache by whoever may read all of its outputs`() throws {
    let place = try place(
      """
      tasks:
        a: { inputs: [src], outputs: [o, p], cache: true, run: 'touch o p; chmod 600 p' }
        b: { inputs: [src], outputs: [q], cache: true, run: 'touch q; chmod 640 q' }
        c: { inputs: [src], outputs: [r], cache: true, run: 'touch r; chmod 755 r' }
      """)
    try place.shell("umask 022; \"$opflow\" run -q --cache shared --cache-write")
    let modes = try place.shell("stat -c %a shared/2/??/* | sort").output
    #expect(modes == "600\n640\n644\n")
  }

  @Test func `what fails is not kept`() throws {
    let place = try place(
      """
      tasks:
        a: { inputs: [src], outputs: [out], cache: true, run: "echo a >> trace; touch out; test ! -e bad" }
      """)
    try place.shell("touch bad")
    #expect(try run(place, status: 1).starts == ["a"])
    try place.shell("rm bad out")
    #expect(try run(place).starts == ["a"])
  }
}
