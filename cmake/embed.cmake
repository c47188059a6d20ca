# Converts a file to the contents of a C array: cmake -DIN=page.html -DOUT=page.inc -P embed.cmake
file(READ "${IN}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "${bytes}\n")
