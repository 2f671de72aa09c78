# Runs one private PostgreSQL for a parent process, and cleans up after it whatever becomes of that parent.
#
#   sh supervise.sh DIRECTORY BINARIES CONFIGURATION
#
# Standard input is a leash. Its first line is the superuser's password; its second says how to stop, "fast" or "immediate".
# A leash that ends without a second line means that the parent is dead: the server is stopped at once.
# DIRECTORY must not exist; it is made here and removed here, so that a parent killed at any moment leaves nothing behind.
# The file DIRECTORY/exited appears when the server has ended; the directory stays until the parent has read the log.
set -u
directory=$1
binaries=$2
configuration=$3

# A terminal sends these to everybody; only the leash ends this process.
trap '' HUP INT TERM
umask 077

IFS= read -r password || exit 0
mkdir -- "$directory" || exit 1
cd -- "$directory" || exit 1
exec 3<&0 </dev/null >>log 2>&1

ended() {
    : >exited
}

removed() {
    cd / && rm -rf -- "$directory"
    exit
}

refuse() {
    echo "$1"
    ended
    read -r _ <&3
    removed
}

mkdir socket
printf '%s\n' "$password" >password
password=

# PostgreSQL refuses to run as root.
set --
if [ "$(id -u)" = 0 ]; then
    id -u postgres >/dev/null 2>&1 || refuse "PostgreSQL does not run as root, and there is no user postgres to run it as"
    chown -R postgres: .
    if command -v setpriv >/dev/null; then
        set -- setpriv --reuid=postgres --regid=postgres --init-groups --
    else
        set -- runuser -u postgres --
    fi
fi

# Not synced: a power cut ends the cluster's life anyway.
"$@" "$binaries/initdb" --pgdata="$directory/data" --username=postgres --pwfile="$directory/password" --auth=scram-sha-256 \
    --encoding=UTF8 --locale=C.UTF-8 --no-sync --no-instructions || refuse "initdb failed"
rm -f password
printf '%s\n' "$configuration" >>data/postgresql.conf

"$@" "$binaries/postgres" -D "$directory/data" &
server=$!

# runuser stays in between and setpriv does not, so the server's own word about its process comes first.
postmaster() {
    sed -n 1p data/postmaster.pid 2>/dev/null | grep . || echo "$server"
}

leash() {
    IFS= read -r how <&3 || how=immediate
    case $how in
    fast) signal=INT tenths=600 ;;
    *) signal=QUIT tenths=100 ;;
    esac
    # Repeated, because a signal that arrives before the server installed its handlers is lost.
    while kill -s "$signal" "$(postmaster)" 2>/dev/null; do
        [ "$tenths" -gt 0 ] || signal=KILL
        tenths=$((tenths - 1))
        sleep 0.1
    done
}
leash &
leash=$!

wait "$server"
ended
wait "$leash"
removed
