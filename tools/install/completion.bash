# bash completion for warpfold: commands, the options that a command says it has, names of configurations, files.
_warpfold() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} program=${COMP_WORDS[0]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null | sed -n '/^Commands$/,/^$/ s/^  \([a-z-]*\) .*/\1/p') --help --version" -- "$word")
    return
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
    return
  fi
  local kind=scenarios
  case $before:$command in
    --gpu:* | --base:* | *:gpu) kind=gpus ;;
    --*) kind= ;;
    *:study) kind=studies ;;
    *:layer) kind=models ;;
    *:import | *:import-trace | *:profile | *:report | *:validate) kind= ;;
  esac
  if [[ -n $kind ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" list "$kind" --format csv 2>/dev/null | sed '1d; s/^[^,]*,\([^,]*\),.*/\1/')" -- "$word")
  fi
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _warpfold warpfold
