# bench/redis: sets in Redis against the textbook's client, on a server of its own.
if(SEEN_WITH_REDIS)
  bench_program(redis PkgConfig::HIREDIS PkgConfig::XXHASH)
endif()
