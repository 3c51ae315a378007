# Runs a batch of commands and frames what they print. Plain POSIX sh: dash and busybox ash suffice.
# Before this text: n (the nonce of this batch) and count. After it: one function c0, c1 … per
# command, each calling `job`, and the call of `main`, so that half a script runs nothing.
#
# The frames go to stdout, everything else to files in $d. Per command J:
#   J.c claimed by a worker   J.p its process group   J.x exit status   J.o J.e its output
#   J.t the limit passed      J.g why the guest cannot be reached      J.i inside the guest
#   J.f the folder is full    J.o.h J.e.h who writes J.o and J.e

# 0: can be run, 1: no such program, 2: there, but not for us to run.
have() {
  case $1 in
  */*)
    [ -f "$1" ] || return 1
    [ -x "$1" ] || return 2
    return 0
    ;;
  esac
  r=1
  IFS=:
  set -f
  for p in $PATH; do
    [ -f "$p/$1" ] || continue
    if [ -x "$p/$1" ]; then
      r=0
      break
    fi
    r=2
  done
  unset IFS
  set +f
  return "$r"
}

# Seconds since the host's start, or - where there is no such file.
clock() {
  u=-
  read -r u p 2>/dev/null </proc/uptime
}

# The process $1 and all below it: where there is no setsid to make a group.
kin() {
  echo "$1"
  for g in /proc/[0-9]*/stat; do
    read -r a 2>/dev/null <"$g" || continue
    a=${a##*) }
    a=${a#* }
    if [ "${a%% *}" = "$1" ]; then
      g=${g#/proc/}
      (kin "${g%/stat}")
    fi
  done
}

# Sends signal $2 to everything command $1 started.
end() {
  q=
  read -r q 2>/dev/null <"$d/$1.p"
  [ -n "$q" ] || return
  if [ -n "$session" ]; then
    kill "-$2" "-$q"
  else
    [ -e "$d/$1.k" ] || kin "$q" >"$d/$1.k"
    while read -r a; do kill "-$2" "$a"; done <"$d/$1.k"
  fi
}

# Whoever still writes outputs: a process that left its group may hold the pipe for ever.
drop_writers() {
  for g in "$@"; do
    q=
    read -r q 2>/dev/null <"$g" && kill -KILL "$q"
  done
}

# The process writes its number, then looks for the stop; the stop is set, then the numbers are read.
# So a command either sees the stop or is seen by it.
host='echo $$ >"$1/$2.p"
[ -e "$1/stop" ] && exit 1
shift 2
exec "$@"'

container='echo $$ >"$1/$2.p"
[ -e "$1/stop" ] && exit 1
d=$1 j=$2 v=$3
shift 3
if p=$(lxc-info -n "$v" -p -H 2>&1); then
  q=${p##*
}
  case $q in
  "" | *[!0-9]* | 0) : ;;
  *) exec nsenter -t "$q" -n -- sh -c "$inside" "$0" "$d/$j.i" "$@" ;;
  esac
fi
printf "%s\n" "${p:-container $v is not running}" >"$d/$j.g"
exit 1'

inside='echo >"$1"
shift
exec "$@"'
export inside

launch() {
  # $session and $nice are ours: empty, or a program and its fixed arguments.
  # shellcheck disable=SC2086
  case $w in
  host) $session $nice sh -c "$host" "$n" "$d" "$j" "$@" ;;
  container) $session $nice sh -c "$container" "$n" "$d" "$j" "$v" "$@" ;;
  esac
}

# Keeps the first bytes of its input. The end of `head` ends a command that writes on (SIGPIPE).
keep() {
  sh -c 'echo $$ >"$1.h"
exec head -c "$2" >"$1"' "$n" "$1" "$c" || : >"$d/$j.f"
}

timer() {
  trap '[ "$!" = "$b" ] || kill "$!"; exit' TERM
  # Not every sleep knows fractions; $f is the limit in whole seconds.
  sleep "$l" &
  wait "$!" || {
    sleep "$f" &
    wait "$!"
  }
  : >"$d/$j.t"
  end "$j" TERM
  sleep 1 &
  wait "$!"
  end "$j" KILL
  sleep 1 &
  wait "$!"
  drop_writers "$d/$j".[oe].h
}

# job J LIMIT WHOLE-SECONDS BYTES host ARGV… | container VMID ARGV…
job() {
  j=$1 l=$2 f=$3 c=$4 w=$5
  shift 5
  clock
  s=$u
  if [ "$w" = container ]; then
    v=$1
    shift
    have lxc-info || { absent "$?" 1 && return; }
    have nsenter || { absent "$?" 2 && return; }
  fi
  have "$1" || { absent "$?" 0 && return; }
  {
    {
      {
        launch "$@" 2>&4 4>&-
        echo "$?" >"$d/$j.x"
      } | keep "$d/$j.o" 4>&-
    } 4>&1 >/dev/null | keep "$d/$j.e"
  } </dev/null 3<&- 2>/dev/null &
  b=$!
  timer </dev/null >/dev/null 2>&1 3<&- &
  t=$!
  wait "$b"
  kill "$t"
  wait "$t"
  # What it left in the background.
  [ -n "$session" ] && end "$j" KILL
  : >"$d/$j.p"
  x=255
  read -r x <"$d/$j.x"
  h=ran
  if [ -e "$d/$j.t" ]; then
    h=late
  elif [ -e "$d/$j.g" ]; then
    h=guest
    head -c 500 "$d/$j.g" >"$d/$j.e"
  elif [ -e "$d/$j.f" ]; then
    h=full
  elif [ "$w" = container ] && [ ! -e "$d/$j.i" ]; then
    h=outside
  fi
  clock
  echo "$j $h $x $s $u"
}

absent() {
  h=missing
  [ "$1" = 1 ] || h=barred
  echo "$j $h $2 $s $s"
}

# Takes the next command nobody has claimed: a file is created once (noclobber).
work() {
  k=0
  while [ "$k" -lt "$count" ]; do
    [ -e "$d/stop" ] && return
    set -C
    if { true >"$d/$k.c"; } 2>/dev/null; then
      set +C
      "c$k"
    fi
    set +C
    k=$((k + 1))
  done
}

size() {
  z=0
  [ -e "$1" ] && z=$(($(wc -c <"$1")))
}

# The only one that writes frames, so that they do not mix; a reader that has gone must not end it.
emit() {
  trap '' PIPE
  echo "$n begin"
  while read -r j h x s e; do
    [ -e "$d/stop" ] && continue
    size "$d/$j.o"
    o=$z
    size "$d/$j.e"
    echo "$n $j $h $x $s $e $o $z"
    [ "$o" = 0 ] || cat "$d/$j.o"
    [ "$z" = 0 ] || cat "$d/$j.e"
    rm -f "$d/$j".[!c]*
  done
}

busy() {
  for g in "$d"/*.p; do [ -s "$g" ] && return; done
  return 1
}

all() {
  for y in "$d"/*.p; do
    y=${y##*/}
    end "${y%.p}" "$1"
  done
}

# Nothing more is ever sent on stdin: its end means that whoever asked has gone or wants no more.
watch() {
  while read -r a; do :; done
  : >"$d/stop"
  all TERM
  m=0
  while busy && [ "$m" -lt 10 ]; do
    sleep 0.1 || {
      sleep 1
      m=9
    }
    m=$((m + 1))
  done
  all KILL
  sleep 0.1 || sleep 1
  drop_writers "$d"/*.h
  rm -rf "$d"
}

# Somebody on the host ends the whole login: the watcher may be gone, so this shell does its work.
leave() {
  : >"$d/stop"
  all KILL
  drop_writers "$d"/*.h
  rm -rf "$d"
  exit 1
}

main() {
  # A login that is not root often lacks the folders where the network's tools are.
  PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin
  LC_ALL=C TERM=dumb PAGER=cat SYSTEMD_PAGER=cat NO_COLOR=1
  export PATH LC_ALL TERM PAGER SYSTEMD_PAGER NO_COLOR
  unset LANGUAGE COLORTERM CLICOLOR_FORCE
  umask 077
  for a in cat head mkdir rm sh sleep wc; do
    have "$a" || {
      echo "$n lacks $a"
      exit 1
    }
  done
  session='' nice='' d=''
  have setsid && session=setsid
  have nice && nice='nice -n 10'
  # The nonce is a secret of this batch and mkdir fails on what exists: as safe as mktemp -d.
  for a in /run /dev/shm /tmp; do
    mkdir "$a/hopwise-$n" 2>/dev/null && {
      d=$a/hopwise-$n
      break
    }
  done
  [ -n "$d" ] || {
    echo "$n lacks folder"
    exit 1
  }
  a=$(nproc 2>/dev/null || grep -c ^processor /proc/cpuinfo 2>/dev/null)
  case $a in 1 | 2 | 3) ;; '' | 0 | *[!0-9]*) a=1 ;; *) a=4 ;; esac
  trap leave HUP INT TERM
  exec 3<&0 2>/dev/null
  watch <&3 3<&- >/dev/null &
  y=$!
  {
    while [ "$a" -gt 0 ]; do
      work &
      a=$((a - 1))
    done
    wait
  } | emit
  kill "$y"
  wait "$y"
  rm -rf "$d"
  echo "$n end"
  exit 0
}
