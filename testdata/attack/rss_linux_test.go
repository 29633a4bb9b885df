package attack_test

// rssUnit is the unit of Rusage.Maxrss in bytes.
const rssUnit = 1 << 10
