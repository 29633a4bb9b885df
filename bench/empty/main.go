// Command empty does nothing: its time is that of starting any static Go program.
package main

func main() {}
