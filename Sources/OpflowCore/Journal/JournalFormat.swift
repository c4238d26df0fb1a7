// The journal
// ===========
//
// One append-only text file per run, one line per transition. It is the only source of truth about
// a run: status, resume, reports and estimates are folds over it.
//
//   CRC <TAB> SEQ <TAB> TIME <TAB> EVENT <TAB> TASK <TAB> KEY=VALUE <TAB> KEY=VALUE ... <LF>
//
//   CRC    CRC-32C of everything after its tab up to the line feed, eight lower-case hex digits
//   SEQ    decimal, from 1, one more with each line
//   TIME   decimal, milliseconds since the epoch
//   EVENT  a word of the table below
//   TASK   the task's id; empty where the line speaks of the run
//
// TAB, LF, CR, NUL and backslash inside a field are written as \t, \n, \r, \0 and \\. Keys stand in
// any order; one that a reader does not know is passed over, and so is a line whose event it does
// not know, except that its SEQ counts. A number that is 0 and a text that is empty may be left out.
// `set`, `tasks`, `args`, `only`, `skip`, `env`, `file`, `removed`, `dropped`, `capacity`, `on`, `back` and an order's `fp`
// stand once per value.
//
//   EVENT      TASK  keys
//   open             format run plan version manifest folder state set tasks args only skip env file
//                    capacity failures on trace around serve name
//   resume           d plan version set only skip env file reused withdrawn removed dropped capacity
//                    failures on trace count continues
//   close            d state code signal
//   worker           d w pid start boot group host site
//   order            d id verb by pid uid expects resource value tasks fp back
//   stop             d signal what
//   extend     (x)   d n id by pid uid plan count value manifest folder file copy
//   withdraw    x    d n dropped value
//   site             d site state host cores memory gpus incarnation lease until what
//   pause            d
//   continue         d
//   start       x    d n w ahead what
//   success     x    d n exit wall user sys rss out fp with values origin restored; of a download: from size gained kept sha256
//                    sha512 source etag date url
//   failure     x    d n exit signal reason errno what wall user sys rss out allowed fp with origin; of a
//                    download: from gained after source url
//   retry       x    d n exit signal reason errno what wall user sys rss out delay; as failure
//   skip        x    d reason of
//   cancel      x    d n exit signal reason wall user sys rss out
//   interrupt   x    d n reason exit signal wall user sys rss out
//   pause       x    d n
//   continue    x    d n
//   resume      x    d n reason part of late what
//   fresh       x    d n origin kept fp with values
//   ready       x    d n what
//
//   d          number of the drive of the run (1 for its first, which leaves the key out)
//   n          number of the try, over all drives
//   exit, signal     how the process ended
//   wall, user, sys  microseconds
//   rss        KiB, largest resident set
//   out        bytes of output
//   fp         the task's fingerprint (of an `approve` the first part alone, once for each of `tasks`): 16 hex digits, a dot, its parts in up to 16 hex digits; a dash
//              where an older opflow wrote it, which took folders by their absolute paths
//   with       XXH3 of the values of other tasks that it read, and of the arguments that it got
//   values     what it left for others: NAME:XXH3 each, commas between
//   of         the task that the reason speaks of
//   part       the part of the definition that changed
//   what       of a `start` and a `resume`: what is not up to date any more, for people; of a `ready`: the ports
//              that were found for the service, NAME:NUMBER each, commas between
//   origin     a random number of the success alone, in any run of any time: 16 hex digits; so of a failure that
//              is allowed
//   restored   1: the task did not run, and what it left came from a cache
//   late       1: of a `resume`: decided while the drive went on
//   delay      milliseconds until the next try
//   host       the worker's machine, where that is not the coordinator's; of a `site` its machine
//   site       the number of the machine's stream in the drive, from 1; 0 is the coordinator's machine
//   cores, memory, gpus  of a machine that joined: what it has for tasks, memory in bytes
//   incarnation, lease   what tells the machine's job from an earlier one; milliseconds without an answer after
//              which its agent ends its workers
//   until      milliseconds from then on until its time is over
//   from       of a download's end: bytes that a part held before, and that were not fetched again
//   size, gained  bytes of the file, and of what this try added to its part
//   after      milliseconds that the server asked to be left alone
//   kept       1: nothing was fetched, what stood there is right; of a `fresh`: the result is one of an
//              earlier drive of this run
//   sha256, sha512  of the file
//   source     XXH3 of the URL as the manifest has it
//   etag, date, url  what the server called this version, and where redirects led
//   id, verb   of an order: what tells it from others, and what was asked for (OrderVerb)
//   by, uid    who asked: a command or a task, and the number of the user
//   expects    the number of the try that it was about
//   tasks, back  of an order: the tasks that it holds for, and those that wait again with them
//   resource, value  what is set, and to what
//   capacity   NAME:AMOUNT: what the drive has of a resource, in what a plan counts it in
//   failures   after so many nothing new starts; 0 is no limit
//   on         what the drive was given as --on: where its tasks may run beside the coordinator's machine
//   serve      1: the run stays open for tasks to come until somebody closes it
//   name       what the run is known by beside its id
//   trace      the TRACEPARENT that the drive was begun with (version 00 of W3C's Trace Context)
//   withdrawn  how many `resume` lines of tasks follow this line at once
//
// An order takes effect with its line: pending tasks that it cancels are cancelled by it, those that
// it skips are skipped, those that it retries wait again, which is their one way out of an end within a
// drive. What runs ends later, on a line of its own; so do gates that it answers, right after it: where a
// run died between the two, an `approve` holds for the next drive, if the gate is then as it was.
//
// `stop` stands where a signal begins to end a drive; what runs ends later, on lines of its own. Where no machine is
// left for what is to run, it stands there with the reason.
//
// `extend` stands where tasks were added to the run, before anything is said of them: `count` is how many its plan has
// from there on (of a run's `resume`: how many it has by then, where some were added), `value` how many are new, `plan` the key of the
// segment, and `manifest`, `folder` and `file` say what it was compiled from, as in `open`. `copy` is that manifest as it was read; where
// it is left out the run's folder has it by the name of the `id`. Where a task added them, TASK and `n` say which, and in which of its tries.
//
// `withdraw` stands where a task is tried again that added tasks in a try of the same drive: `dropped` names the orders that
// gave them, `n` the try before this one, `value` how many tasks they are. None of them has begun. They have other names
// from there on, and are skipped by these. Those that had an end before are taken out of it on a `resume` line before it.
//
// `site` stands where a further machine joins, before any worker of its, and where it is used otherwise from then on
// (SiteState). What ran on one that is lost ends on lines of its own, behind that.
//
// A task with `inputs` keeps its result by a `fresh`, not by silence: it is looked at when its turn comes,
// and so are the tasks behind it that a resume would keep. Where one of them runs again, its `resume` line
// comes then, and is `late`.
//
// A drive begins with `open` or a run's `resume`; the tasks' `resume` lines, which alone take a task
// out of a state that it ended in, follow it without a gap, but for the late ones. `d` and `withdrawn` are there so that a
// reader of a damaged journal knows when it may have lost one of them: it then takes nothing that
// ended before that drive as ended (RunModel).
//
// Line 1 is `open` with SEQ 1. The format's version is its key `format`; a reader refuses a version
// that it does not know. New keys and events need no new version, a new meaning of old ones does.

/// What a line of the journal is about.
package enum JournalEvent: Equatable, Sendable {
  case open
  /// A further drive of the run.
  case resume
  case close
  case worker
  case order
  case stop
  case site
  case extend
  case withdraw
  case transition(TransitionKind)
  /// A word of a later opflow.
  case unknown

  /// Whether what the plan's file tells is another thing behind such a line.
  var changesPlan: Bool { self == .extend || self == .withdraw }

  /// `resume` speaks of the run or of a task, and only TASK tells which.
  @inline(__always)
  init(word: UnsafeRawBufferPointer, ofRun: Bool) {
    switch word.first {
    case UInt8(ascii: "s"):
      if word.equals("start") {
        self = .transition(.start)
      } else if word.equals("success") {
        self = .transition(.success)
      } else if word.equals("skip") {
        self = .transition(.skip)
      } else {
        self =
          word.equals("stopping")
          ? .transition(.stopping)
          : word.equals("stop") ? .stop : word.equals("site") ? .site : .unknown
      }
    case UInt8(ascii: "f"):
      if word.equals("failure") {
        self = .transition(.failure)
      } else {
        self = word.equals("fresh") ? .transition(.fresh) : .unknown
      }
    case UInt8(ascii: "r"):
      if word.equals("resume") {
        self = ofRun ? .resume : .transition(.resume)
      } else {
        self =
          word.equals("retry")
          ? .transition(.retry) : word.equals("ready") ? .transition(.ready) : .unknown
      }
    case UInt8(ascii: "c"):
      if word.equals("close") {
        self = .close
      } else if word.equals("cancel") {
        self = .transition(.cancel)
      } else {
        self = word.equals("continue") ? .transition(.proceed) : .unknown
      }
    case UInt8(ascii: "i"): self = word.equals("interrupt") ? .transition(.interrupt) : .unknown
    case UInt8(ascii: "p"): self = word.equals("pause") ? .transition(.pause) : .unknown
    case UInt8(ascii: "o"):
      self = word.equals("open") ? .open : word.equals("order") ? .order : .unknown
    case UInt8(ascii: "w"):
      self =
        word.equals("worker") ? .worker : word.equals("withdraw") ? .withdraw : .unknown
    case UInt8(ascii: "e"): self = word.equals("extend") ? .extend : .unknown
    default: self = .unknown
    }
  }
}

extension Fingerprint.Part {
  /// The word in the journal and in the reason that a person reads.
  package var word: String {
    switch self {
    case .run: "run"
    case .env: "env"
    case .dir: "dir"
    case .shell: "shell"
    case .needs: "needs"
    case .download: "download"
    case .values: "values"
    }
  }

  init?(word: UnsafeRawBufferPointer) {
    guard let part = Self.allCases.first(where: { $0.word.utf8.elementsEqual(word) }) else {
      return nil
    }
    self = part
  }
}

/// Why a file is no journal that this opflow can read. What recovery covers is no error.
package enum JournalError: Error, Equatable, Sendable {
  /// Not one byte: the run died before it began.
  case empty
  /// The first line is damaged, or the file is something else.
  case firstLine
  case version(found: String)

  package var message: String {
    switch self {
    case .empty: "there is no journal, or nothing in it: this run never began"
    case .firstLine: "line 1 is damaged or no journal's: it should be an intact `open` line"
    case .version(let found):
      "the journal has format \(found), this opflow reads \(OpenEntry.currentFormat)"
    }
  }
}
