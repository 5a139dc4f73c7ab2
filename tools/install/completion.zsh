#compdef warpfold
# zsh completion for warpfold: that of bash.
autoload -U +X bashcompinit && bashcompinit
source "${0:A:h}/../../bash-completion/completions/warpfold"
_bash_complete -o filenames -F _warpfold
