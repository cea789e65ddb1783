# The guardian of "holdfast run": starts the command in the session that it leads itself, and ends
# that session when the pipe from holdfast closes, when told, or before the lock ends.
# docs/adr/0016-a-guardian-below-run.md says why. Needs bash 4 or later.
#
#   bash guardian FOLDER GRACE LEAD MARGIN COMMAND [ARG...]
#
# FOLDER has two named pipes. All times are milliseconds.
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
#   done              the command has ended: leaves what it started
# report, written here:
#   ready             the pipes are open
#   unfit VERSION     this bash is too old
#   started PID GROUP
#   ended CODE
#   expiring          the session is being ended, because the lock was not renewed
#   over              the session has ended
folder=$1 grace=$2 lead=$3 margin=$4
shift 4

# A pipe whose other end is open opens without waiting, also if holdfast has been killed by now.
exec 6<> "$folder/control" 3< "$folder/control" 6<&-
exec 6<> "$folder/report" 4> "$folder/report" 6>&-

finish() {
  report over
  exit 0
}

report() { printf '%s\n' "$*" 2> /dev/null >&4; }
say() { printf 'holdfast: %s\n' "$*" >&2; }

if (( BASH_VERSINFO[0] < 4 )); then
  report "unfit $BASH_VERSION"
  exit 1
fi

# Handled, not ignored: what is ignored here would be ignored by the command, too. A group of its
# own for each job, because one that a shell starts in its own group ignores SIGINT.
trap : HUP INT QUIT TERM PIPE
set -m

IFS= read -r -d '' own < /proc/self/stat
own=(${own##*) })
leads_session=
[[ ${own[3]:-} != "$$" ]] || leads_session=yes

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
  [[ $waiter ]] || return
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

# Runs the command, and outlives all signals that its group may get.
wait_for() {
  trap : HUP INT QUIT USR1 USR2 ALRM TERM PIPE
  (
    report "started $BASHPID $waiter_group"
    exec -- "$@" 2>&5 4>&- 5>&-
  )
  report "ended $?"
}

# Nothing but its end goes by the waiter's stderr: bash would tell there which signal ended it.
start() {
  clock
  (( now < until - margin - lead )) || exit 1
  {
    waiter_group=$BASHPID
    wait_for "$@"
  } 3<&- 5>&2 2> /dev/null &
  waiter=$!
}

# Begins the end, unless it has begun: SIGTERM now, SIGKILL after so many ms.
begin_end() {
  [[ ! $kill_at ]] || return
  kill_at=$(( now + $1 ))
  find_all
  send TERM
  # What is stopped ends when it goes on.
  send CONT
}

# Kills until nothing is left: what forks meanwhile is found the next time.
kill_all() {
  local limit=$(( now + 5000 ))
  find_all
  [[ ! $announce ]] || (( ! ${#found[@]} )) ||
    say "the command has ended, but what it started has not (process $(list)); killing it"
  while (( ${#found[@]} )); do
    send KILL
    sleep 0.01
    clock
    find_all
    if (( now >= limit && ${#found[@]} )); then
      say "process $(list) cannot be killed"
      exit 1
    fi
  done
  finish
}

list() {
  local all
  printf -v all ', %s' "${found[@]#-}"
  printf '%s' "${all:2}"
}

obey() {
  case $1 in
    start)
      validity "$2" "$3"
      start "${command[@]}"
      ;;
    valid) validity "$2" "$3" ;;
    signal)
      find_all
      send "$2"
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
        announce=yes
        find_all
      fi
      ;;
    done) [[ $kill_at ]] || exit 0 ;;
  esac
}

# Holdfast is no more, and has not said that all is done.
abandoned() {
  gone=yes
  [[ $waiter ]] || exit 1
  find_all
  if (( ${#found[@]} )) && [[ ! $kill_at ]]; then
    say "holdfast ended while the command ran; ending the command"
  fi
  announce=
  begin_end "$grace"
}

# Waits for the next line of holdfast's, so many ms at most.
listen() {
  local seconds word first second
  printf -v seconds '%d.%03d' $(( $1 / 1000 )) $(( $1 % 1000 ))
  if [[ $gone ]]; then
    sleep "$seconds"
  elif LC_ALL=C IFS=' ' read -r -t "$seconds" word first second <&3; then
    clock
    [[ ! $final || $word != valid ]] || return
    obey "$word" "$first" "$second"
  elif (( $? <= 128 )); then
    clock
    abandoned
  fi
}

command=("$@")
waiter= kill_at= announce= gone= final=
until=0
found=()
report ready

while :; do
  clock
  if [[ $kill_at ]]; then
    running "${found[@]}"
    (( ${#found[@]} )) || find_all
    (( ${#found[@]} )) || finish
    (( now < kill_at && now < until - margin )) || kill_all
    pause=20
  elif [[ ! $waiter ]]; then
    pause=1000
  elif (( now >= until - margin - lead )); then
    report expiring
    begin_end "$lead"
    continue
  else
    pause=$(( until - margin - lead - now ))
    (( pause <= 1000 )) || pause=1000
  fi
  listen "$pause"
  if [[ $waiter && ! $kill_at ]] && ! kill -0 "$waiter" 2> /dev/null && ! wait "$waiter"; then
    # It was killed, so nothing tells any more how the command ends.
    report "ended 137"
    begin_end "$grace"
  fi
done
