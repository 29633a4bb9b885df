// A server that ends before it answers, and says why on stderr.
console.error("Error: API_KEY is not set");
process.exit(1);
