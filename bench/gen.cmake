bench_program(gen)
