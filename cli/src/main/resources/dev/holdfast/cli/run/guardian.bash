# The guardian of "holdfast run": starts the command in the session that it leads itself, and ends
# that session when the pipe from holdfast closes, at its order, or before the lock ends.
# docs/adr/0016-a-guardian-below-run.md says why. Needs bash 4 or later.
#
#   bash -p guardian FOLDER GRACE LEAD MARGIN COMMAND [ARG...]
#
# FOLDER has three named pipes: control, report, and one for pauses. All times are milliseconds.
#   GRACE   from SIGTERM to SIGKILL
#   LEAD    the same, before the end of the lock
#   MARGIN  from SIGKILL to the end of the lock
# control, read here:
#   start LEFT STAMP  starts the command. The lock was valid for LEFT when the clock showed STAMP.
#   valid LEFT STAMP  the lock was renewed
#   signal NAME       sends a signal to the whole session
#   end GRACE         ends the session, at the latest before the lock ends
#   lost GRACE        ends the session. There is no lock any more whose end would have to be met.
#   rest GRACE        the command has ended: waits for what it started, then ends that
#   done              leaves what the command has started; instead of start, starts nothing
# report, written here:
#   ready             the pipes are open
#   unfit VERSION     this bash is too old
#   started PID GROUP
#   ended CODE
#   expiring          the session is being ended, because the lock was not renewed
#   over              the session has ended
#
# Until the command runs, variables are set in subshells only: the environment is the command's, and
# setting a variable of the same name would change it. From then on nothing is forked, because the
# command may have taken all processes that there can be, and nothing is printed before the end,
# because nothing may read it.

# A pipe whose other end is open opens without waiting, also if holdfast has been killed by now.
exec 6<> "$1/control" 3< "$1/control" 6<&-
exec 6<> "$1/report" 4> "$1/report" 6>&-
exec 5<> "$1/pause"

report() { printf '%s\n' "$*" 2> /dev/null >&4; }
say() { printf 'holdfast: %s\n' "$*" >&2; }

if (( BASH_VERSINFO[0] < 4 )); then
  report "unfit $BASH_VERSION"
  exit 1
fi

# Handled, not ignored: a signal ignored here would be ignored by the command, too. A group of its
# own for each job, because one that a shell starts in its own group ignores SIGINT.
trap : HUP INT QUIT TERM PIPE
set -m

# Sets now. The clock of /proc/uptime goes on while the machine sleeps, and is holdfast's as well.
clock() {
  local seconds
  if read -r seconds _ 2> /dev/null < /proc/uptime; then
    now=$(( 10#${seconds/./} * 10 ))
  else
    now=$(( SECONDS * 1000 ))
  fi
}

# Sets until, from LEFT and STAMP.
validity() {
  if [[ $2 == - ]]; then until=$(( now + $1 )); else until=$(( $2 + $1 )); fi
}

# Prints when the lock ends, once the command may start. Takes LEAD and MARGIN.
start_line() {
  local word left stamp
  IFS=' ' read -r word left stamp <&3
  [[ $word == start ]] || exit
  clock
  validity "$left" "$stamp"
  (( now >= until - $1 - $2 )) || printf '%s' "$until"
}

# Runs the command, and outlives all signals that its group may get.
wait_for() {
  trap : HUP INT QUIT USR1 USR2 ALRM TERM PIPE
  (
    report "started $BASHPID $1"
    shift
    exec -- "$@" 2>&6 4>&- 6>&-
  )
  report "ended $?"
}

report ready
set -- "$(start_line "$3" "$4")" "${@:2}"
[[ $1 ]] || exit 1
# Nothing but its end goes by the waiter's stderr: bash would tell there which signal ended it.
{ wait_for "$BASHPID" "${@:5}"; } 3<&- 5<&- 6>&2 2> /dev/null &

waiter=$! until=$1 grace=$2 lead=$3 margin=$4
kill_at= gone= final= warned= rest= note= line=
LC_ALL=C
{ IFS= read -r -d '' own < /proc/self/stat; } 2> /dev/null
own=(${own##*) })
leads_session=
[[ ${own[3]:-} != "$$" ]] || leads_session=yes

# Sets found: those of the given processes that run in this session, without the guardian and the
# waiter. A zombie has ended.
running() {
  found=()
  local pid stat
  for pid; do
    stat=
    { IFS= read -r -d '' stat < "/proc/$pid/stat"; } 2> /dev/null
    # "pid (name) state parent group session ...", and the name may hold anything.
    stat=(${stat##*) })
    [[ ${stat[3]:-} == "$$" && $pid != "$$" && $pid != "$waiter" ]] || continue
    # Where the first thread has ended and others go on, the state is Z too.
    [[ ${stat[0]} == Z ]] && (( stat[17] <= 1 )) && continue
    found+=("$pid")
  done
}

# Sets found: all that runs in this session. Without a session of our own, the command's group.
find_all() {
  found=()
  if [[ $leads_session ]]; then
    local all
    all=(/proc/[0-9]*)
    running "${all[@]#/proc/}"
  elif kill -0 -- "-$waiter" 2> /dev/null; then
    found=("-$waiter")
  fi
}

send() {
  (( ! ${#found[@]} )) || kill -s "$1" -- "${found[@]}" 2> /dev/null
}

# Begins the end, unless it has begun: SIGTERM now, SIGKILL after so many ms.
begin_end() {
  [[ ! $kill_at ]] || return
  kill_at=$(( now + $1 ))
  find_all
  send TERM
  # A stopped process ends when it goes on.
  send CONT
}

# Kills all processes found, until none is left. A process that forks meanwhile is found next time.
kill_all() {
  local limit=$(( now + 5000 ))
  [[ ! $rest ]] ||
    note="the command had ended, but what it started had not (process ${found[*]#-}); killed it"
  while (( ${#found[@]} )); do
    if (( now >= limit )); then
      say "cannot be killed: process ${found[*]#-}"
      exit 1
    fi
    send KILL
    pause 10
    find_all
  done
  finish
}

finish() {
  report over
  [[ ! $note ]] || say "$note"
  exit 0
}

obey() {
  case $1 in
    valid) [[ $final ]] || validity "$2" "$3" ;;
    signal)
      find_all
      send "$2"
      [[ $2 != TERM ]] || warned=yes
      ;;
    end) begin_end "$2" ;;
    lost)
      if [[ ! $kill_at ]]; then
        begin_end "$2"
        until=$(( kill_at + margin ))
        final=yes
      fi
      ;;
    rest)
      if [[ ! $kill_at ]]; then
        kill_at=$(( now + $2 ))
        rest=yes
        find_all
      fi
      ;;
    done) [[ $kill_at ]] || exit 0 ;;
  esac
}

# Holdfast is no more, and has not said that all is done. After a SIGTERM passed on, the command has
# had its grace: a sender of that and then SIGKILL wants holdfast to end now.
abandoned() {
  gone=yes rest=
  if [[ ! $kill_at ]]; then
    begin_end "$grace"
    (( ! ${#found[@]} )) || note='holdfast ended while the command ran; the command was ended'
  fi
  [[ ! $warned ]] || kill_at=$now
}

# Sets seconds, from milliseconds.
in_seconds() { printf -v seconds '%d.%03d' $(( $1 / 1000 )) $(( $1 % 1000 )); }

pause() {
  in_seconds "$1"
  read -r -t "$seconds" <&5
  clock
}

# Waits for the next line from holdfast, so many ms at most. The time can be over within a line.
listen() {
  local part
  in_seconds "$1"
  if IFS= read -r -t "$seconds" part <&3; then
    clock
    obey $line$part
    line=
  elif (( $? > 128 )); then
    line+=$part
  else
    clock
    abandoned
  fi
}

while :; do
  clock
  ask=1000
  if [[ $kill_at ]]; then
    running "${found[@]}"
    (( ${#found[@]} )) || find_all
    (( ${#found[@]} )) || finish
    (( now < kill_at && now < until - margin )) || kill_all
    ask=20
  elif (( now >= until - margin - lead )); then
    report expiring
    begin_end "$lead"
    continue
  elif (( until - margin - lead - now < ask )); then
    ask=$(( until - margin - lead - now ))
  fi
  if [[ $gone ]]; then pause "$ask"; else listen "$ask"; fi
  if [[ ! $kill_at ]] && ! kill -0 "$waiter" 2> /dev/null && ! wait "$waiter"; then
    # It was killed, so nothing tells any more how the command ends.
    report "ended 137"
    begin_end "$grace"
  fi
done
