internal import OpflowBase
internal import OpflowPlan

// The journal
// ===========
//
// One append-only text file per run, one line per transition. It is the only source of truth about
// a run: status, resume, reports and estimates replay it.
//
//   CRC <TAB> SEQ <TAB> TIME <TAB> EVENT <TAB> TASK <TAB> KEY=VALUE <TAB> KEY=VALUE ... <LF>
//
//   CRC    CRC-32C of the line after the first tab, without LF: eight lower-case hex digits
//   SEQ    line number, decimal, from 1
//   TIME   milliseconds since the epoch, decimal
//   EVENT  a word of the table below
//   TASK   the task's ID; empty if the line is about the run
//
// In a field, TAB, LF, CR, NUL and backslash are escaped as \t, \n, \r, \0 and \\. Keys may have
// any order. A reader ignores unknown keys, and unknown events except for their SEQ. A number 0 and
// an empty string may be left out. `set`, `tasks`, `args`, `only`, `skip`, `env`, `file`,
// `removed`, `dropped`, `capacity`, `on`, `back` and a request's `fp` are repeated, once per value.
//
//   EVENT      TASK  keys
//   open             format run plan version manifest folder state set tasks args only skip env
//                    file capacity failures on trace around serve name
//   resume           d plan version set only skip env file reused withdrawn removed dropped
//                    capacity failures on trace count continues
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
//   success     x    d n exit wall user sys rss out fp with values origin restored; of a download:
//                    from size gained kept sha256 sha512 source etag date url
//   failure     x    d n exit signal reason errno what wall user sys rss out allowed fp with
//                    origin; of a download: from gained after source url
//   retry       x    d n exit signal reason errno what wall user sys rss out delay; as failure
//   skip        x    d reason of
//   cancel      x    d n exit signal reason wall user sys rss out
//   interrupt   x    d n reason exit signal wall user sys rss out
//   pause       x    d n
//   continue    x    d n
//   resume      x    d n reason part of late what
//   fresh       x    d n origin kept fp with values
//   ready       x    d n what
//   stopping    x    d n
//
// Lines that end an attempt may also have `what`, `left` and `pids`.
//
//   d          session of the run; left out if 1
//   n          attempt, counted over all sessions
//   exit, signal     how the process ended
//   wall, user, sys  microseconds
//   rss        largest resident set, KiB
//   out        bytes of output
//   fp         the task's fingerprint: 16 hex digits, a dot, its parts in up to 16 hex digits.
//              Older versions wrote a dash for the dot, and hashed folders by absolute path.
//              In an `approve`: the first part only, once per entry of `tasks`
//   with       XXH3 of the arguments and the values of other tasks that the task read
//   values     the task's output values: NAME:XXH3, separated by commas
//   of         the task that the reason is about
//   part       the part of the definition that changed
//   what       a detail for people; in `start` and `resume`: what is out of date; in `ready`:
//              the service's ports, NAME:NUMBER, separated by commas
//   origin     a random number, 16 hex digits, that identifies the result of a success or an
//              allowed failure across runs
//   restored   1: the result came from a cache; the task did not run
//   pids       processes of the attempt that may still run on its worker's host: PID:START,
//              separated by commas
//   left       processes that outlived the attempt's main process (LeftBehind)
//   late       1: the `resume` was decided during the session
//   delay      milliseconds until the next attempt
//   host       the worker's host (older versions left the coordinator's out); in `site` the
//              node's host
//   boot       the boot ID of the worker's host; older versions left it out behind a stream
//   site       the node's number in the session, from 1; 0 is the coordinator's host
//   cores, memory, gpus  a joined node's resources for tasks, memory in bytes
//   incarnation, lease   ID of the node's agent; its heartbeat timeout in milliseconds, after
//              which the agent ends its workers
//   until      milliseconds from this line until the node's time is over
//   from       bytes of the part file that existed before a download and were kept
//   size, gained  bytes of the file; bytes that this attempt added to the part file
//   after      milliseconds that the server asked clients to wait
//   kept       1: nothing was downloaded, the existing file is right; in `fresh`: the result is
//              from an earlier session of this run
//   sha256, sha512  hashes of the file
//   source     XXH3 of the URL in the manifest
//   etag, date, url  the server's names for this version, and the URL after redirects
//   id, verb   a request's unique ID and kind (ControlAction)
//   by, uid    the requester: a command or a task, and the user ID
//   expects    the attempt that the request was meant for
//   tasks, back  a request's selected tasks, and the tasks that wait again with them
//   resource, value  a resource, and its new amount
//   capacity   NAME:AMOUNT: a resource of the session, in the unit of the plan
//   failures   the number of failures after which no task starts; 0 means no limit
//   on         an --on option of the session: nodes that tasks may also run on
//   around     the task of another run that started this run
//   serve      1: the run stays open for new tasks until it is closed
//   name       another name for the run, accepted by --run
//   trace      the TRACEPARENT of the session (W3C Trace Context, version 00)
//   withdrawn  the number of tasks' `resume` lines that directly follow this line
//
// A request (`order`) takes effect with its line: it cancels, skips or retries pending tasks;
// within a session, only a retry takes a task out of a final state. Running tasks end later, on
// lines of their own. So do answered approvals: if the run dies before that line, an `approve`
// holds for the next session if the approval is unchanged.
//
// `stop` is written when a signal begins to end a session, or, with a detail, when no node is left
// for the remaining tasks. Running tasks end later, on lines of their own.
//
// `extend` precedes all lines about the added tasks. `count` is the number of tasks in the plan
// from this line on (a run's `resume` also has it if tasks were added), `value` the number of new
// tasks, `plan` the segment's key. `manifest`, `folder` and `file` give its sources as in `open`.
// `copy` is the manifest's text; without it, the run's folder has the manifest under the `id`. If a
// task added the tasks, TASK and `n` name that task and its attempt.
//
// `withdraw` is written when a generator is tried again in the session in which it added tasks.
// `dropped` names the requests that added them, `n` the attempt before this one, `value` the number
// of tasks. None of them has started. From this line on they have other names, under which they are
// skipped; `resume` lines before it take tasks that had ended out of their final state.
//
// `site` is written when a node joins, before its first worker, and when its use changes
// (NodeState). The tasks of a lost node end after it, on lines of their own.
//
// A task with `inputs` keeps its result by a `fresh` line: it is checked when its turn comes, and
// so are its dependents that a resume would keep. If one of them runs again, its `resume` line is
// written then, and is `late`.
//
// A session begins with `open` or a run's `resume`. The tasks' `resume` lines, which alone take a
// task out of a final state, follow directly, except late ones. From `d` and `withdrawn` a reader
// of a damaged journal sees that such a line may be lost: it then discards all results from before
// that session (RunModel).
//
// Line 1 is `open` with SEQ 1. Its key `format` is the version; a reader refuses an unknown one.
// New keys and events do not need a new version; a new meaning of existing ones does.

package enum JournalEvent: Equatable, Sendable {
  case open
  case resume
  case close
  case worker
  case request
  case stop
  case node
  case extend
  case retract
  case transition(TransitionKind)
  case unknown

  var changesPlan: Bool { self == .extend || self == .retract }

  /// Only TASK shows whether a `resume` line is about the run or a task.
  @inline(__always)
  init(word: UnsafeRawBufferPointer, ofRun: Bool) {
    switch word {
    case "resume": self = ofRun ? .resume : .transition(.resume)
    case "open": self = .open
    case "close": self = .close
    case "worker": self = .worker
    case "order": self = .request
    case "stop": self = .stop
    case "site": self = .node
    case "extend": self = .extend
    case "withdraw": self = .retract
    default:
      let kind = TransitionKind.allCases.first { word.equals($0.word) }
      self = kind.map { .transition($0) } ?? .unknown
    }
  }
}

extension Fingerprint.Part {
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

/// Recovery handles other damage.
package enum JournalError: Error, Equatable, Sendable {
  /// The run died before it began.
  case empty
  /// The first line is damaged, or the file is not a journal.
  case firstLine
  case version(found: String)

  package var message: String {
    switch self {
    case .empty: "the journal is missing or empty, so this run never began"
    case .firstLine: "line 1 is damaged or not from a journal; it must be an intact `open` line"
    case .version(let found):
      "the journal has format \(found), but this opflow reads format"
        + " \(OpenEntry.currentFormat)"
    }
  }
}
