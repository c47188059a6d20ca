# The tests behind docs/trust.md that are not unit tests: a reader in another language, models,
# statistics, faults. Each program takes "long" as an argument for the figures of that page.
find_program(PYTHON3 python3)
if(PYTHON3)
  add_test(NAME trust.reader COMMAND ${PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/reader/test_reader.py)
  set_tests_properties(trust.reader PROPERTIES TIMEOUT 120)
endif()
