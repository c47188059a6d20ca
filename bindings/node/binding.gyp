{
  "targets": [{
    "target_name": "seen",
    "sources": ["src/addon.c", "src/work.c"],
    "defines": ["NAPI_VERSION=8"],
    "cflags": ["-std=c17", "-fvisibility=hidden", "<!@(pkg-config --cflags seen)"],
    "libraries": ["<!@(pkg-config --libs seen)"]
  }]
}
