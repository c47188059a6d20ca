# Whether a test needs a part that this build leaves out. A test in C needs what it includes,
# others what their name says; in addition a line of the first comment: "Needs: redis,
# compression."
function(seen_is_left_out source result)
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} needs REGEX "Needs: [a-z, ]+\\.$|#include \"crawl/")
  set(${result} OFF PARENT_SCOPE)
  foreach(part redis tls crawl compression siphash idn)
    string(TOUPPER ${part} PART)
    if(NOT SEEN_WITH_${PART} AND "${name} ${needs}" MATCHES ${part})
      set(${result} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
