/// The style of a page, on screen and paper.
///
/// Okabe and Ito's colours, for colour-blind readers: failures also differ in brightness. Each
/// colour comes with a word or a sign.
enum PageStyle {
  static let text = """
    :root {
      color-scheme: light dark;
      --paper: #fff; --ink: #1b1f24; --dim: #59636e; --line: #d6dbe1; --shade: #f4f6f8;
      --link: #0b5cad; --good: #79c2ad; --well: #1f7a61; --bad: #b93a00; --odd: #dda000; --live: #2f78ad; --rest: #a9b1ba;
      --wait: #8a94a0; --path: #1b1f24; --edge: #0000002e;
      font: 15px/1.5 system-ui, sans-serif;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #14171b; --ink: #e4e8ec; --dim: #9aa4af; --line: #333a42; --shade: #1d2127;
        --link: #7ab7ee; --good: #2b6f5d; --well: #4cc3a2; --bad: #f07a35; --odd: #e8b43a; --live: #56a9e0; --rest: #59636e;
        --wait: #7d8793; --path: #fff; --edge: #ffffff38;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0 auto; padding: 24px 32px 64px; max-width: 1280px; color: var(--ink); background: var(--paper); }
    h1 { font-size: 28px; line-height: 1.2; margin: 0 0 8px; overflow-wrap: anywhere; }
    h2 { font-size: 18px; margin: 40px 0 12px; padding-bottom: 4px; border-bottom: 1px solid var(--line); }
    h3 { font-size: 15px; margin: 20px 0 2px; overflow-wrap: anywhere; }
    p { margin: 4px 0; max-width: 80ch; overflow-wrap: anywhere; }
    code, pre, .mono { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
    code { overflow-wrap: anywhere; }
    a, .link { color: var(--link); }
    .kind { color: var(--dim); margin: 0 0 4px; }
    .state { white-space: nowrap; }
    .state.failed { color: var(--bad); }
    .state.succeeded { color: var(--well); }
    .state.running { color: var(--live); }
    .state.cancelled, .state.interrupted { color: var(--odd); }
    .facts { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 16px 0; }
    .facts dt { color: var(--dim); font-size: 13px; }
    .facts dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
    .counts { display: flex; flex-wrap: wrap; gap: 4px 24px; list-style: none; margin: 0 0 8px; padding: 0; }
    .counts b { font-variant-numeric: tabular-nums; }
    .counts i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; }
    .shares { display: block; width: 100%; height: 8px; }
    .good { background: var(--good); fill: var(--good); }
    .bad { background: var(--bad); fill: var(--bad); }
    .odd { background: var(--odd); fill: var(--odd); }
    .live { background: var(--live); fill: var(--live); }
    .rest { background: var(--rest); fill: var(--rest); }
    article p { color: var(--dim); }
    article h3 code { font-weight: 700; font-size: 14px; margin-right: 6px; }
    details { margin: 6px 0 0; }
    summary { cursor: pointer; color: var(--dim); }
    pre {
      margin: 6px 0 0; padding: 10px 12px; max-height: 480px; overflow: auto; background: var(--shade);
      white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
    }
    table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
    th { text-align: left; font-weight: 600; color: var(--dim); font-size: 13px; vertical-align: bottom; }
    th, td { padding: 4px 16px 4px 0; border-bottom: 1px solid var(--line); }
    td { vertical-align: top; }
    .n { text-align: right; white-space: nowrap; }
    .brief td:last-child { width: 40%; }
    .brief code { overflow-wrap: break-word; }
    .bar { display: block; width: 100%; height: 10px; margin-top: 6px; }
    .scroll { overflow-x: auto; }
    .scroll, .plane {
      background:
        linear-gradient(to right, var(--paper) 40%, transparent) left / 32px 100% no-repeat local,
        linear-gradient(to left, var(--paper) 40%, transparent) right / 32px 100% no-repeat local,
        linear-gradient(to right, var(--edge), transparent) left / 14px 100% no-repeat scroll,
        linear-gradient(to left, var(--edge), transparent) right / 14px 100% no-repeat scroll;
    }
    .paper { display: none; }
    button, input, select {
      font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line);
      border-radius: 4px; padding: 3px 10px;
    }
    button { cursor: pointer; }
    button:disabled { color: var(--dim); cursor: default; }
    button.link { border: 0; padding: 0; background: none; text-align: left; }
    #table .link { display: block; width: max-content; max-width: min(44ch, 36vw); overflow-wrap: anywhere; }
    th button { border: 0; padding: 0; background: none; font: inherit; }
    :focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
    #graph:focus, #detail:focus { outline: none; }
    .tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 0 0 10px; }
    .tools .grow { flex: 1 1 240px; }
    .tools output { color: var(--dim); }
    nav { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 16px 0 0; }
    .wide { position: relative; }
    .wide canvas { display: block; width: 100%; touch-action: pan-y; }
    .tall { max-height: 440px; overflow-y: auto; margin: 0 0 6px; border-bottom: 1px solid var(--line); }
    #under { min-height: 1.5em; max-width: none; }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 20px; list-style: none; margin: 8px 0 0; padding: 0; font-size: 13px; }
    .legend i { display: inline-block; width: 18px; height: 10px; margin-right: 6px; vertical-align: -1px; }
    .striped { background-image: repeating-linear-gradient(135deg, transparent 0 4px, var(--paper) 4px 6px); }
    .framed { border: 2px solid var(--ink); }
    .measured { border-top: 2px solid var(--ink); vertical-align: -6px !important; }
    .wait { background: var(--wait); }
    noscript p { margin-top: 24px; color: var(--dim); }
    .hint { color: var(--dim); font-size: 13px; max-width: none; }
    .plane { overflow: auto; max-height: 640px; padding: 2px; }
    #plane { position: relative; }
    .lines { position: absolute; left: 0; top: 0; }
    .lines path { fill: none; stroke: var(--rest); stroke-width: 1.2; }
    .lines .path { stroke: var(--ink); stroke-width: 2.4; }
    .lines .back { stroke-dasharray: 4 3; }
    .node {
      position: absolute; display: flex; flex-direction: column; justify-content: center; padding: 2px 8px; overflow: hidden;
      text-align: left; font-size: 12px; line-height: 1.35; white-space: nowrap;
    }
    .node > span { overflow: hidden; text-overflow: ellipsis; max-width: 100%; align-self: stretch; }
    .node .shares { position: absolute; left: 0; right: 0; bottom: 0; height: 4px; }
    .node.path { border: 2px solid var(--ink); }
    .node.group { background: var(--shade); padding-bottom: 6px; }
    .sign { display: inline-block; width: 1.3em; font-style: normal; }
    .sign.good, .sign.bad, .sign.odd, .sign.live, .sign.rest { background: none; }
    .sign.good { color: var(--well); }
    .sign.bad { color: var(--bad); }
    .sign.odd { color: var(--odd); }
    .sign.live { color: var(--live); }
    .sign.rest { color: var(--dim); }
    .word { white-space: nowrap; }
    .why { color: var(--dim); min-width: 16ch; }
    #detail {
      position: fixed; right: 24px; bottom: 24px; width: min(560px, calc(100vw - 48px)); max-height: 60vh;
      overflow: auto; padding: 12px 16px; background: var(--paper); border: 1px solid var(--dim);
      border-radius: 6px; box-shadow: 0 4px 24px #0004;
    }
    #detail h2 { margin: 0 32px 4px 0; padding: 0; border: 0; font-size: 15px; overflow-wrap: anywhere; }
    #detail .close { position: absolute; top: 8px; right: 8px; }
    #detail h3 { margin: 12px 0 2px; font-size: 13px; color: var(--dim); }
    #detail ul { margin: 0; padding: 0; list-style: none; }
    [hidden] { display: none !important; }
    #detail pre { max-height: 120px; }
    @media (max-width: 640px) {
      body { padding: 16px 16px 48px; }
      .brief td:last-child { width: auto; }
      .bar { min-width: 48px; }
    }
    @page { margin: 14mm; }
    @media print {
      :root {
        --paper: #fff; --ink: #000; --dim: #444; --line: #bbb; --shade: #fff; --link: #000;
        color-scheme: light; font-size: 11px;
      }
      body { padding: 0; max-width: none; }
      * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
      nav, .tools, .hint, #under, #detail { display: none !important; }
      .plane, .tall, .scroll { max-height: none; overflow: visible; background: none; }
      .paper { display: block; }
      .whole { break-inside: avoid; }
      .wide canvas { height: auto !important; max-height: 50mm; }
      .tall canvas { max-height: 100mm; }
      #table { font-size: 9px; }
      #table td, #table th { padding-right: 8px; }
      .why { min-width: 0; }
      #table .link { width: auto; max-width: none; }
      #table .link, .why { overflow-wrap: anywhere; white-space: normal; }
      pre { max-height: none; border-left: 2px solid var(--line); }
      code, pre, .mono, dt, th, .legend { font-size: 10px !important; }
      article h3, article h3 code { font-size: 13px !important; }
      h2, h3 { break-after: avoid; }
      tr, article p, .wide, .legend { break-inside: avoid; }
      thead { display: table-header-group; }
      /* A head with buttons in it is not repeated on further sheets. */
      th button { display: contents; }
    }

    """
}
