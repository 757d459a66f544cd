# bash completion for labshelf
#
# The program reads the line itself and answers with text that is quoted for it: nothing of the line, and no name that a service
# knows, is ever evaluated here.

_labshelf()
{
    local program=$1 how word
    case $program in "~/"*) program=$HOME/${program#"~/"} ;; esac
    type -P -- "$program" >/dev/null || program=labshelf # it was called by an alias
    COMPREPLY=()
    {
        IFS= read -r how
        while IFS= read -r word; do COMPREPLY+=("$word"); done
    } < <("$program" __bash -- "${COMP_LINE:0:$COMP_POINT}" "$2" "${COMP_TYPE:-9}" "${COLUMNS:-80}" 2>/dev/null </dev/null)
    type compopt >/dev/null 2>&1 || return 0 # bash 3
    case $how in
        nospace) compopt -o nospace ;;
        nofiles) compopt +o default ;;
        folders) compopt +o default -o dirnames ;;
    esac
}

complete -o default -F _labshelf labshelf
