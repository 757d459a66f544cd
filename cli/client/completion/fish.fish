# fish completion for labshelf
#
# fish takes the quotes off the words: nothing of the line, and no name that a service knows, is ever evaluated here.

function __labshelf_complete
    set -l words (commandline -opc)
    set -l raw (commandline -ct)
    set -l typed ''
    for quote in '' "'" '"' # the one that is open
        set typed (string unescape -- "$raw$quote"); and break
    end
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    type -q -- $program; or set program labshelf
    set -l lines ($program __complete $words[2..-1] "$typed" 2>/dev/null </dev/null)
    set -q lines[1]; or return
    set -l directive (string sub -s 2 -- $lines[-1])
    set -l flag (string match -r -- '^-[^=]*=' "$typed")
    set -e lines[-1]
    if set -q lines[1]
        printf '%s\n' "$flag"$lines
    else if test (math "floor($directive / 16) % 2") -eq 1
        __fish_complete_directories "$typed" ''
    else if test (math "floor($directive / 4) % 2") -eq 0
        __fish_complete_path "$typed"
    end
end

complete -c labshelf -e
complete -c labshelf -f -a '(__labshelf_complete)'
