#compdef labshelf
# zsh completion for labshelf
#
# Quotes are taken off the words, and nothing else: nothing of the line, and no name that a service knows, is ever evaluated here.

_labshelf()
{
    local program=${(Q)words[1]} typed=$QIPREFIX$PREFIX$QIPREFIX tab=$'\t' line name
    local -a before lines offered space
    local -i directive
    typed=${(Q)typed} # of which the quote that is open had to be closed
    [[ $program == "~/"* ]] && program=$HOME/${program#"~/"}
    whence -p -- $program >/dev/null || program=labshelf
    before=("${(@Q)words[2,CURRENT-1]}")
    ((CURRENT > 2)) || before=()
    lines=("${(@f)$($program __complete "${before[@]}" "$typed" 2>/dev/null </dev/null)}")
    [[ $lines[-1] == :<-> ]] || return 1
    directive=${lines[-1]#:}
    lines[-1]=()
    [[ $typed == -*=* ]] && compset -P 1 '*='
    for line in $lines; do
        name=${line%%$tab*}
        name=${${name//\\/\\\\}//:/\\:}
        [[ $line == *$tab* ]] && name+=:${line#*$tab}
        offered+=$name
    done
    if (($#offered)); then
        ((directive & 2)) && space=(-S '')
        _describe labshelf offered "${space[@]}"
    elif ((directive & 16)); then
        _files -/
    elif ((!(directive & 4))); then
        _files
    else
        return 1
    fi
}

# zsh reads a file of this name for the function, and anybody else to have it defined.
if [[ $funcstack[1] == _labshelf ]]; then
    _labshelf "$@"
else
    compdef _labshelf labshelf
fi
