# Runs the checks of .ci/run and .ci/full, which define CHECKS and source this file.
#
# A line of CHECKS is `NAME SCRIPT.sh [ARGUMENTS]`: a script of this folder, which can also be run by itself. Checks run one after
# another; a line that starts with `&` runs at the same time as the line above it. Exit code 0 means passed, 77 skipped, anything else failed.
# A check runs once: nothing is repeated until it passes.
#
# PUNTAS_CI_OUT   folder of logs and results; by default a temporary one, or with RESUMES=yes one in .git for this state of the tree
# CI=true         a skip is a failure, unless ../shared is missing
# BUDGET          seconds for all checks (default: no limit); LONGEST  seconds for one check
# RESUMES=yes     a check that has passed or failed on this state of the tree is not run again; one that has not run on it is in the table
#                 with its newest result on an older state, and the commit of that
# PAGE            file that --page writes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

LONGEST=${LONGEST:-1800}
# Without this the other checks cannot run; each names the folder that it makes.
declare -A MAKES=([install]=node_modules [types]=dist)
WRONG='^still running|^ *(FLAW|FAIL|NOT FOUND|VIOLATION|×|Error|AssertionError|TypeError|error)|not ok|: error '
usage="usage: $0 [--list] [--only NAME]... [--again NAME]...${PAGE:+ [--page]}"

declare -A command=() beside=() only=() again=()
names=()
for line in "${CHECKS[@]}"; do
  [[ $line =~ ^(\&?)\ *([a-z0-9-]+)\ +([A-Za-z]+\.sh.*)$ ]] || { echo "expected [&] NAME SCRIPT.sh [ARGUMENTS], found: $line"; exit 2; }
  names+=("${BASH_REMATCH[2]}")
  command[${BASH_REMATCH[2]}]=${BASH_REMATCH[3]}
  [[ -z ${BASH_REMATCH[1]} ]] || beside[${BASH_REMATCH[2]}]=yes
done

writes_page=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --list) printf '%s\n' "${names[@]}"; exit 0 ;;
    --only | --again)
      [[ -n ${2:-} && -n ${command[$2]:-} ]] || { echo "$1: expected a name of $0 --list, found ${2:-nothing}"; exit 2; }
      if [[ $1 == --only ]]; then only[$2]=yes; else again[$2]=yes; fi
      shift ;;
    --page) [[ -n ${PAGE:-} ]] || { echo "$usage"; exit 2; }; writes_page=yes ;;
    *) echo "$1: unknown option; $usage"; exit 2 ;;
  esac
  shift
done

commit=$(git rev-parse --short HEAD)
node=$(node --version)
# Identifies the content of the tree, changes that are not committed included, without the page that a run writes.
tree_id() {
  local index
  index=$(mktemp)
  cp "$(git rev-parse --git-path index)" "$index"
  GIT_INDEX_FILE=$index git add --all
  [[ -z ${PAGE:-} ]] || GIT_INDEX_FILE=$index git rm -q --cached --ignore-unmatch -- "$PAGE"
  GIT_INDEX_FILE=$index git write-tree
  rm -f "$index"
}
if [[ ${RESUMES:-} == yes ]]; then out=${PUNTAS_CI_OUT:-$(git rev-parse --path-format=absolute --git-path ci)}/$(tree_id); else out=${PUNTAS_CI_OUT:-$(mktemp -d)}; fi
mkdir -p "$out"

# Tests passed, failed and skipped by the JSON reports that a check left in its folder.
tests_in() {
  [[ -n $(find "$1" -maxdepth 1 -name 'tests*.json') ]] || { echo 0 0 0; return; }
  node -p "
    const fs = require('fs');
    const reports = fs.readdirSync('$1').filter(name => /^tests.*\.json$/.test(name)).map(name => JSON.parse(fs.readFileSync('$1/' + name, 'utf8')));
    ['numPassedTests', 'numFailedTests', 'numPendingTests'].map(key => reports.reduce((sum, report) => sum + report[key], 0)).join(' ');
  "
}
# Processes of a check: its process group (FOLDER/group), and what has left the group but carries the check's name in its environment.
# The group alone misses what made a group of its own; the environment alone misses what is just starting a program, when it reads as empty.
processes_of() {
  local group
  group=$(cat "$1/group" 2> /dev/null || true)
  {
    [[ -z $group ]] || sed -sn "s/^\([0-9]*\) (.*) [^ZX] [0-9]* $group .*/\1/p" /proc/[0-9]*/stat 2> /dev/null
    grep -lszxF "CI_CHECK=$1/log" /proc/[0-9]*/environ | cut -d/ -f3
  } | sort -un || true
}
# Kills the processes that a check left running, and what they start meanwhile.
end_all() {
  local pid pids
  for _ in {1..20}; do
    pids=$(processes_of "$1")
    [[ -n $pids ]] || return 0
    for pid in $pids; do
      echo "left running, now killed: $(tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | cut -c1-100 || true)"
      kill -KILL "$pid" 2> /dev/null || true
    done
    sleep 0.1
  done
}
# Runs one check: its output goes to $out/NAME/log, its result to a line of $out/NAME/runs.
run_check() (
  folder=$out/$1 log=$out/$1/log limit=$LONGEST began=$SECONDS code=0 result=failed
  [[ -z ${BUDGET:-} || $((BUDGET - SECONDS)) -ge $limit ]] || limit=$((BUDGET > SECONDS ? BUDGET - SECONDS : 1))
  mkdir -p "$folder"
  find "$folder" -mindepth 1 ! -name runs -delete
  TIMEFORMAT='%U %S'
  # shellcheck disable=SC2086 # a check may have arguments
  { time CI_CHECK=$log PUNTAS_CI_OUT=$folder timeout --kill-after=30 "$limit" bash -c 'echo $PPID > "$0"; exec bash "$@"' "$folder/group" .ci/${command[$1]} > "$log" 2>&1 < /dev/null; } 2> "$folder/times" || code=$?
  if [[ $code == 124 || $code == 137 ]]; then echo "not ok: killed after $limit s" >> "$log"; fi
  end_all "$folder" >> "$log"
  read -r passed failed skipped <<< "$(tests_in "$folder")"
  skipped=$((skipped + $(grep -c '^skipped: ' "$log" || true)))
  case $code in
    0) result=passed ;;
    77) result=skipped; [[ $skipped -gt 0 ]] || skipped=1 ;;
  esac
  if [[ $result != failed && $skipped -gt 0 && ${CI:-} == true && -d ../shared ]]; then
    echo "not ok: $skipped skipped although CI=true and ../shared is there" >> "$log"
    result=failed
  fi
  processor=$(awk '{ printf "%d", $1 + $2 }' "$folder/times")
  echo "$result $((SECONDS - began)) $processor $passed $failed $skipped $commit $node" >> "$folder/runs"
)
running=()
trap 'for name in ${running[@]+"${running[@]}"}; do end_all "$out/$name"; done' EXIT
trap 'exit 143' INT TERM

# Whether the check has a result that stands.
is_done() {
  [[ ${RESUMES:-} == yes && -s $out/$1/runs && -z ${again[$1]:-} ]] || return 1
  if tail -n 1 "$out/$1/runs" | grep -q '^skipped'; then return 1; fi
  [[ -z ${MAKES[$1]:-} || -d ${MAKES[$1]} ]]
}
# What all runs of the check on this state of the tree have shown: one failure is not undone by a later pass.
verdict_of() {
  [[ -s $out/$1/runs ]] || { echo 'not run'; return; }
  if grep -q '^failed' "$out/$1/runs"; then echo failed; else tail -n 1 "$out/$1/runs" | cut -d' ' -f1; fi
}
report() {
  local result seconds processor
  echo "=== $1: .ci/${command[$1]}"
  cat "$out/$1/log"
  read -r result seconds processor _ < <(tail -n 1 "$out/$1/runs")
  echo "--- $result: $1 ($seconds s, $processor s of processor time)"
}

wanted=()
for name in "${names[@]}"; do
  if [[ ${#only[@]} == 0 || -n ${only[$name]:-} || -n ${MAKES[$name]:-} ]]; then wanted+=("$name"); fi
done
at=0
while [[ $at -lt ${#wanted[@]} ]]; do
  group=("${wanted[at]}")
  while at=$((at + 1)); [[ $at -lt ${#wanted[@]} && -n ${beside[${wanted[at]}]:-} ]]; do group+=("${wanted[at]}"); done
  running=()
  for name in "${group[@]}"; do
    if is_done "$name"; then
      echo "... $name has run on this state of the tree: $(verdict_of "$name")"
    else
      echo "... $SECONDS s: $name begins"
      run_check "$name" &
      running+=("$name")
    fi
  done
  wait
  stops=''
  for name in ${running[@]+"${running[@]}"}; do report "$name"; done
  running=()
  for name in "${group[@]}"; do
    if [[ -n ${MAKES[$name]:-} && $(verdict_of "$name") == failed && ! -d ${MAKES[$name]} ]]; then stops=yes; fi
  done
  [[ -z $stops ]] || { echo "--- nothing else can run"; break; }
done

# The folder of the newest result of the check on an older state of the tree; nothing where there is none.
older_result() {
  [[ ${RESUMES:-} == yes ]] || return 0
  find "$(dirname "$out")" -mindepth 3 -maxdepth 3 -path "*/$1/runs" -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2-
}
# The first line of a log that looks wrong, or its last line, as a cell of a table.
why_failed() {
  local log=$1/log
  { sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -aE "$WRONG" || tail -n 1 "$log"; } | head -n 1 | sed "s#$PWD/##g" | cut -c1-160 | sed 's/|/\\|/g'
}
table() {
  local name verdict folder result seconds processor passed failed skipped at_commit
  echo "Commit $commit$([[ -z $(git status --porcelain -- . ${PAGE:+":!$PAGE"}) ]] || echo ' with changes that are not committed'), $(date -u +%Y-%m-%d)."
  echo "Machine: $(nproc) x $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(awk '/^MemTotal/ { printf "%d", $2 / 1048576 }' /proc/meminfo) GB, Node $node."
  echo
  echo '| check | result | seconds | processor seconds | tests passed | skipped | what failed |'
  echo '| --- | --- | ---: | ---: | ---: | ---: | --- |'
  for name in "$@"; do
    verdict=$(verdict_of "$name") folder=$out/$name
    if [[ $verdict == 'not run' ]]; then
      folder=$(older_result "$name")
      if [[ -z $folder ]]; then echo "| $name | not run | | | | | |"; continue; fi
    fi
    read -r result seconds processor passed failed skipped at_commit _ < <(tail -n 1 "$folder/runs")
    if [[ $verdict == 'not run' ]]; then
      ! grep -q '^failed' "$folder/runs" || result=failed
      verdict="$result at $at_commit"
    elif [[ $(wc -l < "$folder/runs") != 1 ]]; then
      verdict="$verdict; runs: $(cut -d' ' -f1 "$folder/runs" | paste -sd' ')"
    fi
    echo "| $name | $verdict | $seconds | $processor | $passed | $skipped | $([[ $result != failed ]] || why_failed "$folder") |"
  done
}
echo "=== $SECONDS s"
if [[ ${RESUMES:-} == yes ]]; then table "${names[@]}"; else table "${wanted[@]}"; fi | tee "$out/table.md"
if [[ -n $writes_page ]]; then
  mkdir -p "$(dirname "$PAGE")"
  { echo '# The last run of `.ci/full`'; echo; echo '<!-- Written by `.ci/full --page`: do not edit. -->'; echo; cat "$out/table.md"; } > "$PAGE"
fi

passed=0 failed=0 skipped=0
for name in "${wanted[@]}"; do
  case $(verdict_of "$name") in
    passed) passed=$((passed + 1)) ;;
    skipped) ;;
    *) failed=$((failed + 1))
      echo "=== FAILED: $name; the lines of its log that look wrong, and its last ones ($out/$name/log):"
      if [[ -f $out/$name/log ]]; then
        sed 's/\x1b\[[0-9;]*m//g; s/·//g' "$out/$name/log" | grep -aE "$WRONG" | head -n 30 || true
        echo '...'
        tail -n 30 "$out/$name/log"
      fi ;;
  esac
  [[ -s $out/$name/runs ]] || continue
  read -r _ _ _ more_passed more_failed more_skipped _ < <(tail -n 1 "$out/$name/runs")
  passed=$((passed + more_passed)) failed=$((failed + more_failed)) skipped=$((skipped + more_skipped))
done
echo "$passed passed, $failed failed$([[ $skipped == 0 ]] || echo ", $skipped skipped")"
[[ $failed -eq 0 ]]
