# The tests behind docs/trust.md that are not unit tests: a reader in another language, models,
# statistics, faults. Each program accepts "long" as an argument for the figures of that page.
find_program(PYTHON3 python3)
if(PYTHON3)
  add_test(NAME trust.reader COMMAND ${PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/reader/test_reader.py)
  set_tests_properties(trust.reader PROPERTIES TIMEOUT 1200)
endif()

# NAME SOURCE: a program of that page; `make NAME` and `NAME long` manually, or a test with
# arguments.
function(trust_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE seen_flags seen_static PkgConfig::XXHASH m)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/stats ${CMAKE_CURRENT_SOURCE_DIR}/unit)
endfunction()

# Statistics: minutes under a sanitizer, which cannot find anything there.
if(NOT SEEN_SANITIZE)
  trust_program(stats_rate stats/rate.c)
  trust_program(stats_billion stats/billion.c)
  add_test(NAME trust.rate COMMAND stats_rate)
  set_tests_properties(trust.rate PROPERTIES TIMEOUT 1200)
  add_custom_target(stats-long COMMAND stats_rate long COMMAND stats_billion USES_TERMINAL
    COMMENT "Rates down to 1e-6 by counting, 10^8 and 10^9 keys")
endif()

# Random sequences compared with a simple set.
trust_program(model_run model/model.c)
set(steps 30000)
if(SEEN_SANITIZE)
  set(steps 3000)
endif()
add_test(NAME trust.model COMMAND model_run ${steps})
set_tests_properties(trust.model PROPERTIES TIMEOUT 1200)
add_custom_target(model-long COMMAND model_run 3000000 USES_TERMINAL)

# The protocol of a shared crawl, searched exhaustively: seconds in one build, nothing for a
# sanitizer to find.
if(NOT SEEN_SANITIZE)
  trust_program(fleet_model model/fleet.c)
  trust_program(fleet_pace_model model/fleet_pace.c)
  add_test(NAME trust.fleet_model COMMAND fleet_model)
  add_test(NAME trust.fleet_model_pace COMMAND fleet_pace_model)
  set_tests_properties(trust.fleet_model trust.fleet_model_pace PROPERTIES TIMEOUT 1200)
  add_custom_target(fleet-model-long COMMAND fleet_model --all COMMAND fleet_pace_model --all USES_TERMINAL
    COMMENT "The protocol of a shared crawl, also in the large configurations")
endif()

# Sets in Redis: a fault at every command in turn, and with the shim at every allocation.
if(SEEN_WITH_REDIS)
  trust_program(fault_redis fault/redis.c)
  target_link_libraries(fault_redis PRIVATE PkgConfig::HIREDIS ${CMAKE_DL_LIBS})
  if(SEEN_SANITIZE)
    add_test(NAME trust.redis COMMAND fault_redis)
  else()
    add_dependencies(fault_redis fault_shim)
    add_test(NAME trust.redis
      COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=$<TARGET_FILE:fault_shim> $<TARGET_FILE:fault_redis>)
  endif()
  set_tests_properties(trust.redis PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77)
endif()

# Faults. The shim overrides functions of the C library, as sanitizers do.
if(NOT SEEN_SANITIZE)
  add_library(fault_shim MODULE fault/shim.c)
  target_compile_definitions(fault_shim PRIVATE _GNU_SOURCE)
  set_target_properties(fault_shim PROPERTIES C_VISIBILITY_PRESET default)
  target_link_libraries(fault_shim PRIVATE ${CMAKE_DL_LIBS})
  # A time of day that jumps, for the tests of shared crawls.
  add_library(fault_clock MODULE fault/clock.c)
  target_compile_definitions(fault_clock PRIVATE _GNU_SOURCE)
  set_target_properties(fault_clock PROPERTIES C_VISIBILITY_PRESET default)
  trust_program(fault_calls fault/faults.c)
  target_link_libraries(fault_calls PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(fault_calls fault_shim)
  add_test(NAME trust.faults
    COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=$<TARGET_FILE:fault_shim> $<TARGET_FILE:fault_calls>)
  trust_program(fault_stream fault/stream.c)
  target_link_libraries(fault_stream PRIVATE seencli ${CMAKE_DL_LIBS})
  add_dependencies(fault_stream fault_shim)
  if(SEEN_WITH_COMPRESSION)
    add_test(NAME trust.stream
      COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=$<TARGET_FILE:fault_shim> $<TARGET_FILE:fault_stream>)
    set_tests_properties(trust.stream PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77)
  endif()
  trust_program(fault_kill fault/kill.c)
  add_test(NAME trust.kill COMMAND fault_kill)
  trust_program(fault_power fault/powercut.c)
  add_test(NAME trust.power COMMAND fault_power)
  trust_program(fault_power_stream fault/powercut_stream.c)
  target_link_libraries(fault_power_stream PRIVATE seencli)
  add_test(NAME trust.power_stream COMMAND fault_power_stream)
  trust_program(fault_full fault/full.c)
  add_test(NAME trust.full COMMAND fault_full)
  set_tests_properties(trust.faults trust.kill trust.power trust.power_stream trust.full PROPERTIES
    TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_custom_target(faults-long COMMAND fault_kill 1000 COMMAND fault_power 1000
    COMMAND fault_power_stream 1000 USES_TERMINAL
    COMMENT "1,000 kills and 1,000 power cuts on each path")
endif()

# The command with switches for the rules of a shared crawl: tests that must fail without them.
if(TARGET seen_command AND SEEN_WITH_REDIS AND SEEN_WITH_CRAWL AND NOT SEEN_SANITIZE)
  add_executable(seen_unsafe ${CMAKE_SOURCE_DIR}/cli/main.c ${CMAKE_SOURCE_DIR}/crawl/fleet/switches.c)
  target_compile_definitions(seen_unsafe PRIVATE SEEN_FLEET_SWITCHES=1)
  target_link_libraries(seen_unsafe PRIVATE seen_flags seencli PkgConfig::HIREDIS)
endif()
