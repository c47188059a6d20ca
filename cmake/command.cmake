# What the command needs besides its sources: the planner page inside it, and made by it the manual
# pages and the completion scripts. Included after the target seen_command is there.
set(SEEN_GENERATED ${CMAKE_CURRENT_BINARY_DIR}/generated)

add_custom_command(OUTPUT ${SEEN_GENERATED}/plan_page.inc
  COMMAND ${CMAKE_COMMAND} -E make_directory ${SEEN_GENERATED}
  COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_SOURCE_DIR}/cli/plan_page.html
    -DOUT=${SEEN_GENERATED}/plan_page.inc -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS cli/plan_page.html cmake/embed.cmake)
target_sources(seen_command PRIVATE ${SEEN_GENERATED}/plan_page.inc)
target_include_directories(seen_command PRIVATE ${SEEN_GENERATED})
foreach(feature COMPRESSION SIPHASH IDN)
  if(SEEN_WITH_${feature})
    target_compile_definitions(seen_command PRIVATE SEEN_WITH_${feature}=1)
  endif()
endforeach()
