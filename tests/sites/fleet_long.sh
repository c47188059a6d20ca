#!/bin/sh
# The long tests of shared crawls (make fleet-test): fleet_long.sh SEEN [SEEDS]. With 50 seeds:
#   1,150 kills and stalls of workers in 50 crawls
#   1,000 small crawls by levels, whose depths are the shortest paths, 1,000 with --max-pages, and 1,000 that end
#   although workers die
#   5 crawls with --max-pages, exact in spite of kills
#   100 failovers of a master with a replica, 20 of the masters of a cluster
#   partitions of workers from Redis, from the web, and of a cluster, as root
#   a cluster whose slots all move; 10 times kill -9 of a server that syncs every write
# Prints a line per run; status 1 if one of them failed.
seen=$1 seeds=${2:-50} here=$(dirname "$0") failed=0
few=$((seeds / 10)) polite='--hosts 40 --delay 40 --bound' apart='--pages 8000 --hosts 60 --delay 60 --bound'
run() {
    printf '%s: ' "$*"
    "$@"
    case $? in
    0) ;;
    77) echo "skipped" ;;
    *) failed=1 ;;
    esac
}
many() { # options of small crawls: eight at once
    printf '%s crawls %s: ' $((20 * seeds)) "$*"
    lines=$(seq $((20 * seeds)) | parallel --will-cite -j 8 "python3 $here/fleet.py $seen --seed {} --hosts 5 $* --timeout 120 || echo FAILED {}")
    if echo "$lines" | grep -q FAILED; then
        echo "$lines" | grep -B 9 FAILED
        failed=1
    else
        echo "passed"
    fi
}
for seed in $(seq "$seeds"); do
    run python3 "$here/fleet.py" "$seen" --seed "$seed" --kills 21 --stops 2 --pages 5000 --latency 8 --timeout 90 --most-pushed 50 --bound
done
many --pages 100 --depth 3 --workers 4 --lease 8000 --most-twice 0
many --pages 40 --max-pages 30 --hosts 10 --workers 2
many --pages 80 --kills 2 --lease 400 --pace 60 --latency 3
for seed in $(seq "$few"); do
    run python3 "$here/fleet.py" "$seen" --seed "$seed" --kills 10 --pages 3000 --max-pages 1000 --latency 8 --bound
    run python3 "$here/fleet_servers.py" "$seen" failover --times 20 --pages 14000 --workers 4 --seed "$seed" $polite
    run python3 "$here/fleet_servers.py" "$seen" cluster-failover --times 4 --pages 10000 --seed "$seed" $polite
    run python3 "$here/fleet_net.py" "$seen" redis --times 3 --seed "$seed" $apart
    run python3 "$here/fleet_net.py" "$seen" web --times 2 --seed "$seed" $apart
    run python3 "$here/fleet_net.py" "$seen" split --times 2 --workers 4 --timeout 120 --seed "$seed" $apart
done
run python3 "$here/fleet_servers.py" "$seen" reshard --pages 30000 --most-twice 0 $polite
run python3 "$here/fleet_servers.py" "$seen" restart --times 10 --pages 8000 $polite
exit $failed
