package enum CompletionScript {
  package static func text(_ shell: CompletionShell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  // Uses the line, since words are split at `:` and `=`. Other completions share COMP_WORDBREAKS.
  private static let bash = #"""
    # Completion of opflow for bash: eval "$(opflow completion bash)"
    _opflow() {
      local program=opflow answer
      [[ $1 == */* ]] && program=${1/#\~\//$HOME/}
      COMPREPLY=()
      answer=$("$program" __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null) || return 0
      [[ $answer == *$'\n'* ]] || return 0
      [[ $answer == open* ]] && compopt -o nospace 2>/dev/null
      local IFS=$'\n' glob=$-
      set -f
      COMPREPLY=(${answer#*$'\n'})
      [[ $glob == *f* ]] || set +f
    }
    complete -o nosort -F _opflow opflow 2>/dev/null || complete -F _opflow opflow

    """#

  private static let zsh = #"""
    #compdef opflow
    # Completion of opflow for zsh: eval "$(opflow completion zsh)", or a file _opflow in a folder of fpath.
    _opflow() {
      local program=opflow line
      local -a answer given shown space
      [[ $words[1] == */* ]] && program=${(Q)words[1]/#\~\//$HOME/}
      answer=("${(@f)$($program __complete zsh "${(Q)PREFIX}" "${(@Q)words[2,CURRENT-1]}" 2>/dev/null)}")
      (( $#answer > 1 )) || return 1
      [[ $answer[1] == open ]] && space=(-S '')
      for line in "${(@)answer[2,-1]}"; do
        given+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
      done
      compadd -V opflow "$space[@]" -l -d shown -a given
    }
    if [[ $funcstack[1] == _opflow ]]; then
      _opflow "$@"
    else
      compdef _opflow opflow
    fi

    """#

  private static let fish = #"""
    # Completion of opflow for fish: opflow completion fish | source
    function __opflow_complete
        set -l words (commandline -opc)
        set -l program opflow
        string match -q '*/*' -- $words[1]; and set program (string replace -r '^~/' $HOME/ -- $words[1])
        set -l current (commandline -ct)
        set -l answer ($program __complete fish "$current" $words[2..-1] 2>/dev/null)
        test (count $answer) -gt 1; and printf '%s\n' $answer[2..-1]
    end
    complete -c opflow -f -k -a '(__opflow_complete)'

    """#
}
