// Prints each line of its input the first time that it appears, across runs: example FILTER < lines
package main

import (
	"bufio"
	"fmt"
	"os"

	"seen"
)

func main() {
	set, err := seen.Open(os.Args[1], os.O_RDWR|os.O_CREATE, seen.Options{ErrorRate: 1e-6})
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		var isNew bool
		if isNew, err = set.Add(lines.Bytes()); isNew {
			fmt.Println(lines.Text())
		}
	}
	if err == nil {
		err = set.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
